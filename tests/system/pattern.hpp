// Bytes of messages that tell when some of them are missing, lie elsewhere, or are another message's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace sinew::system {

/// What stands in such bytes, word by word: no two of a message are alike, and those of a message with another seed or of another size are others.
class Pattern {
 public:
  Pattern(std::uint64_t seed, std::size_t size) : next_(seed * 0xbf58476d1ce4e5b9 + size * 0x94d049bb133111eb) {}
  std::uint64_t next() { return next_ += 0x9e3779b97f4a7c15; }

 private:
  std::uint64_t next_;
};

inline void fill_with_pattern(std::vector<std::uint8_t>& bytes, std::uint64_t seed, std::size_t size) {
  bytes.resize(size);
  Pattern pattern(seed, size);
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t word = pattern.next();
    std::memcpy(bytes.data() + at, &word, size - at < 8 ? size - at : 8);
  }
}

inline bool has_pattern(const std::vector<std::uint8_t>& bytes, std::uint64_t seed) {
  const std::size_t size = bytes.size();
  Pattern pattern(seed, size);
  for (std::size_t at = 0; at < size; at += 8) {
    const std::uint64_t word = pattern.next();
    if (std::memcmp(bytes.data() + at, &word, size - at < 8 ? size - at : 8) != 0) return false;
  }
  return true;
}

}  // namespace sinew::system
