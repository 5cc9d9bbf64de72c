// Values of Python as a stream.
#pragma once

#include "bindings/python/src/type.hpp"
#include "bindings/python/src/writer.hpp"

namespace sinew::python {

/// Writes a value, which may be whatever _native.pyi says of publishing. Raises EncodeError with the path to what does not fit; what was written until then must not be used.
void encode(const Type& type, nb::handle value, Writer& into);

/// The whole stream.
nb::bytes encoded(const Type& type, nb::handle value);

}  // namespace sinew::python
