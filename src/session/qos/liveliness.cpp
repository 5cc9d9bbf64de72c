#include "session/qos/liveliness.hpp"

#include <algorithm>

namespace sinew::session {
namespace {

constexpr std::int64_t longest_look_away = 100'000'000;  // from a publisher that is not alive

}  // namespace

Lease::Lease(std::int64_t duration, std::int64_t now) noexcept
    : duration_(duration == 0 ? 0 : std::max(duration, shortest_lease)),
      sign_(now),
      next_(duration_ == 0 ? LoopTimer::never : now + duration_ + 1) {}

bool Lease::look(std::int64_t now, std::int64_t sign) noexcept {
  if (duration_ == 0) return false;
  if (sign <= now) sign_ = std::max(sign_, sign);
  const bool was_alive = std::exchange(alive_, now - sign_ <= duration_);
  // Of one that is dead the next sign comes without notice.
  next_ = alive_ ? sign_ + duration_ + 1 : now + std::min(duration_ / 4, longest_look_away);
  return alive_ != was_alive;
}

bool PublisherLiveliness::look(std::int64_t now, std::span<const Sighting> all) {
  bool changed = false;
  ++looks_;
  next_ = LoopTimer::never;
  for (const Sighting& each : all) {
    if (!each.is_connected) continue;
    const auto [found, is_new] = known_.try_emplace(each.publisher, Known{Lease(each.lease, now), each.node});
    Known& known = found->second;
    known.seen_in = looks_;
    if (is_new) ++ever_;
    if (known.lease.look(now, each.sign) || is_new) {
      changed = true;
      last_changed_ = known.node;
    }
    next_ = std::min(next_, known.lease.next());
  }
  const std::size_t gone = std::erase_if(known_, [&](const auto& each) {
    if (each.second.seen_in == looks_) return false;
    last_changed_ = each.second.node;
    return true;
  });
  not_alive_ = static_cast<std::uint64_t>(std::ranges::count_if(known_, [](const auto& each) { return !each.second.lease.is_alive(); }));
  return changed || gone > 0;
}

}  // namespace sinew::session
