#include "session/io/loop_timer.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.hpp"
#include "os/clock.hpp"

namespace sinew::session {
namespace {

constexpr std::int64_t finest = 1'000'000;         // between two runs, so that no wish makes the loop burn a core
constexpr std::int64_t retry_after = 100'000'000;  // when it failed, for want of memory

}  // namespace

std::shared_ptr<LoopTimer> LoopTimer::create(IoLoop& loop, Task task) {
  const std::shared_ptr<LoopTimer> timer(new LoopTimer(loop, std::move(task)));
  timer->timer_ = loop.at(never, [weak = std::weak_ptr(timer)] {
    if (const auto self = weak.lock()) self->run();
  });
  return timer;
}

void LoopTimer::set(std::int64_t when) noexcept {
  const std::lock_guard lock(mutex_);
  if (!stopped_ && when < timer_.when) timer_ = loop_.move(timer_, when);
}

void LoopTimer::run() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    timer_ = loop_.move(timer_, never);  // kept, to be set again
  }
  const std::int64_t now = os::now_ns();
  std::int64_t next = now + retry_after;
  try {
    next = task_();
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, error.what());
  }
  set(next == never ? never : std::max(next, now + finest));
}

void LoopTimer::stop() noexcept {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(stopped_, true)) loop_.cancel(timer_);
}

}  // namespace sinew::session
