// The thread of a node that handles its control sockets. It never runs user code and never waits for anything but its descriptors.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

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

  using WatchId = std::uint64_t;
  /// Any thread. The handler is held weakly: it may die at any time. `fd` must stay open until unwatch().
  WatchId watch(const os::Fd& fd, std::weak_ptr<Handler> handler);
  /// When the handler is to be told that it can write: when the socket says so, or after a short pause, as if the socket had said so.
  enum class Wake { never, when_writable, after_pause };
  void wake_writer(const os::Fd& fd, WatchId id, Wake when);
  void unwatch(const os::Fd& fd, WatchId id) noexcept;

 private:
  void loop();
  void handle(const os::Poller::Event& event);
  std::optional<std::int64_t> next_pause_end();
  void end_pauses();
  void run_tasks();

  os::Poller poller_;
  os::Fd wake_;
  std::thread thread_;
  std::mutex mutex_;  // guards what follows
  std::unordered_map<WatchId, std::weak_ptr<Handler>> handlers_;
  std::vector<std::function<void()>> tasks_;
  std::vector<WatchId> paused_;
  std::optional<std::int64_t> pause_end_;  // while somebody is paused: there is no timer else
  WatchId next_id_ = 1;                    // 0 is wake_
  bool running_ = false;
};

}  // namespace sinew::session
