// Numbers on their way into a stream and out of it: where they stand, and copying them, also into the other byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sinew::msg::cdr {

/// So many bytes from `position` to the next multiple of `alignment`, a power of two.
constexpr std::uint64_t padding(std::uint64_t position, std::uint64_t alignment) {
  return (0 - position) & (alignment - 1);
}

constexpr bool is_aligned(std::uint64_t position, std::uint64_t alignment) {
  return padding(position, alignment) == 0;
}

// memcpy of a size that the compiler does not know is a call; most steps are a number or a few.
inline void copy(std::byte* to, const std::byte* from, std::uint64_t size) {
  switch (size) {
    case 0:  // of nowhere, perhaps
      return;
    case 1:
      *to = *from;
      return;
    case 2:
      std::memcpy(to, from, 2);
      return;
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    default:
      std::memcpy(to, from, size);
  }
}

template <class Number>
inline void copy_swapped_as(std::byte* to, const std::byte* from, std::uint64_t size) {
  for (std::uint64_t at = 0; at < size; at += sizeof(Number)) {
    Number number;
    std::memcpy(&number, from + at, sizeof number);
    if constexpr (sizeof(Number) == 2) number = __builtin_bswap16(number);
    if constexpr (sizeof(Number) == 4) number = __builtin_bswap32(number);
    if constexpr (sizeof(Number) == 8) number = __builtin_bswap64(number);
    std::memcpy(to + at, &number, sizeof number);
  }
}

/// `size` is a multiple of `width`, which is 1, 2, 4 or 8. `to` may be `from`.
inline void copy_swapped(std::byte* to, const std::byte* from, std::uint64_t size, std::uint8_t width) {
  switch (width) {
    case 2:
      return copy_swapped_as<std::uint16_t>(to, from, size);
    case 4:
      return copy_swapped_as<std::uint32_t>(to, from, size);
    case 8:
      return copy_swapped_as<std::uint64_t>(to, from, size);
    default:
      if (to != from) std::memcpy(to, from, size);
  }
}

}  // namespace sinew::msg::cdr
