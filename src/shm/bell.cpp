#include "shm/bell.hpp"

namespace sinew::shm {

void Sleeper::mark_awake() noexcept {
  // relaxed: only this side writes it, and a publisher that still sees the odd epoch rings at worst once too often; the scan after the next mark_asleep() misses nothing.
  const std::uint64_t epoch = epoch_->load(std::memory_order_relaxed);
  if (epoch % 2 == 1) epoch_->store(epoch + 1, std::memory_order_relaxed);
}

void Sleeper::mark_asleep() noexcept {
  const std::uint64_t epoch = epoch_->load(std::memory_order_relaxed);  // relaxed: only this side writes it
  // sync: BELL (with Ringer::must_ring), BLOCKED (with Ringer::must_ring)
  if (epoch % 2 == 0) epoch_->store(epoch + 1, std::memory_order_seq_cst);
}

bool Ringer::must_ring() noexcept {
  // sync: BELL (with Sleeper::mark_asleep), BLOCKED (with Sleeper::mark_asleep)
  const std::uint64_t epoch = epoch_->load(std::memory_order_seq_cst);
  if (epoch % 2 == 0 || epoch == rung_) return false;
  rung_ = epoch;
  return true;
}

}  // namespace sinew::shm
