// The frames of one ring that readers may still take, or hold: those of a publisher for all, and those of a lane, for one reader.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "session/publisher/ring_memory.hpp"
#include "shm/ring.hpp"

namespace sinew::session {

struct KeptFrame {
  std::uint64_t sequence = 0;
  void* root = nullptr;
  std::uint64_t size = 0;
  std::int64_t source_time = 0;
  void* pieces = nullptr;
  void* beside = nullptr;     ///< as NewFrame::beside
  std::uint32_t pins = 0;     ///< so many in this process hold it
  bool tells_pieces = false;  ///< its entry has the last word about them (M38)
  /// Of a history, without a root: the message itself, which went by pointer only, or whose frame has no object.
  std::shared_ptr<const void> local{};
  /// Of a lane: whom `root` belongs to, when others have it, too: it goes with the last of them.
  std::shared_ptr<const void> shared{};

  /// Else it went by pointer only.
  bool is_in_window() const noexcept { return root || pieces; }
  /// It was handed over, and nobody can want it any more.
  bool is_nothing() const noexcept { return !is_in_window() && !local; }
  std::uint64_t pieces_word() const noexcept { return pieces ? reinterpret_cast<std::uint64_t>(pieces) : shm::pieces_impossible; }
};

/// Of frames that have nothing beside the window, as those of lanes: only messages to all have a history.
inline constexpr auto nothing_beside = [](KeptFrame&) {};

/// Not thread-safe: the publisher's mutex guards it. Storage is given back by whoever has this, but for an object that is shared.
///
/// Invariant: a frame leaves only after it was retired in the ring and then found in no reader's claims, with nobody of this process who holds it; or when its readers are dead.
class KeptFrames {
 public:
  /// `name`: of the ring's memory. There is room for so many, 0 or a power of two, before more is allocated. Throws Error(exhausted).
  KeptFrames(const char* name, std::size_t room);

  RingMemory& ring() noexcept { return ring_; }
  const RingMemory& ring() const noexcept { return ring_; }

  std::uint64_t head() const noexcept { return writer_.head(); }
  /// Of those that are not retired, but for what was withdrawn behind it.
  std::uint64_t oldest() const noexcept { return oldest_; }
  /// `decided`: as a reader's cursor says. Without room it is a whole ring behind.
  bool has_room(std::uint64_t decided) const noexcept { return head() - std::min(decided, head()) < shm::ring_capacity; }

  /// Null when it is retired, or none yet; nothing when it was withdrawn.
  KeptFrame* waiting(std::uint64_t sequence) noexcept { return sequence >= oldest_ && sequence <= head() ? &slot(sequence) : nullptr; }
  /// Null when it is not kept, or not in the window; whatever a peer's page says.
  const KeptFrame* find(std::uint64_t sequence) const noexcept;
  KeptFrame* find(std::uint64_t sequence) noexcept { return const_cast<KeptFrame*>(std::as_const(*this).find(sequence)); }
  bool empty() const noexcept { return oldest_ > head() && retired_.empty(); }
  /// Calls visit(frame) for each that is in the window, retired or not.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const KeptFrame& frame : retired_) visit(frame);
    for (std::uint64_t sequence = oldest_; sequence <= head(); ++sequence) {
      if (slot(sequence).is_in_window()) visit(slot(sequence));
    }
  }

  /// Makes room for so many that are kept, a power of two up to the ring's capacity. More is made when it is needed. Throws std::bad_alloc.
  void reserve(std::size_t room) {
    if (room > frames_.size()) move_to(room);
  }
  /// Makes sure that publish() or skip() has what it needs: retires what is a whole ring older. Throws std::bad_alloc.
  template <class Leaves>
  void prepare(Leaves leaves) {
    // The newest first: who publishes into the window need not fetch the oldest one for this.
    while (oldest_ <= head() && slot(head()).is_nothing() && slot(oldest_).is_nothing()) ++oldest_;
    if (head() >= shm::ring_capacity) retire_up_to(head() + 1 - shm::ring_capacity, leaves);
    if (head() - oldest_ == mask_) move_to(std::max(at_first, 2 * frames_.size()));  // also when there are none, and room for none
  }
  /// The frame is the next one, after prepare(), whatever sequence it names.
  void publish(const KeptFrame& frame, std::uint64_t newest_chunk) noexcept;
  /// The same of one that is not in the window, so that nobody finds it in the ring. REQUIRES: nobody reads the ring.
  void skip(const KeptFrame& frame) noexcept;
  /// Gives one that was skipped its place in the window, as RingWriter::fill().
  void fill(const KeptFrame& frame, std::uint64_t newest_chunk) noexcept;

