#include "session/callbacks/execution_thread.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <string_view>

#include "base/log.hpp"
#include "base/point.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "session/callbacks/periodic_timer.hpp"
#include "session/callbacks/turn.hpp"
#include "session/fork.hpp"

namespace sinew::session {
namespace {

constexpr std::chrono::milliseconds pause{1};  // while there is no memory

shm::BellWord& word_in(const os::Mapping& mapping) {
  return *std::launder(reinterpret_cast<shm::BellWord*>(mapping.data()));
}

}  // namespace

Doorbell::Doorbell()
    : page_fd_(os::create_memfd("sinew-bell", os::page_size())),
      mapping_(std::make_shared<const os::Mapping>(os::Mapping::map(page_fd_, os::page_size(), os::Access::read_write))),
      eventfd_(os::create_doorbell()),
      sleeper_(word_in(*mapping_)) {
  os::seal_for_readers(page_fd_);
  offer_mapping(page_fd_, mapping_);
}

const shm::BellWord& Doorbell::word() const noexcept {
  return word_in(*mapping_);
}

class ExecutionThread::Running {
 public:
  explicit Running(ExecutionThread& self) : self_(self), lock_(self.running_) {
    self_.runs_in_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  ~Running() { self_.runs_in_.store({}, std::memory_order_relaxed); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  ExecutionThread& self_;
  const std::lock_guard<std::mutex> lock_;
};

// --- a thread of its own ---------------------------------------------------------------------------------------------------------------

void ExecutionThread::set_up_this_thread() const {
  const auto complain = [this](const std::string& why) {
    if (!why.empty()) base::log(base::LogLevel::warn, "execution thread '" + name() + "' " + why + "; it runs all the same");
  };
  try {
    complain(os::schedule_this_thread(options_.scheduling, options_.priority));
    if (!options_.cpus.empty()) complain(os::bind_this_thread(options_.cpus));
  } catch (const std::bad_alloc& shortage) {
    base::log(base::LogLevel::warn, shortage.what());
  }
}

void ExecutionThread::start() {
  const std::lock_guard lock(mutex_);  // the loop begins by taking it: no callback sees thread_ half made
  thread_ = os::start_thread(name(), [self = shared_from_this()] {
    self->set_up_this_thread();
    const Running running(*self);
    self->run_until(self->stopping_);
    if (forked()) {
      new (std::nothrow) std::shared_ptr<ExecutionThread>(self);  // leaked: what it keeps does not exist in the child
      return;
    }
    const Lists last = std::move(self->seen_);  // what is in there may hold this object
  });
}

void ExecutionThread::stop() {
  if (!thread_.joinable()) {                           // whoever calls spin(), and who waits to
    stopping_.store(true, std::memory_order_release);  // sync: STOP (with takes_leave); first, so that all see it
    leave();
    if (!is_inside()) const Running nobody_else(*this);
    return;
  }
  stopping_.store(true, std::memory_order_release);  // sync: STOP (with run_until)
  wake();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // the thread's own reference keeps this object until it has returned
  } else {
    thread_.join();
  }
}

// --- the caller's ----------------------------------------------------------------------------------------------------------------------

void ExecutionThread::spin() {
  const auto self = shared_from_this();  // callbacks may drop everybody else's
  {
    const Running running(*this);
    do {
      run_until(leaving_);
    } while (!takes_leave());
    doorbell_.ring();  // whatever came meanwhile: the caller may go on with dispatch()
  }
  let_go_of_removed();
}

void ExecutionThread::leave() noexcept {
  leaves_.fetch_add(1, std::memory_order_relaxed);
  leaving_.exchange(true, std::memory_order_acq_rel);  // sync: STOP (with run_until, takes_leave)
  doorbell_.ring();
}

// False when all calls of leave() that were told of have ended another spin().
bool ExecutionThread::takes_leave() noexcept {
  leaving_.exchange(false, std::memory_order_acq_rel);  // sync: STOP (with leave, stop)
  unsigned left = leaves_.load(std::memory_order_relaxed);
  while (left > 0 && !leaves_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
  }
  const bool is_over = stopping_.load(std::memory_order_relaxed);  // relaxed: set before leave()
  // Others may wait for their turn to spin.
  if (left > 1 || is_over) leaving_.exchange(true, std::memory_order_acq_rel);  // sync: STOP (with run_until, takes_leave)
  return left > 0 || is_over || forked();
}

void ExecutionThread::dispatch(const std::function<bool()>& is_over, std::optional<std::int64_t> only_of) {
  const auto self = shared_from_this();
  run_once(is_over, only_of);
  let_go_of_removed();
}

// The same order as in run_until(), in which the caller's loop does the waiting.
void ExecutionThread::run_once(const std::function<bool()>& is_over, std::optional<std::int64_t> only_of) {
  const Running running(*this);
  os::await_doorbell(doorbell_.eventfd().get(), 0);
  doorbell_.sleeper().mark_awake();
  refresh();
  run_all(Turn(stopping_, is_over, only_of));
  if (forked()) return;
  doorbell_.sleeper().mark_asleep();
  if (has_news() || has_changed()) doorbell_.ring();  // one round at a time, for the sake of what else the caller's loop has to do
  if (!descriptor_) return;
  const std::int64_t next = next_timer();
  os::set_alarm(descriptor_->alarm.get(), next == PeriodicTimer::never ? std::nullopt : std::optional(next));
}

int ExecutionThread::descriptor() {
  const auto self = shared_from_this();
  int descriptor = -1;
  {
    const Running running(*this);
    if (!descriptor_) {
      Descriptor made{{}, os::create_alarm()};
      made.poller.add(doorbell_.eventfd(), 0);
      made.poller.add(made.alarm, 1);
      descriptor_.emplace(std::move(made));
      doorbell_.ring();  // the first dispatch() sets the alarm
    }
    descriptor = descriptor_->poller.descriptor().get();
  }
  let_go_of_removed();  // as whoever runs callbacks
  return descriptor;
}

// --- what is run -----------------------------------------------------------------------------------------------------------------------

void ExecutionThread::add(const std::shared_ptr<Runnable>& runnable) {
  {
    const std::lock_guard lock(mutex_);
    lists_.runnables.push_back(runnable);
  }
  wake();
}

void ExecutionThread::add(const std::shared_ptr<PeriodicTimer>& timer) {
  {
    const std::lock_guard lock(mutex_);
    lists_.timers.push_back(timer);
  }
  wake();
}

void ExecutionThread::remove(const std::shared_ptr<Runnable>& runnable) noexcept {
  {
    const std::lock_guard lock(mutex_);
    std::erase(lists_.runnables, runnable);
  }
  changed();
}

void ExecutionThread::remove(const std::shared_ptr<PeriodicTimer>& timer) noexcept {
  {
    const std::lock_guard lock(mutex_);
    std::erase(lists_.timers, timer);
  }
  changed();
}

void ExecutionThread::changed() noexcept {
  wake();
  let_go_of_removed();
}

// A caller that never comes again must not keep what was removed. While somebody runs callbacks it is he who lets go, at his end: either he sees the change after his last look, or we find the lock free.
void ExecutionThread::let_go_of_removed() noexcept {
  if (forked()) return;
  for (bool again = true; again;) {
    if (is_inside() || !running_.try_lock()) return;
    runs_in_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    bool refreshed = true;
    while (has_changed() && refreshed) refreshed = refresh();  // what ends here may remove more
    const std::uint64_t seen = seen_wakes_;
    runs_in_.store({}, std::memory_order_relaxed);
    running_.unlock();
    // sync: WAKES (with wake)
    again = refreshed && wakes_.load(std::memory_order_seq_cst) != seen;  // without memory the next round does it
  }
}

void ExecutionThread::wake() noexcept {
  wakes_.fetch_add(1, std::memory_order_seq_cst);  // sync: WAKES (with has_changed, let_go_of_removed)
  doorbell_.ring();
}

bool ExecutionThread::refresh() noexcept {
  const std::uint64_t wakes = wakes_.load(std::memory_order_seq_cst);  // sync: WAKES (with wake)
  if (wakes == seen_wakes_) return true;
  Lists now;  // then what was there before: it may end here, and with it what its user keeps in it, so not under the lock
  try {
    const std::lock_guard lock(mutex_);
    now = lists_;
  } catch (const std::bad_alloc&) {
    os::sleep_for(pause);
    return false;
  }
  seen_wakes_ = wakes;
  std::swap(seen_, now);
  return true;
}

void ExecutionThread::run_due_timers(const Turn& turn) noexcept {
  if (seen_.timers.empty()) return;
  const std::int64_t now = turn.only_of().value_or(os::now_ns());
  for (const auto& timer : seen_.timers) {
    if (turn.has_ended()) return;
    timer->run(now);
  }
}

bool ExecutionThread::run_all(Turn turn) noexcept {
  run_due_timers(turn);
  std::int64_t tick = os::coarse_now_ns();
  bool more = false;
  for (const auto& runnable : seen_.runnables) {
    if (turn.has_ended()) return false;
    if (!runnable->has_news()) continue;
    turn.begin();
    more |= runnable->run_some(turn);
    // Timers wait for one of those that take long, not for all; and not one of these for timers that do.
    if (os::coarse_now_ns() == tick) continue;
    run_due_timers(turn);
    tick = os::coarse_now_ns();
  }
  return more;
}

std::int64_t ExecutionThread::next_timer() const noexcept {
  std::int64_t next = PeriodicTimer::never;
  for (const auto& timer : seen_.timers) next = std::min(next, timer->due());
  return next;
}

bool ExecutionThread::has_news() const noexcept {
  return std::ranges::any_of(seen_.runnables, [](const auto& runnable) { return runnable->has_news(); });
}

bool ExecutionThread::spin_for_news(const std::atomic<bool>& end) const noexcept {
  if (options_.spin.count() <= 0) return false;
  const std::int64_t until = std::min(os::later(os::now_ns(), options_.spin.count()), next_timer());
  do {
    for (int i = 0; i < 16; ++i) {
      // relaxed: looked at again before it sleeps
      if (has_news() || wakes_.load(std::memory_order_relaxed) != seen_wakes_) return true;
      os::spin_hint();
    }
  } while (os::now_ns() < until && !end.load(std::memory_order_relaxed));  // relaxed: likewise
  return false;
}

// The order is normative (spec/shared-memory.md): awake, scan all, asleep (seq_cst), scan all heads again, wait, which drains.
void ExecutionThread::run_until(const std::atomic<bool>& end) noexcept {
  const std::function<bool()> is_over;            // `end` alone says so
  while (!end.load(std::memory_order_acquire)) {  // sync: STOP (with stop, leave)
    doorbell_.sleeper().mark_awake();
    refresh();
    // Who came meanwhile does not wait until those that were there run out of messages.
    while (run_all(Turn(end, is_over)) && !has_changed()) {
    }
    if (forked()) return;  // in a callback, and this is the child: what is looked at next does not exist there
    if (spin_for_news(end)) continue;
    SINEW_POINT("thread.falls_asleep");
    doorbell_.sleeper().mark_asleep();
    if (has_news() || has_changed() || end.load(std::memory_order_acquire)) continue;  // sync: STOP (with stop, leave)
    if (const std::int64_t next = next_timer(); next == PeriodicTimer::never) {
      os::await_doorbell(doorbell_.eventfd().get());
    } else {
      os::await_doorbell(doorbell_.eventfd().get(), next);
    }
    // Other cores wrote what is read next: let the lines come side by side, not one after the other.
    for (const auto& runnable : seen_.runnables) runnable->prefetch();
  }
}

}  // namespace sinew::session
