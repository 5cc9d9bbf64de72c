#include "session/subscriber/subscriber_status.hpp"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "os/clock.hpp"
#include "session/subscriber/subscription.hpp"

namespace sinew::session {

SubscriberStatus::SubscriberStatus(Subscription& of, const wire::Qos& asked) : of_(of) {
  if (asked.deadline > 0) deadline_.emplace(asked.deadline);
}

void SubscriberStatus::start(IoLoop& loop, std::shared_ptr<Listener> listener, const SubscriberEvents& events) {
  listener_ = std::move(listener);
  if (listener_) {
    listener_->add(events.matched, [this] { return matched(); });
    listener_->add(events.incompatible_qos, [this] { return of_.last_incompatible(); });
    listener_->add(events.deadline_missed, [this] { return DeadlineMissedEvent{.total_count = deadlines_missed()}; });
    listener_->add(events.liveliness_changed, [this] { return liveliness(); });
    listener_->add(events.message_lost, [this] { return losses(); });
    listener_->add(events.detached, [this] { return DetachedEvent{is_detached() ? of_.topic() : ""}; });
    if (events.message_lost) loss_listener_ = listener_;
  }
  timer_ = LoopTimer::create(loop, [weak = of_.weak_from_this()] {
    const auto subscription = weak.lock();
    return subscription ? subscription->status().look() : LoopTimer::never;
  });
  publishers_changed();
}

void SubscriberStatus::stop() noexcept {
  if (timer_) timer_->stop();
  if (listener_) listener_->close();
}

void SubscriberStatus::publishers_changed() noexcept {
  if (const auto watcher = of_.options().watcher.lock()) watcher->peers_changed();
  try {
    timer_->set(look());
  } catch (const std::bad_alloc& shortage) {
    base::log(base::LogLevel::error, shortage.what());
    timer_->set(0);  // which tries again until there is memory
  }
}

void SubscriberStatus::gap_ends() noexcept {
  try {
    look();
  } catch (const std::bad_alloc& shortage) {
    base::log(base::LogLevel::error, shortage.what());
  }
}

// The mutex is held around all of it, so that nobody puts an older sight, or time, over a newer one. The time is read last: what was seen is not later.
std::int64_t SubscriberStatus::look() {
  const std::lock_guard lock(mutex_);
  const std::vector<Sighting> all = of_.sightings();
  const std::int64_t newest_of_departed = of_.newest_of_departed();
  const std::int64_t now = os::now_ns();
  bool changed = publishers_.look(now, all);
  std::int64_t next = publishers_.next();
  if (deadline_) {
    std::int64_t newest = newest_of_departed;
    for (const Sighting& each : all) {
      if (each.newest <= now) newest = std::max(newest, each.newest);
    }
    const std::uint64_t missed = deadline_->look(now, newest);
    deadlines_missed_ += missed;
    changed |= missed > 0;
    next = std::min(next, deadline_->next());
  }
  if (changed) raise();
  return next;
}

void SubscriberStatus::tell(SubscriberStatistics& statistics) const {
  statistics.detached = is_detached();
  const std::lock_guard lock(mutex_);
  statistics.deadlines_missed = deadlines_missed_;
  if (of_.is_closed()) return;
  statistics.publishers_alive = publishers_.alive();
  statistics.publishers_not_alive = publishers_.not_alive();
}

std::uint64_t SubscriberStatus::deadlines_missed() const {
  const std::lock_guard lock(mutex_);
  return deadlines_missed_;
}

MatchedEvent SubscriberStatus::matched() const {
  const std::lock_guard lock(mutex_);
  return {.total_count = publishers_.ever(), .current_count = publishers_.alive() + publishers_.not_alive()};
}

LivelinessChangedEvent SubscriberStatus::liveliness() const {
  const std::lock_guard lock(mutex_);
  return {.alive_count = publishers_.alive(), .not_alive_count = publishers_.not_alive(), .node = publishers_.last_changed()};
}

MessageLostEvent SubscriberStatus::losses() const {
  const SubscriberStatistics all = of_.statistics();
  MessageLostEvent event{.total_count = all.missed + all.expired, .pushed_out = {}, .withdrawn = {}, .expired = {}};
  event.expired.total_count = all.expired;
  event.withdrawn.total_count = std::min(all.withdrawn, all.missed);  // they are counted one after the other
  event.pushed_out.total_count = all.missed - event.withdrawn.total_count;
  return event;
}

}  // namespace sinew::session
