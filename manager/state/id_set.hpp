// Which ids a node has used: ids that follow each other take no memory, so a node may create interfaces for years.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace sinew::manager {

class IdSet {
 public:
  /// False when the id was there already.
  bool add(std::uint64_t id) {
    const auto after = ranges_.upper_bound(id);
    const auto before = after == ranges_.begin() ? ranges_.end() : std::prev(after);
    if (before != ranges_.end() && id <= before->second) return false;
    const bool joins_before = before != ranges_.end() && before->second + 1 == id;
    const bool joins_after = after != ranges_.end() && id + 1 == after->first;
    const std::uint64_t last = joins_after ? after->second : id;
    if (joins_after) ranges_.erase(after);
    if (joins_before) {
      before->second = last;
    } else {
      ranges_[id] = last;
    }
    return true;
  }
  std::size_t ranges() const { return ranges_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // first to last, both included; never adjacent
};

}  // namespace sinew::manager
