#include "session/io/io_loop.hpp"

#include <array>
#include <chrono>
#include <exception>
#include <future>
#include <string>

#include "base/log.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"

namespace sinew::session {

namespace {

constexpr std::chrono::nanoseconds pause = std::chrono::milliseconds(100);

void run_logged(const std::function<void()>& task) {
  try {
    task();
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, error.what());
  }
}

}  // namespace

IoLoop::IoLoop() : wake_(os::create_eventfd()) {
  poller_.add(wake_, 0);
}

IoLoop::~IoLoop() {
  stop();
}

void IoLoop::start(const std::string& thread_name) {
  running_ = true;
  thread_ = os::start_thread(thread_name, [this] { loop(); });
}

void IoLoop::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    running_ = false;  // the thread ends when it has run what was posted before
    os::ring(wake_.get());
  }
  thread_.join();
  Timers dropped;  // without the lock: what a task keeps may use this loop when it goes
  const std::lock_guard lock(mutex_);
  dropped.swap(timers_);
}

void IoLoop::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (!running_) return;
  tasks_.push_back(std::move(task));
  os::ring(wake_.get());
}

void IoLoop::run(const std::function<void()>& task) {
  std::promise<void> done;
  bool posted = false;
  {
    const std::lock_guard lock(mutex_);
    if (running_ && !is_inside()) {
      tasks_.push_back([&] {
        try {
          task();
          done.set_value();
        } catch (...) {
          done.set_exception(std::current_exception());
        }
      });
      os::ring(wake_.get());
      posted = true;
    }
  }
  if (posted) {
    done.get_future().get();
  } else {
    task();
  }
}

IoLoop::WatchId IoLoop::watch(const os::Fd& fd, std::weak_ptr<Handler> handler) {
  const std::lock_guard lock(mutex_);
  const WatchId id = next_id_++;
  handlers_.emplace(id, std::move(handler));
  try {
    poller_.add(fd, id);
  } catch (...) {
    handlers_.erase(id);
    throw;
  }
  return id;
}

void IoLoop::wake_writer(const os::Fd& fd, WatchId id, Wake when) {
  const std::lock_guard lock(mutex_);
  if (!handlers_.contains(id)) return;
  poller_.change(fd, id, when == Wake::when_writable);
  if (when != Wake::after_pause) return;
  arm_locked(os::now_ns() + pause.count(), [this, id] { handle({.key = id, .writable = true}); });
}

IoLoop::TimerId IoLoop::arm_locked(std::int64_t when, std::function<void()> task) {
  const TimerId timer{when, next_timer_++};
  timers_.emplace(timer, std::move(task));
  if (timers_.begin()->first == timer) os::ring(wake_.get());  // the loop may be waiting for a later one, or without a time
  return timer;
}

IoLoop::TimerId IoLoop::at(std::int64_t when, std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  return running_ ? arm_locked(when, std::move(task)) : TimerId{};
}

IoLoop::TimerId IoLoop::move(TimerId timer, std::int64_t when) noexcept {
  const TimerId moved{when, timer.number};
  const std::lock_guard lock(mutex_);
  if (auto waiting = timers_.extract(timer)) {
    insert_locked(std::move(waiting), moved);
  } else if (running_timer_ != 0 && timer.number == running_timer_) {
    again_ = moved;
  }
  return moved;
}

void IoLoop::insert_locked(Timers::node_type&& timer, TimerId as) noexcept {
  timer.key() = as;
  timers_.insert(std::move(timer));
  if (timers_.begin()->first == as) os::ring(wake_.get());
}

void IoLoop::cancel(TimerId timer) noexcept {
  Timers::node_type cancelled;  // let go without the lock
  const std::lock_guard lock(mutex_);
  cancelled = timers_.extract(timer);
  if (timer.number == running_timer_) again_.reset();
}

std::optional<std::int64_t> IoLoop::next_timer() {
  const std::lock_guard lock(mutex_);
  return timers_.empty() || timers_.begin()->first.when == never ? std::nullopt : std::optional(timers_.begin()->first.when);
}

void IoLoop::run_timers() {
  // Looked at once: a task that arms the next one with a small period must not keep sockets waiting.
  const TimerId end{os::now_ns() + 1, 0};
  for (;;) {
    Timers::node_type due;
    {
      const std::lock_guard lock(mutex_);
      if (timers_.empty() || timers_.begin()->first >= end) return;
      due = timers_.extract(timers_.begin());
      running_timer_ = due.key().number;
    }
    run_logged(due.mapped());
    const std::lock_guard lock(mutex_);
    running_timer_ = 0;
    if (const auto again = std::exchange(again_, std::nullopt)) insert_locked(std::move(due), *again);
  }
}

void IoLoop::unwatch(const os::Fd& fd, WatchId id) noexcept {
  const std::lock_guard lock(mutex_);
  if (handlers_.erase(id) > 0) poller_.remove(fd);
}

void IoLoop::loop() {
  runs_in_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  std::array<os::Poller::Event, 64> events;
  for (;;) {
    std::size_t count = 0;
    try {
      count = poller_.wait(events, next_timer());
    } catch (const std::exception& error) {
      base::log(base::LogLevel::error, error.what());  // a shortage, which passes
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].key == 0) {
        os::drain(wake_.get());
        continue;
      }
      handle(events[i]);
    }
    run_timers();
    run_tasks();
    const std::lock_guard lock(mutex_);
    if (!running_ && tasks_.empty()) break;
  }
  runs_in_.store({}, std::memory_order_relaxed);  // the id may become another thread's
}

void IoLoop::handle(const os::Poller::Event& event) {
  std::shared_ptr<Handler> handler;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = handlers_.find(event.key); found != handlers_.end()) handler = found->second.lock();
  }
  if (!handler) return;
  try {
    handler->on_event(event);
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, error.what());
  }
}

void IoLoop::run_tasks() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const auto& task : tasks) run_logged(task);
}

}  // namespace sinew::session
