#include "sinew/timer.hpp"

#include <new>
#include <utility>

#include "base/cancel.hpp"
#include "session/callbacks/execution_thread.hpp"
#include "session/callbacks/periodic_timer.hpp"
#include "session/fork.hpp"
#include "shm/scope.hpp"

namespace sinew {

Timer::Timer(std::shared_ptr<session::PeriodicTimer> timer) noexcept : timer_(std::move(timer)) {}

Timer::~Timer() {
  if (session::forked()) {
    new (std::nothrow) std::shared_ptr<session::PeriodicTimer>(std::move(timer_));  // leaked: its thread does not exist in the child
    return;
  }
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  timer_->close();
  timer_->thread()->remove(timer_);
}

void Timer::cancel() noexcept {
  timer_->cancel();
}

void Timer::reset() noexcept {
  const base::Uncancellable whole;
  if (!session::forked()) timer_->reset();
}

bool Timer::is_cancelled() const noexcept {
  return timer_->due() == session::PeriodicTimer::never;
}

std::uint64_t Timer::missed() const noexcept {
  return timer_->missed();
}

}  // namespace sinew
