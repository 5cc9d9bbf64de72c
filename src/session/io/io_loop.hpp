// The thread of a node that handles its control sockets. It never runs user code, but deleters of messages that a history lets go of, and never waits for anything but its descriptors.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "os/clock.hpp"
#include "os/event.hpp"
#include "os/fd.hpp"

namespace sinew::session {

class IoLoop {
 public:
  /// Called on the loop's thread. An exception ends nothing but is logged: handlers end their own connection on Violation.
  class Handler {
   public:
    virtual void on_event(const os::Poller::Event& event) = 0;

   protected:
    ~Handler() = default;
  };

  IoLoop();
  ~IoLoop();
  IoLoop(const IoLoop&) = delete;
  IoLoop& operator=(const IoLoop&) = delete;

  void start(const std::string& thread_name);
  /// Runs what was posted before, then ends the thread. Posts after that are dropped. Not on the loop's own thread.
  void stop();

  /// Runs `task` on the loop's thread, soon. Any thread.
  void post(std::function<void()> task);
  /// Runs `task` on the loop's thread and waits for it. On the loop's thread, or after stop(), runs it at once. REQUIRES: the caller holds no lock that a handler takes.
  void run(const std::function<void()>& task);

  /// The calling thread is the loop's, which must not wait for what a socket is to bring. Any thread.
  bool is_inside() const noexcept { return runs_in_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

  static constexpr std::int64_t never = os::never;
  /// A timer. Its members are the loop's business.
  struct TimerId {
    std::int64_t when = 0;
    std::uint64_t number = 0;
    friend auto operator<=>(const TimerId&, const TimerId&) = default;
  };
  /// Runs `task` on the loop's thread once, when os::now_ns() has reached `when`, in the order of their times. Any thread. Dropped before start() and after stop(). While no timer
  /// waits, nothing wakes the loop.
  TimerId at(std::int64_t when, std::function<void()> task);
  /// Its task runs at this time instead, or, when it is running, once more; `never`: it is kept until it is moved again, or cancelled. Needs no memory. Any thread. Of one that
  /// has run, or was cancelled, nothing.
  TimerId move(TimerId timer, std::int64_t when) noexcept;
  /// It does not run any more; on another thread than the loop's, it may be running. Of one that ran, or was cancelled, nothing.
  void cancel(TimerId timer) noexcept;

  using WatchId = std::uint64_t;
  /// Any thread. The handler is held weakly: it may die at any time. `fd` must stay open until unwatch().
  WatchId watch(const os::Fd& fd, std::weak_ptr<Handler> handler);
  /// When the handler is to be told that it can write: when the socket says so, or after a short pause, as if the socket had said so.
  enum class Wake { never, when_writable, after_pause };
  void wake_writer(const os::Fd& fd, WatchId id, Wake when);
  void unwatch(const os::Fd& fd, WatchId id) noexcept;

 private:
  using Timers = std::map<TimerId, std::function<void()>>;

  void loop();
  void handle(const os::Poller::Event& event);
  TimerId arm_locked(std::int64_t when, std::function<void()> task);
  void insert_locked(Timers::node_type&& timer, TimerId as) noexcept;
  std::optional<std::int64_t> next_timer();
  void run_timers();
  void run_tasks();

  os::Poller poller_;
  os::Fd wake_;
  std::thread thread_;
  std::atomic<std::thread::id> runs_in_{};  // relaxed: a thread finds its own id, or not
  std::mutex mutex_;                        // guards what follows
  std::unordered_map<WatchId, std::weak_ptr<Handler>> handlers_;
  std::vector<std::function<void()>> tasks_;
  Timers timers_;
  std::uint64_t next_timer_ = 1;
  std::uint64_t running_timer_ = 0;  // its number; 0: none
  std::optional<TimerId> again_;     // it was moved meanwhile
  WatchId next_id_ = 1;              // 0 is wake_
  bool running_ = false;
};

}  // namespace sinew::session
