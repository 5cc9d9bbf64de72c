// What a user is called back by, until it is closed.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "session/fork.hpp"

namespace sinew::session {

/// Holds a `Callback`, or several, of which one thread runs at a time. Invariant: when close() has returned it does not run and never will again, but for the run that close() was called from; and what it keeps
/// has gone then, without a lock held, or goes with the end of that run.
template <class Callback>
class CallbackSlot {
 public:
  explicit CallbackSlot(Callback callback = {}) : callback_(std::move(callback)) {}

  /// REQUIRES: no thread may run it yet.
  Callback& before_use() noexcept { return callback_; }
  bool is_closed() const noexcept { return closed_.load(std::memory_order_relaxed); }

  /// Does `call(callback)`, unless it is closed. True when it may be called again.
  template <class Call>
  bool run(Call call) {
    Callback over;  // goes behind the lock
    const std::lock_guard lock(mutex_);
    if (is_closed() || forked()) return false;
    struct Run {
      CallbackSlot& slot;
      Callback& over;
      explicit Run(CallbackSlot& of, Callback& left) : slot(of), over(left) {
        slot.running_.store(std::this_thread::get_id(), std::memory_order_relaxed);
      }
      ~Run() {
        slot.running_.store({}, std::memory_order_relaxed);
        if (slot.ends_itself_ && !forked()) over.swap(slot.callback_);  // else close() waits for this, and does it
      }
      Run(const Run&) = delete;
      Run& operator=(const Run&) = delete;
    };
    {
      const Run running(*this, over);
      call(callback_);
    }
    return !is_closed() && !forked();
  }

  /// Idempotent. REQUIRES: the caller holds no lock that the callback takes.
  void close() noexcept {
    closed_.store(true, std::memory_order_relaxed);
    if (running_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
      ends_itself_ = true;
      return;
    }
    Callback over;
    const std::lock_guard lock(mutex_);
    over.swap(callback_);
  }

 private:
  std::atomic<bool> closed_{false};         // relaxed: close() takes the mutex behind it, and whoever runs the callback holds it
  std::atomic<std::thread::id> running_{};  // the thread that it runs on; relaxed: a thread finds its own id, or not
  std::mutex mutex_;                        // held while it runs
  bool ends_itself_ = false;                // close() was called by what runs, so under the mutex
  Callback callback_;
};

}  // namespace sinew::session
