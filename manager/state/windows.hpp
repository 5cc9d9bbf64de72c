// Who may use which window of the domain's address range, and when a window may be given to somebody else (F3).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "wire/messages.hpp"

namespace sinew::manager {

using Session = std::uint64_t;

/// Addresses for windows: `count` windows of `window_size` bytes from `base`.
struct WindowRange {
  std::uint64_t base = 0, window_size = 0, count = 0;
  std::uint64_t end() const noexcept { return base + window_size * count; }
};

/// The windows of a range. A window is free, or owned by a publisher, or only held: by sessions that may still have some of it mapped.
/// It goes back to the end of the queue of free ones when nobody owns or holds it, so an address comes back as late as possible.
class Windows {
 public:
  /// Gives out windows from number `first` (modulo their count) on.
  explicit Windows(const WindowRange& range, std::uint64_t first = 0);

  /// A free window, owned, and held once, by `owner` from now on; nothing when all are in use.
  std::optional<wire::Window> grant(Session owner);
  /// One of the windows of the range, whoever uses it.
  bool contains(const wire::Window& window) const;
  /// A publisher has this window from another manager: its session owns it, too, whoever else does, and holds it once more from now on. REQUIRES: contains().
  void claim(const wire::Window& window, Session owner);
  /// `holder` is introduced to an owned window, and holds it once more.
  void introduce(const wire::Window& window, Session holder);
  /// A publisher of this session is gone; the session still holds the window. REQUIRES: it owns it.
  void retire(const wire::Window& window, Session owner);
  /// The session holds the window once less. False when it does not hold it, or only as often as publishers of it own it.
  bool release(const wire::Window& window, Session holder);
  /// The session's process has closed its connection: whatever it held is unmapped or no concern of ours. REQUIRES: it owns none.
  void closed(Session holder);

  const WindowRange& range() const { return range_; }
  std::size_t free() const { return free_.size(); }

 private:
  struct Used {
    std::map<Session, std::uint64_t>
        owners;  // how many publishers of each own it: one in all, but for those that have it from another manager
    std::map<Session, std::uint64_t> holders;  // how many times each holds it
  };
  using Index = std::uint64_t;

  Index index_of(const wire::Window& window) const { return (window.base - range_.base) / range_.window_size; }
  void free_if_unused(std::map<Index, Used>::iterator used);

  WindowRange range_;
  std::deque<Index> free_;
  std::map<Index, Used> used_;
  std::set<std::pair<Session, Index>> held_;  // the same by holder: what one held is found among what all others hold
};

}  // namespace sinew::manager
