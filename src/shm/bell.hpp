// Doorbells: when the other side must make the wake-up system call, and how a thread goes to sleep without losing one.
//
// Normative loop of a thread (spec/shared-memory.md, "Waking"): drain, mark_awake, scan all rings, mark_asleep, scan all heads again, wait.
// Invariant: a head stored (seq_cst) before a publisher looked at an even or an already rung epoch is seen by the scan after mark_asleep.
//
// The same two classes serve a publisher that waits for space: it is the Sleeper of RingHeader::blocked, its readers' cursors are the heads.
#pragma once

#include <cstdint>

#include "shm/layout.hpp"

namespace sinew::shm {

/// The sleeping thread's side. Only that thread calls it. The word must outlive it.
class Sleeper {
 public:
  explicit Sleeper(BellWord& word) noexcept : epoch_(&word.epoch) {}
  explicit Sleeper(Word64& epoch) noexcept : epoch_(&epoch) {}
  void mark_awake() noexcept;   ///< epoch becomes even
  void mark_asleep() noexcept;  ///< epoch becomes odd (seq_cst); scan all heads once more before waiting

 private:
  Word64* epoch_;
};

/// The side that wakes one sleeping thread: rings once per epoch (S2).
class Ringer {
 public:
  explicit Ringer(const BellWord& word) noexcept : epoch_(&word.epoch) {}
  explicit Ringer(const Word64& epoch) noexcept : epoch_(&epoch) {}
  /// True when the caller must ring the eventfd now. Call after the head (or cursor) was stored seq_cst. Not thread-safe: the publisher's mutex guards it.
  bool must_ring() noexcept;

 private:
  const Word64* epoch_;
  std::uint64_t rung_ = 0;  // an even number: no epoch that anybody sleeps in
};

}  // namespace sinew::shm
