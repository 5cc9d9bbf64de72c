// A vector or array in a stream that is no ndarray.
#pragma once

#include <cstdint>
#include <vector>

#include "bindings/python/src/stream.hpp"

namespace sinew::python {

/// Decoded element by element. Under the GIL.
struct Sequence {
  TypePtr type;  ///< the vector or array
  StreamPtr stream;
  std::uint64_t offset = 0;  ///< of the first element
  std::uint64_t count = 0;
  // Where the first elements begin that are of different sizes, as far as somebody has looked.
  mutable std::vector<std::uint64_t> begins;

  std::uint64_t begin_of(std::uint64_t index) const;
};

void define_sequence(nb::module_& module);

nb::object make_sequence(TypePtr type, StreamPtr stream, std::uint64_t offset, std::uint64_t count);

}  // namespace sinew::python
