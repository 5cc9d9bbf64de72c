// How long callbacks are run, before somebody else has his turn.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "os/clock.hpp"
#include "session/fork.hpp"

namespace sinew::session {

/// Asked between two callbacks, on the execution thread.
class Turn {
 public:
  /// No callback runs any more once `end` is set, or `is_over`, which may be empty and must not throw, says so.
  /// With a time, only what was there then (os::now_ns) is run, and once: of timers those that were due, of messages those that wait when their turn begins.
  Turn(const std::atomic<bool>& end, const std::function<bool()>& is_over, std::optional<std::int64_t> only_of = {}) noexcept
      : end_(end), is_over_(is_over), only_of_(only_of) {}

  bool has_ended() const { return end_.load(std::memory_order_relaxed) || forked() || (is_over_ && is_over_()); }
  const std::optional<std::int64_t>& only_of() const noexcept { return only_of_; }
  /// The next of those that take turns begins.
  void begin() noexcept { began_ = os::coarse_now_ns(); }
  /// He has had his share. By a clock that stands still between ticks, of 4 ms as a rule: it is asked after every message, and a small one is received in little more time than now_ns() takes.
  bool is_up() const noexcept { return os::coarse_now_ns() - began_ >= share; }

 private:
  // More than one tick, as one passes by chance also where callbacks are fast.
  static constexpr std::int64_t share = 5'000'000;

  const std::atomic<bool>& end_;  // relaxed: who is told to end a callback later ends a callback later; the loop looks for itself
  const std::function<bool()>& is_over_;
  const std::optional<std::int64_t> only_of_;
  std::int64_t began_ = 0;
};

}  // namespace sinew::session
