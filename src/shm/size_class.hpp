// The sizes that small blocks come in: steps of 16 bytes up to 128, then four steps per doubling up to 32 KiB. At most a fifth of a block is lost.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sinew::shm {

inline constexpr std::size_t largest_small_block = 32 * 1024;
inline constexpr std::uint32_t size_classes = 40;

/// The smallest class whose blocks hold `size` bytes. REQUIRES: 1 <= size <= largest_small_block.
constexpr std::uint32_t class_of(std::size_t size) noexcept {
  if (size <= 128) return static_cast<std::uint32_t>((size - 1) / 16);
  const auto bits = static_cast<std::uint32_t>(std::bit_width(size - 1));
  return 8 + (bits - 8) * 4 + static_cast<std::uint32_t>((size - 1) >> (bits - 3)) - 4;
}

constexpr std::uint32_t block_size(std::uint32_t size_class) noexcept {
  if (size_class < 8) return (size_class + 1) * 16;
  const std::uint32_t step = size_class - 8;
  return (5 + step % 4) << (5 + step / 4);
}

static_assert(class_of(1) == 0 && class_of(16) == 0 && class_of(17) == 1 && class_of(128) == 7 && class_of(129) == 8);
static_assert(block_size(7) == 128 && block_size(8) == 160 && block_size(11) == 256 && block_size(class_of(257)) == 320);
static_assert(class_of(largest_small_block) == size_classes - 1 && block_size(size_classes - 1) == largest_small_block);

}  // namespace sinew::shm
