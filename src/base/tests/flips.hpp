// What a bit that tips over does to bytes that are read by others: every one, and every two of them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

namespace sinew {

/// The bytes of an object, to be flipped in place.
template <class T>
std::span<std::byte> bytes_of(T& object) {
  return {reinterpret_cast<std::byte*>(&object), sizeof object};
}

/// Calls `check` with every bit of the parts flipped, alone and with every other, and leaves them as they were. `check` says what is wrong, or null; the first that is
/// wrong is a failure and ends it.
template <class Check>
void with_one_and_two_flipped_bits(std::initializer_list<std::span<std::byte>> parts, Check check) {
  std::vector<std::byte*> bytes;
  for (const std::span<std::byte> part : parts) {
    for (std::byte& each : part) bytes.push_back(&each);
  }
  const auto flip = [&](std::size_t bit) { *bytes[bit / 8] ^= std::byte{1} << (bit % 8); };
  const std::size_t bits = bytes.size() * 8;
  const char* wrong = nullptr;
  for (std::size_t one = 0; one < bits && !wrong; ++one) {
    flip(one);
    if ((wrong = check())) ADD_FAILURE() << wrong << ", with bit " << one << " flipped";
    for (std::size_t two = one + 1; two < bits && !wrong; ++two) {
      flip(two);
      if ((wrong = check())) ADD_FAILURE() << wrong << ", with the bits " << one << " and " << two << " flipped";
      flip(two);
    }
    flip(one);
  }
}

}  // namespace sinew
