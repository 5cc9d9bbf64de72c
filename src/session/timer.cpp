#include "session/timer.hpp"

#include <algorithm>
#include <new>

#include "base/log.hpp"
#include "os/clock.hpp"

namespace sinew::session {
namespace {

constexpr std::int64_t finest = 1'000'000;         // between two runs, so that no wish makes the loop burn a core
constexpr std::int64_t retry_after = 100'000'000;  // while there is no memory

}  // namespace

void Timer::set(std::int64_t when) {
  const std::lock_guard lock(mutex_);
  if (stopped_ || when == never || (armed_ && armed_->when <= when)) return;
  const IoLoop::TimerId earlier = loop_.at(when, [weak = weak_from_this(), when] {
    if (const auto self = weak.lock()) self->run(when);
  });
  if (armed_) loop_.cancel(*armed_);
  armed_ = earlier;
}

void Timer::run(std::int64_t due) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || !armed_ || armed_->when != due) return;  // it was set to run earlier, when this was about to
    armed_.reset();
  }
  const std::int64_t now = os::now_ns();
  std::int64_t next = now + retry_after;
  try {
    next = task_();
  } catch (const std::bad_alloc& shortage) {
    base::log(base::LogLevel::error, shortage.what());
  }
  set(next == never ? never : std::max(next, now + finest));
}

void Timer::stop() noexcept {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (armed_) loop_.cancel(*armed_);
  armed_.reset();
}

}  // namespace sinew::session
