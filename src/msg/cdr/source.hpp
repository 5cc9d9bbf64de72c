// Reading a stream that comes in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "msg/cdr/bytes.hpp"
#include "msg/cdr/cdr.hpp"

namespace sinew::msg::cdr {

/// The bytes of the pieces, one after the other, each read at most once.
class Source {
 public:
  explicit Source(std::span<const Piece> pieces) : pieces_(pieces) {
    for (const Piece& piece : pieces) later_ += piece.size();
    next_piece();
  }

  std::uint64_t left() const { return here() + later_; }
  std::uint64_t position() const { return before_ + static_cast<std::uint64_t>(at_ - begin_); }

  bool take(void* to, std::uint64_t size) {
    if (size > here()) return take_of_several(static_cast<std::byte*>(to), size);
    copy(static_cast<std::byte*>(to), at_, size);
    at_ += size;
    return true;
  }

  /// Takes the next `size` bytes where they lie, when that is in one piece and at a multiple of `alignment`; else takes nothing and returns null.
  const std::byte* take_in_place(std::uint64_t size, std::size_t alignment) {
    while (here() == 0 && !pieces_.empty()) next_piece();
    if (size > here() || reinterpret_cast<std::uintptr_t>(at_) % alignment != 0) return nullptr;
    return std::exchange(at_, at_ + size);
  }

  bool skip(std::uint64_t size) {
    if (size > left()) return false;
    while (size > here()) {
      size -= here();
      at_ = end_;
      next_piece();
    }
    at_ += size;
    return true;
  }

  bool align(std::uint64_t alignment) {
    const std::uint64_t left = padding(position(), alignment);
    std::byte ignored[8];
    if (left > here()) return take_of_several(ignored, left);
    at_ += left;
    return true;
  }

  /// What follows begins the body: alignment counts from here.
  void begin_body() { before_ = std::uint64_t{0} - static_cast<std::uint64_t>(at_ - begin_); }

 private:
  std::uint64_t here() const { return static_cast<std::uint64_t>(end_ - at_); }

  [[gnu::noinline]] bool take_of_several(std::byte* into, std::uint64_t size) {
    if (size > left()) return false;
    while (size > here()) {
      const std::uint64_t some = here();
      if (some > 0) std::memcpy(into, at_, some);
      into += some;
      size -= some;
      at_ = end_;
      next_piece();
    }
    std::memcpy(into, at_, size);
    at_ += size;
    return true;
  }

  // REQUIRES: nothing is left of this one.
  void next_piece() {
    before_ += static_cast<std::uint64_t>(at_ - begin_);
    const Piece next = pieces_.empty() ? Piece{} : pieces_.front();
    if (!pieces_.empty()) pieces_ = pieces_.subspan(1);
    begin_ = at_ = next.data();
    end_ = begin_ + next.size();
    later_ -= next.size();
  }

  std::span<const Piece> pieces_;                                      // those after this one
  const std::byte *begin_ = nullptr, *at_ = nullptr, *end_ = nullptr;  // of this one; before `at_` it is taken
  std::uint64_t later_ = 0;                                            // bytes in those after it
  std::uint64_t before_ = 0;                                           // position of its begin
};

}  // namespace sinew::msg::cdr
