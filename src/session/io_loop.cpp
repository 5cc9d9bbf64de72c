#include "session/io_loop.hpp"

#include <array>
#include <exception>
#include <future>
#include <string>

#include "base/log.hpp"
#include "os/process.hpp"

namespace sinew::session {

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
  post([this] {
    const std::lock_guard lock(mutex_);
    running_ = false;
  });
  thread_.join();
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
  if (std::this_thread::get_id() != thread_.get_id()) {
    const std::lock_guard lock(mutex_);
    if (running_) {
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

void IoLoop::want_writable(const os::Fd& fd, WatchId id, bool wanted) {
  const std::lock_guard lock(mutex_);
  if (handlers_.contains(id)) poller_.change(fd, id, wanted);
}

void IoLoop::unwatch(const os::Fd& fd, WatchId id) noexcept {
  const std::lock_guard lock(mutex_);
  if (handlers_.erase(id) > 0) poller_.remove(fd);
}

void IoLoop::loop() {
  std::array<os::Poller::Event, 64> events;
  for (;;) {
    std::size_t count = 0;
    try {
      count = poller_.wait(events);
    } catch (const std::exception& error) {
      base::log(base::LogLevel::error, error.what());  // a shortage, which passes
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (events[i].key == 0) {
        os::drain(wake_.get());
        continue;
      }
      std::shared_ptr<Handler> handler;
      {
        const std::lock_guard lock(mutex_);
        if (const auto found = handlers_.find(events[i].key); found != handlers_.end()) handler = found->second.lock();
      }
      if (!handler) continue;
      try {
        handler->on_event(events[i]);
      } catch (const std::exception& error) {
        base::log(base::LogLevel::error, error.what());
      }
    }
    run_tasks();
    const std::lock_guard lock(mutex_);
    if (!running_ && tasks_.empty()) return;
  }
}

void IoLoop::run_tasks() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const auto& task : tasks) {
    try {
      task();
    } catch (const std::exception& error) {
      base::log(base::LogLevel::error, error.what());
    }
  }
}

}  // namespace sinew::session
