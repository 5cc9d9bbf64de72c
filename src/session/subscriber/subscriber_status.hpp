// How a subscription stands with its publishers, beside their messages, and who is told when that changes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "session/callbacks/listener.hpp"
#include "session/io/loop_timer.hpp"
#include "session/qos/deadline.hpp"
#include "session/qos/liveliness.hpp"
#include "sinew/events.hpp"
#include "sinew/message_info.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

class Subscription;

/// Part of a Subscription. Thread-safe after start().
class SubscriberStatus {
 public:
  /// `of` is what this is a part of.
  SubscriberStatus(Subscription& of, const wire::Qos& asked);

  /// Once, before anybody can connect. Timers run only while a deadline is asked for, or a publisher has a lease to keep. `listener` may be null.
  void start(IoLoop& loop, std::shared_ptr<Listener> listener, const SubscriberEvents& events);
  /// No handler is called any more, but for the one that this is called from. REQUIRES: the caller holds no lock. Idempotent.
  void stop() noexcept;

  /// A publisher of this process is about to end a gap between its messages that is longer than it had promised. Any thread. REQUIRES: the caller holds no lock.
  void gap_ends() noexcept;
  /// A publisher has come or gone. Any thread. REQUIRES: the caller does not hold the subscription's mutex.
  void publishers_changed() noexcept;
  /// Its topic is gone, and it was but a ghost. Any thread.
  void detach() noexcept {
    detached_.store(true, std::memory_order_relaxed);
    raise();
  }
  bool is_detached() const noexcept { return detached_.load(std::memory_order_relaxed); }
  /// Something else that handlers are told of has changed. Any thread.
  void raise() noexcept {
    if (listener_) listener_->raise();
  }
  const std::shared_ptr<Listener>& listener() const noexcept { return listener_; }
  /// Who is told that messages were lost; null: nobody.
  const std::shared_ptr<Listener>& loss_listener() const noexcept { return loss_listener_; }

  /// Puts what it counts into these.
  void tell(SubscriberStatistics& statistics) const;

 private:
  std::int64_t look();
  std::uint64_t deadlines_missed() const;
  MatchedEvent matched() const;
  LivelinessChangedEvent liveliness() const;
  MessageLostEvent losses() const;

  Subscription& of_;
  std::shared_ptr<Listener> listener_, loss_listener_;
  std::shared_ptr<LoopTimer> timer_;
  std::atomic<bool> detached_{false};  // relaxed: only told

  mutable std::mutex mutex_;  // guards what follows; taken before the subscription's
  PublisherLiveliness publishers_;
  std::optional<Deadline> deadline_;
  std::uint64_t deadlines_missed_ = 0;
};

}  // namespace sinew::session
