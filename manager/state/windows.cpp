#include "manager/state/windows.hpp"

#include <iterator>

namespace sinew::manager {

Windows::Windows(const os::AddressRange& range, std::uint64_t first) : range_(range) {
  for (Index index = 0; index < range.count; ++index) free_.push_back((first % range.count + index) % range.count);
}

std::optional<wire::Window> Windows::grant(Session owner) {
  if (free_.empty()) return std::nullopt;
  const Index index = free_.front();
  free_.pop_front();
  used_[index] = {owner, {{owner, 1}}};
  return wire::Window{range_.base + index * range_.window_size, range_.window_size};
}

void Windows::introduce(const wire::Window& window, Session holder) {
  ++used_.at(index_of(window)).holders[holder];
}

void Windows::retire(const wire::Window& window) {
  used_.at(index_of(window)).owner.reset();
}

bool Windows::release(const wire::Window& window, Session holder) {
  if (window.base < range_.base || window.size != range_.window_size || (window.base - range_.base) % range_.window_size != 0) return false;
  const auto used = used_.find(index_of(window));
  if (used == used_.end()) return false;
  const auto held = used->second.holders.find(holder);
  if (held == used->second.holders.end()) return false;
  const bool is_last = held->second == 1;
  if (is_last && used->second.owner == holder) return false;
  if (is_last) {
    used->second.holders.erase(held);
    free_if_unused(used);
  } else {
    --held->second;
  }
  return true;
}

void Windows::closed(Session holder) {
  for (auto used = used_.begin(); used != used_.end();) {
    used->second.holders.erase(holder);
    used = free_if_unused(used);
  }
}

std::map<Windows::Index, Windows::Used>::iterator Windows::free_if_unused(std::map<Index, Used>::iterator used) {
  if (used->second.owner || !used->second.holders.empty()) return std::next(used);
  free_.push_back(used->first);
  return used_.erase(used);
}

}  // namespace sinew::manager
