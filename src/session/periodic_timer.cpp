#include "session/periodic_timer.hpp"

#include <algorithm>
#include <utility>

#include "os/clock.hpp"
#include "session/execution_thread.hpp"

namespace sinew::session {
namespace {

std::int64_t after(std::int64_t time, std::int64_t duration) noexcept {
  return duration < PeriodicTimer::never - time ? time + duration : PeriodicTimer::never;
}

}  // namespace

PeriodicTimer::PeriodicTimer(std::int64_t period, std::function<void()> callback, std::shared_ptr<ExecutionThread> thread)
    : period_(period), thread_(std::move(thread)), callback_(std::move(callback)) {}

void PeriodicTimer::reset() noexcept {
  if (closed_.load(std::memory_order_seq_cst)) return;
  due_.store(after(os::now_ns(), period_), std::memory_order_relaxed);
  thread_->wake();
}

bool PeriodicTimer::run(std::int64_t now) {
  std::int64_t due = due_.load(std::memory_order_relaxed);
  if (due > now) return false;
  std::function<void()> over;  // what the callback keeps goes without the lock
  const std::lock_guard lock(calling_);
  if (closed_.load(std::memory_order_seq_cst)) return false;
  const std::int64_t late = (now - due) / period_;
  // Unless it was cancelled or reset meanwhile.
  if (!due_.compare_exchange_strong(due, after(due + late * period_, period_), std::memory_order_relaxed)) return false;
  missed_.fetch_add(static_cast<std::uint64_t>(late), std::memory_order_relaxed);
  running_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  struct End {
    PeriodicTimer& timer;
    std::function<void()>& over;
    ~End() {
      timer.running_.store({}, std::memory_order_relaxed);
      if (timer.closed_.load(std::memory_order_seq_cst)) over.swap(timer.callback_);  // by the callback itself
    }
  } const end{*this, over};
  callback_();
  return true;
}

void PeriodicTimer::close() noexcept {
  closed_.store(true, std::memory_order_seq_cst);
  cancel();
  if (running_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return;
  std::function<void()> over;  // what the callback keeps goes without the lock
  const std::lock_guard lock(calling_);
  over.swap(callback_);
}

}  // namespace sinew::session
