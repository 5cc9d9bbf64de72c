#include "session/callbacks/periodic_timer.hpp"

#include <algorithm>
#include <utility>

#include "base/call_back.hpp"
#include "os/clock.hpp"
#include "session/callbacks/execution_thread.hpp"

namespace sinew::session {

PeriodicTimer::PeriodicTimer(std::int64_t period, std::function<void()> callback, std::shared_ptr<ExecutionThread> thread)
    : period_(period), thread_(std::move(thread)), callback_(std::move(callback)) {}

void PeriodicTimer::reset() noexcept {
  if (callback_.is_closed()) return;
  due_.store(os::later(os::now_ns(), period_), std::memory_order_relaxed);
  thread_->wake();
}

bool PeriodicTimer::run(std::int64_t now) {
  std::int64_t due = due_.load(std::memory_order_relaxed);
  if (due > now) return false;
  bool called = false;
  callback_.run([&](const std::function<void()>& callback) {
    const std::int64_t late = (now - due) / period_;
    // Unless it was cancelled or reset meanwhile.
    if (!due_.compare_exchange_strong(due, os::later(due + late * period_, period_), std::memory_order_relaxed)) return;
    missed_.fetch_add(static_cast<std::uint64_t>(late), std::memory_order_relaxed);
    called = true;
    base::call_back(callback);
  });
  return called;
}

void PeriodicTimer::close() noexcept {
  callback_.close();
  cancel();
}

}  // namespace sinew::session
