// A task of the thread for sockets that says itself when it is to run again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "session/io/io_loop.hpp"

namespace sinew::session {

/// Thread-safe. While it is not set, nothing wakes the loop.
class LoopTimer {
 public:
  static constexpr std::int64_t never = IoLoop::never;
  /// Called on the loop's thread; returns when (os::now_ns) to be called again, or `never`. What it looks at may be gone while it runs: it keeps that weakly.
  using Task = std::function<std::int64_t()>;

  /// Not set yet. `loop` must have been started, and live until stop().
  static std::shared_ptr<LoopTimer> create(IoLoop& loop, Task task);
  ~LoopTimer() { stop(); }
  LoopTimer(const LoopTimer&) = delete;
  LoopTimer& operator=(const LoopTimer&) = delete;

  /// Runs the task at this time, or earlier if it was set so. Needs no memory: a timer that could not be set would stand still for ever.
  void set(std::int64_t when) noexcept;
  /// The task is not called any more, but may be running on the loop's thread. Idempotent.
  void stop() noexcept;

 private:
  LoopTimer(IoLoop& loop, Task task) : loop_(loop), task_(std::move(task)) {}
  void run();

  IoLoop& loop_;
  const Task task_;
  std::mutex mutex_;  // taken before the loop's
  IoLoop::TimerId timer_;
  bool stopped_ = false;
};

}  // namespace sinew::session
