// Values of Python as a stream.
#pragma once

#include "bindings/python/src/type.hpp"
#include "bindings/python/src/writer.hpp"

namespace sinew::python {

/// Writes a value, which may be whatever _native.pyi says of publishing. Raises EncodeError with the path to what does not fit; what was written until then must not be used.
void encode(const Type& type, nb::handle value, Writer& into);

/// Into an array of a loan, which is the field's, as NumPy assigns to all of it; by the names of fields where those are rows. Raises EncodeError for what encode() would not write as it is, and assigns nothing, or a part, then.
void assign(const Field& field, const nb::object& loaned, nb::handle value);

/// The whole stream.
nb::bytes encoded(const Type& type, nb::handle value);

}  // namespace sinew::python
