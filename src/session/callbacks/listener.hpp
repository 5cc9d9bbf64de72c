// Tells a user's event handlers what has changed.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/call_back.hpp"
#include "session/callbacks/callback_slot.hpp"
#include "session/callbacks/execution_thread.hpp"
#include "session/callbacks/runnable.hpp"
#include "sinew/events.hpp"

namespace sinew::session {

/// Of one publisher or subscriber. Bounded: that something has changed is one bit; what, is found by comparing how things stand with what was told last.
class Listener final : public Runnable {
 public:
  explicit Listener(std::shared_ptr<ExecutionThread> thread) : thread_(std::move(thread)) {}

  const std::shared_ptr<ExecutionThread>& thread() const noexcept { return thread_; }

  /// `read` says how things stand, and is called on the execution thread; before close() returns, but for the call that close() is called from. REQUIRES: the thread does not have this yet.
  template <class Event, class Read>
  void add(const std::function<void(const Event&)>& handler, Read read) {
    if (!handler) return;
    tellers_.before_use().push_back([handler, read = std::move(read), told = Event{}]() mutable {
      Event now;
      try {
        now = read();
        if (!note_change(now, told)) return;
        told = now;
      } catch (const std::bad_alloc&) {
        return;  // it is told with the next change
      }
      base::call_back(handler, now);  // may be the end of what `read` looks at
    });
  }

  /// Something may have changed. Any thread; one system call, unless that was said before and not looked at yet.
  void raise() noexcept;
  /// No handler runs any more when this returns, except the one that this is called from. Idempotent. REQUIRES: the caller holds no lock that a handler or a `read` takes.
  void close() noexcept override { tellers_.close(); }

  bool has_news() const noexcept override { return raised_.load(std::memory_order_acquire); }  // sync: RAISED (with raise)
  bool run_some(const Turn& turn) override;

 private:
  // Fill the changes; false when there are none. This one is for what only grows.
  template <class Event>
  static bool note_change(Event& now, const Event& told) noexcept {
    now.total_count_change = now.total_count - told.total_count;
    return now.total_count_change != 0;
  }
  static bool note_change(MatchedEvent& now, const MatchedEvent& told) noexcept;
  static bool note_change(LivelinessChangedEvent& now, const LivelinessChangedEvent& told) noexcept;
  static bool note_change(MessageLostEvent& now, const MessageLostEvent& told) noexcept;
  static bool note_change(DetachedEvent& now, const DetachedEvent& told) noexcept { return now.topic != told.topic; }

  const std::shared_ptr<ExecutionThread> thread_;
  // pair RAISED: who finds it raised finds how things stand; whoever raises it rings, however the thread sleeps.
  std::atomic<bool> raised_{false};
  using Tellers = std::vector<std::function<void()>>;
  CallbackSlot<Tellers> tellers_;
};

/// Whether there is any handler.
bool any(const PublisherEvents& events) noexcept;
bool any(const SubscriberEvents& events) noexcept;

}  // namespace sinew::session
