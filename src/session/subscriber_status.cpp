#include "session/subscriber_status.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "os/clock.hpp"
#include "session/subscription.hpp"

namespace sinew::session {

SubscriberStatus::SubscriberStatus(Subscription& of, const wire::Quality& asked) : of_(of) {
  if (asked.deadline > 0) deadline_.emplace(asked.deadline);
}

void SubscriberStatus::start(IoLoop& loop, std::shared_ptr<Listener> listener, const SubscriberEvents& events) {
  listener_ = std::move(listener);
  if (listener_) {
    listener_->add(events.matched, [this] { return matched(); });
    listener_->add(events.incompatible_qos, [this] { return of_.last_incompatible(); });
    listener_->add(events.deadline_missed, [this] { return DeadlineMissedEvent{.total_count = counters().deadlines_missed}; });
    listener_->add(events.liveliness_changed, [this] { return liveliness(); });
    listener_->add(events.message_lost, [this] { return losses(); });
    if (events.message_lost) loss_listener_ = listener_;
  }
  timer_ = std::make_shared<Timer>(loop, [weak = of_.weak_from_this()](std::int64_t at) {
    const auto subscription = weak.lock();
    return subscription ? subscription->status().look(at) : Timer::never;
  });
  publishers_changed();
}

void SubscriberStatus::stop() noexcept {
  if (timer_) timer_->stop();
  if (listener_) listener_->close();
}

void SubscriberStatus::publishers_changed() {
  timer_->set(look(os::now_ns()));
}

// The mutex is held around both, so that nobody puts an older sight over a newer one.
std::int64_t SubscriberStatus::look(std::int64_t now) {
  const std::lock_guard lock(mutex_);
  const std::vector<Sighting> all = of_.sightings();
  bool changed = publishers_.look(now, all);
  std::int64_t next = publishers_.next();
  if (deadline_) {
    std::int64_t newest = 0;
    for (const Sighting& each : all) newest = std::max(newest, each.newest);
    const std::uint64_t missed = deadline_->look(now, newest);
    deadlines_missed_ += missed;
    changed |= missed > 0;
    next = std::min(next, deadline_->next());
  }
  if (changed) raise();
  return next;
}

SubscriberStatus::Counters SubscriberStatus::counters() const {
  const std::lock_guard lock(mutex_);
  return {deadlines_missed_, publishers_.alive(), publishers_.not_alive()};
}

MatchedEvent SubscriberStatus::matched() const {
  const std::lock_guard lock(mutex_);
  return {.total_count = publishers_.ever(), .current_count = publishers_.alive() + publishers_.not_alive()};
}

LivelinessChangedEvent SubscriberStatus::liveliness() const {
  const std::lock_guard lock(mutex_);
  return {.alive_count = publishers_.alive(), .not_alive_count = publishers_.not_alive(), .publisher = publishers_.last_changed()};
}

MessageLostEvent SubscriberStatus::losses() const {
  const auto counters = of_.counters();
  MessageLostEvent event{.total_count = counters.missed + counters.expired, .pushed_out = {}, .withdrawn = {}, .expired = {}};
  event.expired.total_count = counters.expired;
  event.withdrawn.total_count = std::min(counters.withdrawn, counters.missed);  // they are counted one after the other
  event.pushed_out.total_count = counters.missed - event.withdrawn.total_count;
  return event;
}

}  // namespace sinew::session
