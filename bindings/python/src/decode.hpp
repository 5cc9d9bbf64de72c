// Values of a message as Python has them.
#pragma once

#include <cstdint>

#include "bindings/python/src/stream.hpp"

namespace sinew::python {

/// The value of this type at `offset`: see Message in _native.pyi. Raises DecodeError, at once or when what it gives is looked at.
nb::object value_at(const TypePtr& type, const StreamPtr& stream, std::uint64_t offset);

/// A scalar or string, and `offset` is set to what follows it.
nb::object read_scalar(const Type& type, const Stream& stream, std::uint64_t& offset);
nb::object read_string(const Stream& stream, std::uint64_t& offset);

/// Whether a vector or array is an ndarray in Python.
bool is_array(const Type& type);
/// The ndarray of a vector or array, and `offset` is set to what follows it. REQUIRES: is_array(type).
nb::object read_array(const Type& type, const StreamPtr& stream, std::uint64_t& offset);

/// A type that has one value, which stands for no value.
bool is_monostate(const Type& type);

}  // namespace sinew::python
