#include "session/qos/deadline.hpp"

#include <algorithm>
#include <utility>

namespace sinew::session {

std::uint64_t Deadline::look(std::int64_t now, std::int64_t newest) noexcept {
  if (newest > newest_ && newest <= now) {
    newest_ = newest;
    missed_ = 0;
  }
  if (newest_ == 0) {
    next_ = now + period_;
    return 0;
  }
  const std::int64_t before = std::exchange(missed_, std::max(missed_, (now - newest_ - 1) / period_));  // just in time is in time
  next_ = newest_ + (missed_ + 1) * period_ + 1;
  return static_cast<std::uint64_t>(missed_ - before);
}

}  // namespace sinew::session
