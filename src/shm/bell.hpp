// Doorbells: when a publisher must make the wake-up system call, and how a thread goes to sleep without losing one.
//
// Normative loop of a thread (DESIGN section 4): drain, mark_awake, scan all rings, mark_asleep, scan all heads again, wait.
// Invariant: a head stored (seq_cst) before a publisher looked at an even epoch is seen by the scan after mark_asleep.
#pragma once

#include <cstdint>

#include "shm/layout.hpp"

namespace sinew::shm {

/// The sleeping thread's side. Only that thread calls it.
class Sleeper {
 public:
  explicit Sleeper(BellWord& word) noexcept : word_(&word) {}
  void mark_awake() noexcept;   ///< epoch becomes even
  void mark_asleep() noexcept;  ///< epoch becomes odd (seq_cst); scan all heads once more before waiting

 private:
  BellWord* word_;
};

/// A publisher's side towards one thread: rings once per epoch (S2).
class Ringer {
 public:
  explicit Ringer(const BellWord& word) noexcept : word_(&word) {}
  /// True when the caller must ring the eventfd now. Call after the head was stored seq_cst. Not thread-safe: the publisher's mutex guards it.
  bool must_ring() noexcept;

 private:
  const BellWord* word_;
  std::uint64_t rung_ = 0;
};

}  // namespace sinew::shm
