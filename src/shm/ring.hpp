// The ring of published frames and the claims on them: the hazard-pointer protocol of spec/shared-memory.md.
//
// Invariant: a reader that holds a claim with a successful claim_frame() on sequence f uses the entry of f and no other, and the
// publisher does not reuse the storage of f before the claim is zero or the reader is dead. tests/ring_model_test.cpp shows how it breaks
// without the second look.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "shm/counters.hpp"
#include "shm/layout.hpp"

namespace sinew::shm {

/// The entry of a frame, copied out of the ring.
struct Frame {
  std::uint64_t sequence = 0;
  std::uint64_t root = 0;
  std::uint64_t size = 0;
  std::int64_t source_time = 0;
  std::uint64_t newest_chunk = 0;
  std::uint64_t pieces = pieces_unknown;
};

/// Makes a zeroed file's bytes into an empty ring.
void initialise(RingLayout& ring) noexcept;
/// Whether a peer's ring is one that this library understands (version, capacity).
bool is_understood(const RingLayout& ring) noexcept;
void initialise(AckPage& page) noexcept;
bool is_understood(const AckPage& page) noexcept;

/// When the newest frame was published, as the ring says, which may be a peer's; 0: there is none. Makes no claim. Any thread.
std::int64_t newest_source_time(const RingLayout& ring) noexcept;

/// The publisher's side. Not thread-safe: the publisher's own mutex guards it.
class RingWriter {
 public:
  explicit RingWriter(RingLayout& ring) noexcept : ring_(&ring) {}
  /// Publishes the next frame and returns its sequence. REQUIRES: retire() was called for the frame `ring_capacity` before it.
  /// `frame.sequence` is ignored. The head is stored seq_cst, so that a following load of a bell word is ordered after it.
  std::uint64_t publish(const Frame& frame) noexcept;
  /// From now on nobody can newly claim this frame (seq_cst). Whoever claimed before is seen by claims loaded after this call. Idempotent.
  void retire(std::uint64_t sequence) noexcept;
  /// Says where the pieces of a published frame are, or that there are none to be had. REQUIRES: it is not retired, and its pieces were unknown.
  void add_pieces(std::uint64_t sequence, std::uint64_t pieces) noexcept;
  /// Gives a sequence that was skipped its frame after all. REQUIRES: nobody may claim it before he is told so later; it is not older than the head by a whole ring.
  void fill(std::uint64_t sequence, const Frame& frame) noexcept;
  /// The next frame to be published is the one after this. REQUIRES: it is not older than the head, and nobody reads the ring.
  void skip_to(std::uint64_t sequence) noexcept;
  std::uint64_t head() const noexcept;

 private:
  RingLayout* ring_;
};

/// The subscriber's side of one connection: takes claims, gives them back. Page and ring must outlive it; the page must be fresh (no claims).
/// claim_frame() and advance_cursor() belong to one thread at a time; release() may be called from any thread. Nothing blocks.
/// Which slots are taken is kept in `counts`, for tools to see. Neither copied nor moved, since handles on any thread point at it.
class Claims {
 public:
  Claims(AckPage& page, const RingLayout& ring, PairCounts& counts) noexcept : page_(&page), ring_(&ring), counts_(&counts) {}
  Claims(const Claims&) = delete;
  Claims& operator=(const Claims&) = delete;

  enum class Outcome {
    claimed,    ///< frame and slot are filled; the frame stays until release(slot)
    lost,       ///< the publisher has withdrawn or overwritten it
    exhausted,  ///< all claim slots but the reserved one are in use: use claim_frame(..., use_reserved = true) for a short look and copy
  };
  struct Claim {
    Outcome outcome = Outcome::lost;
    std::uint32_t slot = 0;
    Frame frame;
  };
  /// Claims frame `sequence`, which must not be newer than head(). Does not move the cursor.
  /// The last slot is reserved for claims that are released before the caller returns to its loop.
  Claim claim_frame(std::uint64_t sequence, bool use_reserved = false) noexcept;
  /// Gives a successful claim back, once. The caller reads nothing of the frame afterwards.
  void release(std::uint32_t slot) noexcept;

  /// Stores the cursor (seq_cst: a blocked publisher's Dekker partner). It never goes back.
  void advance_cursor(std::uint64_t sequence) noexcept;
  /// When the frame was published, without claiming it; nothing when it is not there any more.
  std::optional<std::int64_t> source_time(std::uint64_t sequence) const noexcept;
  std::uint64_t cursor() const noexcept;
  std::uint64_t head() const noexcept;
  /// Calls visit(slot) for every claim that is not given back. Any thread; a snapshot.
  template <class Visit>
  void for_each_held(Visit visit) const {
    for (std::uint32_t word = 0; word < 2; ++word) {
      // relaxed: a snapshot
      for (std::uint64_t held = counts_->held[word].load(std::memory_order_relaxed); held != 0; held &= held - 1) {
        visit(word * bits_per_word + static_cast<std::uint32_t>(std::countr_zero(held)));
      }
    }
    if (reserved_taken_.load(std::memory_order_relaxed)) visit(reserved_slot);  // relaxed: likewise
  }
  /// For readers of another user, whose claims do not count: false when what was read of the frame since it was claimed may be another frame's.
  bool is_still_there(std::uint64_t sequence) const noexcept;
  /// False as long as frame `sequence` may be claimed and its pieces are unknown. seq_cst: a thread about to sleep looks once more.
  bool has_pieces(std::uint64_t sequence) const noexcept;
  /// Brings the lines that claiming the next frame needs into this core's cache, all at once and without waiting for them.
  void prefetch_next() const noexcept;

 private:
  static constexpr std::uint32_t reserved_slot = max_claims - 1, bits_per_word = 64;
  static_assert(reserved_slot > bits_per_word && reserved_slot < 2 * bits_per_word);
  /// All but the reserved one.
  static constexpr std::uint64_t all_slots[2] = {~std::uint64_t{0}, (std::uint64_t{1} << (reserved_slot - bits_per_word)) - 1};

  std::optional<std::uint32_t> take_slot(bool use_reserved) noexcept;

  AckPage* page_;
  const RingLayout* ring_;
  PairCounts* counts_;
  std::atomic<bool> reserved_taken_ = false;  // pair RESERVED_SLOT: as SLOT
};

/// What the publisher sees of one reader. The page belongs to a peer: whatever it says is bounded before it is used. Thread-safe.
/// To reclaim: retire(f) first, then cursor(), then gather_claims(). A frame that the cursor has passed and that no claim names is nobody's.
class AckView {
 public:
  explicit AckView(const AckPage& page) noexcept : page_(&page) {}
  std::uint64_t cursor() const noexcept;
  /// What the reader counts itself; for people, nothing is decided by it.
  std::uint64_t received() const noexcept { return page_->received.load(std::memory_order_relaxed); }
  std::uint64_t missed() const noexcept { return page_->missed.load(std::memory_order_relaxed); }
  /// Appends all non-zero claims (seq_cst loads). Bounded by max_claims whatever the page says.
  void gather_claims(std::vector<std::uint64_t>& into) const;
  /// REQUIRES: the reader has gone, so that its claims mean nothing more. All that it has read of frames comes before what the caller does next.
  void part() const noexcept;

 private:
  template <class Visit>
  void for_each_claim(Visit visit) const;

  const AckPage* page_;
};

}  // namespace sinew::shm
