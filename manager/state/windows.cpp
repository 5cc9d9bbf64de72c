#include "manager/state/windows.hpp"

#include <algorithm>

namespace sinew::manager {

Windows::Windows(const WindowRange& range, std::uint64_t first) : range_(range) {
  for (Index index = 0; index < range.count; ++index) free_.push_back((first % range.count + index) % range.count);
}

std::optional<wire::Window> Windows::grant(Session owner) {
  if (free_.empty()) return std::nullopt;
  const Index index = free_.front();
  free_.pop_front();
  used_[index] = {{{owner, 1}}, {{owner, 1}}};
  held_.insert({owner, index});
  return wire::Window{range_.base + index * range_.window_size, range_.window_size};
}

bool Windows::contains(const wire::Window& window) const {
  return window.size == range_.window_size && window.base >= range_.base && window.base < range_.end() &&
         (window.base - range_.base) % range_.window_size == 0;
}

void Windows::claim(const wire::Window& window, Session owner) {
  const Index index = index_of(window);
  const auto [used, was_free] = used_.try_emplace(index);
  if (was_free) free_.erase(std::ranges::find(free_, index));
  ++used->second.owners[owner];
  ++used->second.holders[owner];
  held_.insert({owner, index});
}

void Windows::introduce(const wire::Window& window, Session holder) {
  ++used_.at(index_of(window)).holders[holder];
  held_.insert({holder, index_of(window)});
}

void Windows::retire(const wire::Window& window, Session owner) {
  auto& owners = used_.at(index_of(window)).owners;
  if (--owners.at(owner) == 0) owners.erase(owner);
}

bool Windows::release(const wire::Window& window, Session holder) {
  if (!contains(window)) return false;
  const auto used = used_.find(index_of(window));
  if (used == used_.end()) return false;
  const auto held = used->second.holders.find(holder);
  if (held == used->second.holders.end()) return false;
  const auto owns = used->second.owners.find(holder);
  if (owns != used->second.owners.end() && held->second == owns->second) return false;
  if (held->second == 1) {
    used->second.holders.erase(held);
    held_.erase({holder, used->first});
    free_if_unused(used);
  } else {
    --held->second;
  }
  return true;
}

void Windows::closed(Session holder) {
  const auto first = held_.lower_bound({holder, 0});
  auto end = first;
  for (; end != held_.end() && end->first == holder; ++end) {
    const auto used = used_.find(end->second);
    used->second.holders.erase(holder);
    free_if_unused(used);
  }
  held_.erase(first, end);
}

void Windows::free_if_unused(std::map<Index, Used>::iterator used) {
  if (!used->second.owners.empty() || !used->second.holders.empty()) return;
  free_.push_back(used->first);
  used_.erase(used);
}

}  // namespace sinew::manager
