// The stream of a message (spec/cdr.md), where it lies: in a frame, or in memory of this process.
#pragma once

#include <sinew.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bindings/python/src/errors.hpp"
#include "bindings/python/src/type.hpp"

namespace sinew::python {

class Stream;
using StreamPtr = std::shared_ptr<const Stream>;

/// Read-only. Offsets count from the begin of the body, behind the encapsulation. Its bytes come from strangers, and may change while they are read: whatever is read is read once, and every offset is checked.
/// What raises, raises DecodeError, or Closed of a frame in a forked child, and needs the GIL.
class Stream {
 public:
  /// Takes the frame, which is released with the stream, on any thread. Does not need the GIL.
  explicit Stream(sinew_frame* frame);
  explicit Stream(std::vector<std::uint8_t> bytes);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// To be called in a process that was forked from this one: frames that there are lie in memory that it does not have.
  static void forget_frames() { ++times_forked; }

  /// The encapsulation is one that can be read.
  void check() const;
  /// Bytes of the body.
  std::uint64_t size() const { return size_; }
  /// Its numbers have the other byte order than this machine.
  bool is_swapped() const { return is_swapped_; }
  /// All of it, encapsulation included.
  std::span<const sinew_extent> extents() const { return extents_; }

  /// `size` bytes at `offset`, wherever extents end.
  void read(std::uint64_t offset, void* into, std::uint64_t size) const;
  /// Where they lie, if in one extent; else null.
  const std::uint8_t* whole(std::uint64_t offset, std::uint64_t size) const;

  /// The number that is next at or behind `offset`, which is set to what follows it.
  template <typename Number>
  Number number(std::uint64_t& offset) const {
    Number value;
    offset = aligned(offset, sizeof value);
    read(offset, &value, sizeof value);
    offset += sizeof value;
    if (is_swapped_) swap(value);
    return value;
  }

  /// There are that many bytes from `offset` on, in this process.
  void require(std::uint64_t offset, std::uint64_t size) const {
    if (frame_ && forks_ != times_forked) raise_forked();
    if (offset > size_ || size > size_ - offset) raise_decode("the stream ends before the message does");
  }

 private:
  struct Part {
    std::uint64_t begin;
    const std::uint8_t* data;
    std::uint64_t size;
  };

  template <typename Number>
  static void swap(Number& value) {
    std::uint8_t bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (std::size_t i = 0; i < sizeof value / 2; ++i) std::swap(bytes[i], bytes[sizeof value - 1 - i]);
    std::memcpy(&value, bytes, sizeof value);
  }

  [[noreturn]] static void raise_forked();
  void index();
  const Part* part_at(std::uint64_t offset) const;

  // How many forks are between the process that has imported this, and this one.
  static inline unsigned times_forked = 0;

  sinew_frame* const frame_ = nullptr;
  const unsigned forks_ = times_forked;
  const std::vector<std::uint8_t> bytes_;
  std::vector<sinew_extent> extents_;
  std::vector<Part> parts_;  // of the body
  std::uint64_t size_ = 0;
  bool is_swapped_ = false;
  bool is_known_ = false;
};

/// C4.2: elements that take nothing in the stream take something here. So many a vector, array, or whole copy may have.
constexpr std::uint64_t most_empty_elements = 65536;

/// How many elements the vector at `offset` has, which is set to behind that number, or the array: no more than the stream can have.
std::uint64_t read_count(const Type& type, const Stream& stream, std::uint64_t& offset);
/// Whether the optional at `offset` has a value, and which alternative the variant has; `offset` is set to behind the number.
bool read_presence(const Stream& stream, std::uint64_t& offset);
std::size_t read_alternative(const Type& variant, const Stream& stream, std::uint64_t& offset);
/// A string of a stream, copied: what makes a `str` of it may read it more than once.
class Text {
 public:
  /// `offset` is set to what follows it.
  Text(const Stream& stream, std::uint64_t& offset);
  std::string_view bytes() const { return {many_.empty() ? few_.data() : many_.data(), size_}; }

 private:
  std::array<char, 128> few_;
  std::vector<char> many_;
  std::size_t size_ = 0;
};

/// What follows the value of this type at `offset`. Of big arrays of numbers nothing is read.
std::uint64_t skip(const Type& type, const Stream& stream, std::uint64_t offset);

}  // namespace sinew::python
