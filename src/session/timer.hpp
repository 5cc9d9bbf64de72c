// A task of the thread for sockets that says itself when it is to run again.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>

#include "session/io_loop.hpp"

namespace sinew::session {

/// Thread-safe. While it is not set, nothing wakes the loop.
class Timer : public std::enable_shared_from_this<Timer> {
 public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  /// Called on the loop's thread; returns when (os::now_ns) to be called again, or `never`. What it looks at may be gone while it runs: it keeps that weakly.
  using Task = std::function<std::int64_t()>;

  /// `loop` must live until stop().
  Timer(IoLoop& loop, Task task) : loop_(loop), task_(std::move(task)) {}

  /// Runs the task at this time, or earlier if it was set so.
  void set(std::int64_t when);
  /// The task is not called any more, but may be running on the loop's thread. Idempotent.
  void stop() noexcept;

 private:
  void run(std::int64_t due);

  IoLoop& loop_;
  const Task task_;
  std::mutex mutex_;  // taken before the loop's
  std::optional<IoLoop::TimerId> armed_;
  bool stopped_ = false;
};

}  // namespace sinew::session
