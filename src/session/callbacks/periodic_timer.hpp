// A timer of the user's: calls back on an execution thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "os/clock.hpp"
#include "session/callbacks/callback_slot.hpp"

namespace sinew::session {

class ExecutionThread;

/// Thread-safe. Its times are those of os::now_ns().
class PeriodicTimer {
 public:
  static constexpr std::int64_t never = os::never;

  /// `period` in nanoseconds, at least 1. Runs from the first reset() on.
  PeriodicTimer(std::int64_t period, std::function<void()> callback, std::shared_ptr<ExecutionThread> thread);

  void reset() noexcept;
  void cancel() noexcept { due_.store(never, std::memory_order_relaxed); }
  std::int64_t due() const noexcept { return due_.load(std::memory_order_relaxed); }
  std::uint64_t missed() const noexcept { return missed_.load(std::memory_order_relaxed); }
  const std::shared_ptr<ExecutionThread>& thread() const noexcept { return thread_; }

  /// On the execution thread: calls back when it is due. False when it is not.
  bool run(std::int64_t now);
  /// The callback does not run any more when this returns, except the one that this is called from. Idempotent.
  void close() noexcept;

 private:
  const std::int64_t period_;
  const std::shared_ptr<ExecutionThread> thread_;
  std::atomic<std::int64_t> due_{never};  // relaxed: a time by itself; who sets an earlier one wakes the thread
  std::atomic<std::uint64_t> missed_{0};  // relaxed: only told
  CallbackSlot<std::function<void()>> callback_;
};

}  // namespace sinew::session
