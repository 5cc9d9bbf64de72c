// What an execution thread runs.
#pragma once

#include <atomic>

namespace sinew::session {

/// Called on the execution thread only, which keeps it alive meanwhile. Whoever has news wakes the thread: see Doorbell, ExecutionThread::wake().
class Runnable {
 public:
  /// Wait-free: looked at once more before the thread sleeps, and again and again while it spins.
  virtual bool has_news() const noexcept = 0;
  /// What run_some() will need is wanted soon.
  virtual void prefetch() const noexcept {}
  /// Runs a few callbacks at most, none any more once `end` is set; true when there may be more to do.
  virtual bool run_some(const std::atomic<bool>& end) = 0;
  /// Any thread: no callback of it runs any more when this returns, except the one that this is called from. Idempotent.
  virtual void close() = 0;

 protected:
  ~Runnable() = default;
};

}  // namespace sinew::session
