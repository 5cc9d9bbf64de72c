#include "manager/state/introductions.hpp"

#include <algorithm>

namespace sinew::manager {

void Introductions::add(const Pair& pair) {
  const Sessions both = std::minmax(pair.publisher.first, pair.subscriber.first);
  waiting_[both].push_back(pair);
  for (const auto& [session, partner] : std::set<Sessions>{both, {both.second, both.first}}) {
    Side& side = sides_[session];
    side.partners.insert(partner);
    ++side.waiting;
    note_room(session, side);
  }
}

// Looks through the fewer: those with whom pairs wait, or those who have room. On from the last partner, and around: else who renews its pairs as soon as they have met would be the first every time.
std::optional<Pair> Introductions::next(Session session) {
  const auto side = sides_.find(session);
  if (side == sides_.end() || !has_room(session)) return std::nullopt;
  const std::set<Session>& partners = side->second.partners;
  const bool by_partners = partners.size() <= ready_.size();
  const std::set<Session>& candidates = by_partners ? partners : ready_;
  const auto fits = [&](Session partner) { return (by_partners || partners.contains(partner)) && can_meet(std::minmax(session, partner)); };
  const auto behind = candidates.upper_bound(side->second.last);
  auto found = std::find_if(behind, candidates.end(), fits);
  if (found == candidates.end()) {
    found = std::find_if(candidates.begin(), behind, fits);
    if (found == behind) return std::nullopt;
  }
  const Sessions both = std::minmax(session, *found);
  const Pair pair = waiting_.at(both).front();
  waiting_.at(both).pop_front();
  count_less(both, 1);
  return pair;
}

void Introductions::made(const Pair& pair, std::uint64_t connection) {
  const Session publisher = pair.publisher.first, subscriber = pair.subscriber.first;
  for (const auto& [session, partner] : {Sessions{publisher, subscriber}, Sessions{subscriber, publisher}}) {
    Side& side = sides_[session];
    side.last = partner;
    side.unanswered.insert(connection);
    note_room(session, side);
  }
}

bool Introductions::answered(Session session, std::uint64_t connection) {
  const auto side = sides_.find(session);
  if (side == sides_.end()) return false;
  const auto owed = side->second.unanswered.find(connection);
  if (owed == side->second.unanswered.end()) return false;
  side->second.unanswered.erase(owed);
  note_room(session, side->second);
  return true;
}

void Introductions::forget_publisher(const InterfaceKey& publisher) {
  forget(publisher.first, [&](const Pair& pair) { return pair.publisher == publisher; });
}

void Introductions::forget_subscriber(const InterfaceKey& subscriber) {
  forget(subscriber.first, [&](const Pair& pair) { return pair.subscriber == subscriber; });
}

void Introductions::forget_publishers(Session session, const std::function<bool(std::uint64_t id)>& are_gone) {
  forget(session, [&](const Pair& pair) { return pair.publisher.first == session && are_gone(pair.publisher.second); });
}

void Introductions::forget_interfaces(Session session) {
  forget(session, [](const Pair&) { return true; });
}

template <class Unwanted>
void Introductions::forget(Session session, Unwanted unwanted) {
  const auto side = sides_.find(session);
  if (side == sides_.end()) return;
  for (const Session partner : std::set<Session>(side->second.partners)) {
    const Sessions both = std::minmax(session, partner);
    count_less(both, std::erase_if(waiting_.at(both), unwanted));
  }
}

void Introductions::count_less(const Sessions& both, std::size_t fewer) {
  const bool none_left = waiting_.at(both).empty();
  if (none_left) waiting_.erase(both);
  for (const auto& [session, partner] : std::set<Sessions>{both, {both.second, both.first}}) {
    Side& side = sides_.at(session);
    side.waiting -= fewer;
    if (none_left) side.partners.erase(partner);
    note_room(session, side);
  }
}

std::size_t Introductions::waiting(Session session) const {
  const auto side = sides_.find(session);
  return side == sides_.end() ? 0 : side->second.waiting;
}

// The numbers of introductions grow, so the side with the smaller one has owed its answer for longer.
std::size_t Introductions::waiting_for(Session session, const std::function<bool(Session partner)>& is_less) const {
  const auto side = sides_.find(session);
  if (side == sides_.end() || has_room(session)) return 0;
  const auto is_to_blame = [&](Session partner) {
    if (partner == session || has_room(partner)) return true;
    const std::uint64_t owed = *side->second.unanswered.begin(), owed_there = *sides_.at(partner).unanswered.begin();
    return owed < owed_there || (owed == owed_there && is_less(partner));
  };
  std::size_t waiting = 0;
  for (const Session partner : side->second.partners) {
    if (is_to_blame(partner)) waiting += waiting_.at(std::minmax(session, partner)).size();
  }
  return waiting;
}

bool Introductions::has_room(Session session) const {
  const auto side = sides_.find(session);
  return side == sides_.end() || side->second.unanswered.size() < room;
}

void Introductions::note_room(Session session, const Side& side) {
  if (side.waiting > 0 && side.unanswered.size() < room) {
    ready_.insert(session);
  } else {
    ready_.erase(session);
  }
}

bool Introductions::can_meet(const Sessions& both) const {
  if (both.first == both.second) return sides_.at(both.first).unanswered.empty();
  return has_room(both.first) && has_room(both.second);
}

}  // namespace sinew::manager
