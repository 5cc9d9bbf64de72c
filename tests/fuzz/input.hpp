// What the fuzzers have in common: bytes read as small choices, and how they say what does not hold.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

namespace sinew::fuzz {

/// What must be true whatever the input is. libFuzzer keeps the input of a program that aborts.
inline void require(bool holds, const char* sentence) {
  if (holds) return;
  std::fprintf(stderr, "NOT TRUE: %s\n", sentence);
  std::abort();
}

/// An input as a row of choices. Where it has ended all of them are 0, so that any part of an input is one too.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : left_(std::as_bytes(std::span(data, size))) {}

  bool at_end() const { return left_.empty(); }
  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const auto first = std::to_integer<std::uint8_t>(left_.front());
    left_ = left_.subspan(1);
    return first;
  }
  /// Below `n`, which is 1 to 256.
  std::size_t pick(std::size_t n) { return byte() % n; }
  template <class Row>
  auto& pick_from(Row& row) {
    return row[pick(std::size(row))];
  }
  bool flip() { return byte() % 2 != 0; }
  /// A small number, one beside a power of two, or any.
  std::uint64_t number() {
    const std::uint8_t kind = byte();
    if (kind < 128) return kind;
    if (kind < 192) return (std::uint64_t{1} << (kind - 128)) - 1 + pick(3);
    std::uint64_t number = 0;
    for (int i = 0; i < 8; ++i) number = number << 8 | byte();
    return number;
  }
  /// At most so many.
  std::span<const std::byte> bytes(std::size_t most) {
    const auto front = left_.first(std::min(most, left_.size()));
    left_ = left_.subspan(front.size());
    return front;
  }

 private:
  std::span<const std::byte> left_;
};

}  // namespace sinew::fuzz
