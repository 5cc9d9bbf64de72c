// Who may use which window of the domain's address range, and when a window may be given to somebody else (F3).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "os/memory.hpp"
#include "wire/messages.hpp"

namespace sinew::manager {

using Session = std::uint64_t;

/// The windows of a range. A window is free, or owned by a publisher, or only held: by sessions that may still have some of it mapped.
/// It goes back to the end of the queue of free ones when nobody owns or holds it, so an address comes back as late as possible.
class Windows {
 public:
  enum class Released {
    yes,    ///< the session no longer holds it
    stale,  ///< the session was introduced again meanwhile and still holds it
    wrong,  ///< the session does not hold this window, or owns it
  };

  explicit Windows(const os::AddressRange& range);

  /// A free window, owned and held by `owner` from now on; nothing when all are in use.
  std::optional<wire::Window> grant(Session owner);
  /// `holder` was introduced to an owned window by `connection`, a number greater than all before.
  void introduce(const wire::Window& window, Session holder, std::uint64_t connection);
  /// The publisher is gone; its session still holds the window. REQUIRES: the window is owned.
  void retire(const wire::Window& window);
  /// The session says it has nothing of it mapped, knowing of introductions up to `connection`.
  Released release(const wire::Window& window, Session holder, std::uint64_t connection);
  /// The session's process has closed its connection: whatever it held is unmapped or no concern of ours. REQUIRES: it owns none.
  void closed(Session holder);

  const os::AddressRange& range() const { return range_; }
  std::size_t free() const { return free_.size(); }

 private:
  struct Used {
    std::optional<Session> owner;
    std::map<Session, std::uint64_t> holders;  // each with its newest introduction
  };
  using Index = std::uint64_t;

  Index index_of(const wire::Window& window) const { return (window.base - range_.base) / range_.window_size; }
  std::map<Index, Used>::iterator free_if_unused(std::map<Index, Used>::iterator used);

  os::AddressRange range_;
  std::deque<Index> free_;
  std::map<Index, Used> used_;
};

}  // namespace sinew::manager
