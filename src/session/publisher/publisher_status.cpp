#include "session/publisher/publisher_status.hpp"

#include <algorithm>
#include <utility>

#include "os/clock.hpp"
#include "session/publisher/publisher.hpp"

namespace sinew::session {
namespace {

// Of a lease, after which an automatic publisher is shown alive again: two of them may come late.
constexpr std::int64_t signs_per_lease = 3;

}  // namespace

PublisherStatus::PublisherStatus(Publisher& of, const wire::Qos& offered, std::weak_ptr<EndpointWatcher> watcher)
    : of_(of),
      offered_(offered),
      pulse_(offered.deadline > 0 || offered.lease > 0 ? std::make_shared<Pulse>() : nullptr),
      watcher_(std::move(watcher)) {}

void PublisherStatus::start(IoLoop& loop, std::shared_ptr<Listener> listener, const PublisherEvents& events) {
  listener_ = std::move(listener);
  if (listener_) {
    listener_->add(events.matched, [this] { return of_.matched(); });
    listener_->add(events.incompatible_qos, [this] { return of_.last_incompatible(); });
    listener_->add(events.deadline_missed, [this] { return DeadlineMissedEvent{.total_count = deadlines_missed()}; });
    listener_->add(events.liveliness_lost, [this] { return LivelinessLostEvent{.total_count = liveliness_lost()}; });
    listener_->add(events.detached, [this] { return DetachedEvent{is_detached() ? of_.topic() : ""}; });
  }
  if (!pulse_) return;
  if (offered_.deadline > 0) deadline_.emplace(offered_.deadline);
  if (offered_.lease > 0 && offered_.liveliness == wire::Liveliness::manual_by_topic) lease_.emplace(offered_.lease, os::now_ns());
  timer_ = LoopTimer::create(loop, [weak = of_.weak_from_this()] {
    const auto publisher = weak.lock();
    return publisher ? publisher->status().look() : LoopTimer::never;
  });
  timer_->set(look());
}

void PublisherStatus::stop() noexcept {
  if (timer_) timer_->stop();
  if (listener_) listener_->close();
}

// The time is read last: what was seen is not later.
std::int64_t PublisherStatus::look() {
  std::int64_t next = LoopTimer::never;
  const std::int64_t sign = std::max(newest(), pulse_->asserted.load(std::memory_order_relaxed));
  const std::int64_t now = os::now_ns();
  if (offered_.deadline > 0) {
    count_missed_deadlines(now);
    const std::lock_guard lock(mutex_);
    next = deadline_->next();
  }
  if (lease_) {
    if (lease_->look(now, sign) && !lease_->is_alive()) {
      liveliness_lost_.fetch_add(1, std::memory_order_relaxed);
      raise();
    }
    next = std::min(next, lease_->next());
  } else if (offered_.lease > 0) {
    assert_liveliness();
    next = std::min(next, now + std::max(offered_.lease, shortest_lease) / signs_per_lease);
  }
  return next;
}

void PublisherStatus::count_missed_deadlines(std::int64_t now) noexcept {
  std::uint64_t missed = 0;
  {
    const std::lock_guard lock(mutex_);
    missed = deadline_->look(now, newest());
  }
  if (missed == 0) return;
  deadlines_missed_.fetch_add(missed, std::memory_order_relaxed);
  raise();
}

void PublisherStatus::assert_liveliness() {
  const std::int64_t now = os::now_ns();
  if (pulse_) pulse_->asserted.store(now, std::memory_order_relaxed);
  of_.show_alive(now);
}

}  // namespace sinew::session
