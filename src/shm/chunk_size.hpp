// How large chunks are, and how that is said.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "os/memory.hpp"

namespace sinew::shm {

/// Sizes and addresses of chunks are multiples of it, so that one entry of a window's table belongs to one chunk.
inline constexpr std::size_t chunk_unit = 64 * 1024;
/// New chunks are at most so much larger than what they are for.
inline constexpr std::size_t largest_step = 64 * 1024 * 1024;

inline std::size_t in_units(std::size_t bytes) noexcept {
  return (bytes + chunk_unit - 1) / chunk_unit * chunk_unit;
}

/// A little more, so that messages that are larger now and then, or grow, fit where another was.
inline std::size_t with_slack(std::size_t bytes) noexcept {
  const std::size_t step = std::max(std::bit_floor(bytes) / 16, chunk_unit);
  return bytes > largest_step ? bytes : (bytes + step - 1) / step * step;
}

/// With the rest filled up to a huge page, where little of that is wasted.
inline std::size_t in_huge_pages(std::size_t bytes) {
  const std::size_t huge = os::huge_page_size(), missing = (huge - bytes % huge) % huge;
  return bytes > huge && missing <= std::min(huge / 2, bytes / 8) ? bytes + missing : bytes;
}

inline std::string in_mib(std::uint64_t bytes) {
  const std::uint64_t tenths = (bytes * 10 + (1 << 20) - 1) >> 20;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

}  // namespace sinew::shm
