// What a subscriber's end tells of its publisher.
#include <algorithm>

#include "session/subscriber/subscriber_end.hpp"

namespace sinew::session {

MatchedPublisher SubscriberEnd::matched() const {
  return {.node = peer(),
          .delivery = delivery_of(path()),
          .why = why_not_in_place(),
          .received = ack_->received.load(std::memory_order_relaxed),
          .missed = ack_->missed.load(std::memory_order_relaxed),
          .bytes_copied = counts().bytes_copied.load(std::memory_order_relaxed),
          .over_quota = counts().over_quota.load(std::memory_order_relaxed),
          .held = held()};
}

std::string SubscriberEnd::why_not_in_place() const {
  const std::lock_guard lock(chunks_mutex_);
  return why_not_in_place_;
}

std::uint64_t SubscriberEnd::held() const noexcept {
  std::uint64_t held = 0;
  if (serving_.load(std::memory_order_acquire)) claims_->for_each_held([&](std::uint32_t) { ++held; });  // sync: SERVING (with on_ring)
  return held;
}

void SubscriberEnd::count_losses(SubscriberStatistics& into) const noexcept {
  into.missed += ack_->missed.load(std::memory_order_relaxed);
  into.withdrawn += counts().withdrawn.load(std::memory_order_relaxed);
  into.skipped += counts().skipped.load(std::memory_order_relaxed);
  into.expired += counts().expired.load(std::memory_order_relaxed);
  into.over_quota += counts().over_quota.load(std::memory_order_relaxed);
}

std::int64_t SubscriberEnd::newest() const noexcept {
  if (!serving_.load(std::memory_order_acquire)) return 0;  // sync: SERVING (with on_ring)
  const std::int64_t newest = shm::newest_source_time(*ring_);
  return newest >= introduced_at_ ? newest : 0;
}

std::optional<Sighting> SubscriberEnd::sighting() const {
  if (!serving_.load(std::memory_order_acquire)) return std::nullopt;  // sync: SERVING (with on_ring)
  const wire::Qos& offered = introduction_.qos;
  Sighting sighting{.publisher = this, .node = peer(), .is_connected = !hung_up()};
  sighting.newest = newest();
  sighting.sign = static_cast<std::int64_t>(ring_->header.alive.load(std::memory_order_relaxed));
  if (offered.liveliness == wire::Liveliness::manual_by_topic) {
    sighting.sign = std::max(sighting.sign, sighting.newest);
    sighting.lease = offered.lease;
  } else if (sighting.sign != 0) {  // M43: else it knows nothing of leases
    sighting.lease = offered.lease;
  }
  return sighting;
}

}  // namespace sinew::session
