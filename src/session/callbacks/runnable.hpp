// What an execution thread runs.
#pragma once

namespace sinew::session {

class Turn;

/// Called on the execution thread only, which keeps it alive meanwhile. Whoever has news wakes the thread: see Doorbell, ExecutionThread::wake().
class Runnable {
 public:
  /// Wait-free: looked at once more before the thread sleeps, and again and again while it spins.
  virtual bool has_news() const noexcept = 0;
  /// What run_some() will need is wanted soon.
  virtual void prefetch() const noexcept {}
  /// Runs a few callbacks at most, as long as its turn is; none any more when that has ended. True when there may be more to do; then has_news() is, too.
  virtual bool run_some(const Turn& turn) = 0;
  /// Any thread: no callback of it runs any more when this returns, except the one that this is called from. Idempotent.
  virtual void close() = 0;

 protected:
  ~Runnable() = default;
};

}  // namespace sinew::session
