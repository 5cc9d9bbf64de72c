// A structure in a stream, as an object of Python.
#pragma once

#include <cstdint>
#include <vector>

#include "bindings/python/src/stream.hpp"

namespace sinew::python {

/// Decoded field by field when looked at. Under the GIL.
struct Message {
  TypePtr type;
  StreamPtr stream;
  std::uint64_t offset = 0;
  // Where the first fields begin, as far as somebody has looked.
  mutable std::vector<std::uint64_t> begins;

  std::uint64_t begin_of(std::size_t field) const;
  /// Its stream is its own, from the begin on.
  bool is_whole = false;
};

void define_message(nb::module_& module);

nb::object make_message(TypePtr type, StreamPtr stream, std::uint64_t offset);
/// What was received: a Message, or, of a type that is no structure, its value. DecodeError where it is no stream.
nb::object received(TypePtr type, StreamPtr stream);

}  // namespace sinew::python
