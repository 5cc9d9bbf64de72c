// How a publisher stands with its subscribers and its promises, and who is told when that changes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "session/callbacks/listener.hpp"
#include "session/endpoint.hpp"
#include "session/io/loop_timer.hpp"
#include "session/qos/deadline.hpp"
#include "session/qos/liveliness.hpp"
#include "sinew/events.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

class Publisher;

/// Part of a Publisher. Thread-safe after start().
class PublisherStatus {
 public:
  /// `of` is what this is a part of.
  PublisherStatus(Publisher& of, const wire::Qos& offered, std::weak_ptr<EndpointWatcher> watcher);

  /// Once, before anybody can connect. Timers run only while something is promised. `listener` may be null.
  void start(IoLoop& loop, std::shared_ptr<Listener> listener, const PublisherEvents& events);
  /// No handler is called any more, but for the one that this is called from. REQUIRES: the caller holds no lock. Idempotent.
  void stop() noexcept;

  /// Its topic is gone, and it was but a ghost. Any thread.
  void detach() noexcept {
    detached_.store(true, std::memory_order_relaxed);
    raise();
  }
  bool is_detached() const noexcept { return detached_.load(std::memory_order_relaxed); }
  /// Something that handlers are told of has changed. Any thread.
  void raise() noexcept {
    if (listener_) listener_->raise();
    if (const auto watcher = watcher_.lock()) watcher->peers_changed();
  }
  const std::shared_ptr<Listener>& listener() const noexcept { return listener_; }

  /// The next message is late. REQUIRES: a deadline is promised.
  bool is_late(std::int64_t now) const noexcept { return newest() != 0 && now - newest() > offered_.deadline; }
  /// Counts what was missed until now. Any thread.
  void count_missed_deadlines(std::int64_t now) noexcept;
  /// On the path of every message.
  void published(std::int64_t source_time) noexcept {
    if (pulse_) pulse_->published.store(source_time, std::memory_order_relaxed);
  }
  /// It is alive. Any thread.
  void assert_liveliness();
  /// Null when neither a deadline nor a lease is promised.
  std::shared_ptr<const Pulse> pulse() const noexcept { return pulse_; }

  std::uint64_t deadlines_missed() const noexcept { return deadlines_missed_.load(std::memory_order_relaxed); }
  std::uint64_t liveliness_lost() const noexcept { return liveliness_lost_.load(std::memory_order_relaxed); }

 private:
  std::int64_t look();
  // REQUIRES: something is promised.
  std::int64_t newest() const noexcept { return pulse_->published.load(std::memory_order_relaxed); }

  Publisher& of_;
  const wire::Qos offered_;
  const std::shared_ptr<Pulse> pulse_;
  const std::weak_ptr<EndpointWatcher> watcher_;
  std::shared_ptr<Listener> listener_;
  std::shared_ptr<LoopTimer> timer_;
  std::mutex mutex_;                                                     // the last of all
  std::optional<Deadline> deadline_;                                     // guarded by mutex_
  std::optional<Lease> lease_;                                           // by-topic: its own; the loop's
  std::atomic<std::uint64_t> deadlines_missed_{0}, liveliness_lost_{0};  // relaxed: only told
  std::atomic<bool> detached_{false};                                    // relaxed: who misses it finds out with the next message
};

}  // namespace sinew::session
