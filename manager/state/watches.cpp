#include "manager/state/watches.hpp"

#include <algorithm>
#include <iterator>

namespace sinew::manager {

bool Watches::add(const Key& watch, bool wants_counters) {
  const auto first = watches_.lower_bound({watch.first, 0}), last = watches_.lower_bound({watch.first + 1, 0});
  if (static_cast<std::size_t>(std::distance(first, last)) >= most) return false;
  watches_[watch].first.wants_counters = wants_counters;
  ready_.insert(watch);
  return true;
}

bool Watches::remove(const Key& watch) {
  ready_.erase(watch);
  return watches_.erase(watch) > 0;
}

void Watches::closed(Session session) {
  for (auto watch = watches_.lower_bound({session, 0}); watch != watches_.end() && watch->first.first == session;) {
    ready_.erase(watch->first);
    watch = watches_.erase(watch);
  }
}

template <class Note>
void Watches::for_all(Note note) {
  for (auto& [key, watch] : watches_) {
    if (note(watch.first) && !watch.second) ready_.insert(key);
  }
}

void Watches::came() {
  for_all([](Watch&) { return true; });
}

void Watches::changed(std::uint64_t number) {
  for_all([&](Watch& watch) { return number <= watch.cursor && (watch.things.insert(number), true); });
}

void Watches::lost(std::uint64_t number) {
  for_all([&](Watch& watch) { return number <= watch.cursor && (watch.things.insert(number), watch.lost.insert(number), true); });
}

void Watches::changed(const PairNumbers& pair) {
  for_all([&](Watch& watch) { return std::max(pair.first, pair.second) <= watch.cursor && (watch.pairs.insert(pair), true); });
}

std::optional<Watches::Key> Watches::next() const {
  if (ready_.empty()) return std::nullopt;
  return *ready_.begin();
}

void Watches::told(const Key& watch, bool something) {
  ready_.erase(watch);
  watches_.at(watch).second = something;
}

void Watches::answered(const Key& watch) {
  const auto found = watches_.find(watch);
  if (found == watches_.end() || !std::exchange(found->second.second, false)) return;
  ready_.insert(watch);
}

}  // namespace sinew::manager