  /// No reader will newly claim a frame up to this one. Before claims are looked at. Calls leaves(frame) before, for what it has beside the window. Throws std::bad_alloc, and may be called again.
  template <class Leaves>
  void retire_up_to(std::uint64_t sequence, Leaves leaves) {
    for (sequence = std::min(sequence, head()); oldest_ <= sequence; ++oldest_) {
      if (take_out(oldest_, leaves)) writer_.retire(oldest_);
    }
  }
  /// The same of one that waits, and not of those before it.
  template <class Leaves>
  void withdraw(std::uint64_t sequence, Leaves leaves) {
    if (take_out(sequence, leaves)) writer_.retire(sequence);
    slot(sequence) = {};
  }
  /// As if this process had died: nothing is retired in the ring, where readers may go on taking. Throws std::bad_alloc.
  template <class Leaves>
  void abandon(Leaves leaves) {
    for (; oldest_ <= head(); ++oldest_) take_out(oldest_, leaves);
  }
  /// After abandon(), whatever became of it: only those that somebody in this process holds are left.
  void forget_all_but_pinned() noexcept {
    oldest_ = head() + 1;
    std::erase_if(retired_, [](const KeptFrame& frame) { return frame.pins == 0; });
  }
  /// One that find() has found among the retired ones.
  void forget(const KeptFrame& frame) noexcept { retired_.erase(retired_.begin() + (&frame - retired_.data())); }

  bool has_retired() const noexcept { return !retired_.empty(); }
  /// Calls release(frame) for those that are retired, and not in `claims`, which are sorted, and forgets them. How many bytes are still held.
  template <class Release>
  std::uint64_t sweep(const std::vector<std::uint64_t>& claims, Release release) {
    std::uint64_t held = 0;
    std::erase_if(retired_, [&](const KeptFrame& frame) {
      if (frame.pins > 0 || std::ranges::binary_search(claims, frame.sequence)) {
        held += frame.size;
        return false;
      }
      release(frame);
      return true;
    });
    return held;
  }

  /// Some reader needs pieces from now on, and may take frames from this one on: `write(frame)` makes those of each.
  template <class Write>
  void write_missing_pieces(std::uint64_t from, Write write) {
    for (std::uint64_t sequence = std::max(oldest_, from); sequence <= head(); ++sequence) {
      KeptFrame& frame = slot(sequence);
      if (!frame.root || std::exchange(frame.tells_pieces, true)) continue;
      frame.pieces = write(frame);
      writer_.add_pieces(sequence, frame.pieces_word());
    }
  }

 private:
  KeptFrame& place(const KeptFrame& next) noexcept;
  KeptFrame& slot(std::uint64_t sequence) noexcept { return frames_[sequence & mask_]; }
  const KeptFrame& slot(std::uint64_t sequence) const noexcept { return frames_[sequence & mask_]; }
  void move_to(std::size_t room);
  static shm::Frame entry_of(const KeptFrame& frame, std::uint64_t newest_chunk) noexcept;

  // True when it was in the window, and stands among the retired ones now.
  template <class Leaves>
  bool take_out(std::uint64_t sequence, Leaves leaves) {
    KeptFrame& frame = slot(sequence);
    leaves(frame);
    if (!frame.is_in_window()) return false;
    auto behind = retired_.end();  // but for those that were withdrawn
    while (behind != retired_.begin() && std::prev(behind)->sequence > sequence) --behind;
    retired_.insert(behind, std::move(frame));
    return true;
  }

  static constexpr std::size_t at_first = 8;

  RingMemory ring_;
  shm::RingWriter writer_;
  std::uint64_t oldest_ = 1;
  std::vector<KeptFrame> frames_;   // those from `oldest_` to the head, by sequence modulo its size, a power of two up to ring_capacity
  std::uint64_t mask_;              // its size less one
  std::vector<KeptFrame> retired_;  // by sequence: claimed, or pinned, when we looked last
};

}  // namespace sinew::session
