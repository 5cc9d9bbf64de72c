// The parts of a stream that a caller gives.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "bindings/c/sinew.h"
#include "bindings/c/status.hpp"

namespace sinew::c {

/// As the library takes them.
class Extents {
 public:
  /// Throws Error(invalid_argument) for a null pointer, and std::bad_alloc for many.
  Extents(const sinew_extent* extents, std::size_t count) : many_(count > usual ? count : 0), count_(count) {
    if (count > 0) given(extents, "extents");
    std::transform(extents, extents + count, data(), [](const sinew_extent& extent) {
      if (extent.size > 0) given(extent.data, "extents[].data");
      return std::as_bytes(std::span(extent.data, extent.size));
    });
  }
  Extents(const Extents&) = delete;
  Extents& operator=(const Extents&) = delete;

  std::span<const std::span<const std::byte>> all() { return {data(), count_}; }

 private:
  static constexpr std::size_t usual = 16;
  std::span<const std::byte>* data() { return count_ > usual ? many_.data() : few_.data(); }

  std::array<std::span<const std::byte>, usual> few_;
  std::vector<std::span<const std::byte>> many_;
  const std::size_t count_;
};

}  // namespace sinew::c
