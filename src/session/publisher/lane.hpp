// What one reader is sent and nobody else: a ring of its own, and the frames in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "os/fd.hpp"
#include "session/mappings.hpp"
#include "shm/ring.hpp"

namespace sinew::session {

/// Not thread-safe: the publisher's mutex guards it. A frame's storage is given back by whoever owns the lane, but for an object that is shared.
///
/// Invariant: a frame leaves the lane only after it was retired in the ring and then found in none of the reader's claims, or when the reader is dead.
class Lane {
 public:
  struct Frame {
    std::uint64_t sequence = 0;
    void* root = nullptr;
    std::uint64_t size = 0;
    std::int64_t source_time = 0;
    void* pieces = nullptr;
    bool tells_pieces = false;             ///< its entry has the last word about them (M38)
    std::shared_ptr<const void> shared{};  ///< whom `root` belongs to, when others have it, too: it goes with the last of them

    std::uint64_t pieces_word() const noexcept { return pieces ? reinterpret_cast<std::uint64_t>(pieces) : shm::pieces_impossible; }
  };

  /// Throws Error(exhausted).
  Lane();

  /// For the reader; the lane needs it no more. Once.
  os::Fd take_ring() noexcept { return std::move(ring_fd_); }
  std::uint64_t head() const noexcept { return writer_->head(); }
  /// `decided`: as the reader's cursor says. Without room it is a whole ring behind.
  bool has_room(std::uint64_t decided) const noexcept { return head() - std::min(decided, head()) < shm::ring_capacity; }
  /// Returns its sequence. REQUIRES: has_room(). Throws std::bad_alloc.
  std::uint64_t publish(Frame frame, std::uint64_t newest_chunk);

  /// No reader will claim a frame up to `decided` any more. Before its claims are looked at.
  void retire_up_to(std::uint64_t decided) noexcept;
  /// Calls release(frame) for what is retired and not claimed, and forgets it. True when there was any. `claims` are sorted.
  template <class Release>
  bool sweep(const std::vector<std::uint64_t>& claims, Release release) {
    return std::erase_if(frames_, [&](const Frame& frame) {
             if (frame.sequence > retired_ || std::ranges::binary_search(claims, frame.sequence)) return false;
             release(frame);
             return true;
           }) > 0;
  }
  const std::deque<Frame>& frames() const noexcept { return frames_; }

  /// The reader needs pieces from now on: `write(frame)` makes those of frames that it may still take.
  template <class Write>
  void write_missing_pieces(Write write) {
    for (Frame& frame : frames_) {
      if (frame.sequence <= retired_ || !frame.root || std::exchange(frame.tells_pieces, true)) continue;
      frame.pieces = write(frame);
      writer_->add_pieces(frame.sequence, frame.pieces_word());
    }
  }

 private:
  os::Fd ring_fd_;
  SharedMapping ring_mapping_;
  std::optional<shm::RingWriter> writer_;
  std::deque<Frame> frames_;  // by sequence
  std::uint64_t retired_ = 0;
};

}  // namespace sinew::session
