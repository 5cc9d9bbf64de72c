// The one thread of a worker that does not have sinew's: calls what is due, and those who wait for a descriptor.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sinew::bench::graphs {

class Reactor {
 public:
  /// `after_all` is called after everything else of a round.
  explicit Reactor(std::function<void()> after_all = {});
  Reactor(const Reactor&) = delete;
  Reactor& operator=(const Reactor&) = delete;
  /// Nothing is called any more.
  ~Reactor();

  /// Calls `handler` whenever the descriptor is readable. Throws std::system_error.
  void watch(int descriptor, std::function<void()> handler);
  /// Calls `tick` every `period`, at absolute times (now_ns()), from `first` on.
  void every(std::int64_t first, std::int64_t period, std::function<void()> tick);

 private:
  struct Tick {
    std::int64_t due, period;
    std::function<void()> call;
  };

  void wake();
  void run();

  const std::function<void()> after_all_;
  const int epoll_, wake_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<Tick> new_ticks_;                 // guarded by mutex_
  std::deque<std::function<void()>> handlers_;  // likewise; epoll has their addresses
  std::thread thread_;                          // last: it uses all of the above
};

}  // namespace sinew::bench::graphs
