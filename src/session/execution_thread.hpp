// The thread that runs a node's callbacks, and the doorbell by which publishers wake it.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "os/event.hpp"
#include "os/fd.hpp"
#include "os/memory.hpp"
#include "session/mappings.hpp"
#include "session/runnable.hpp"
#include "shm/bell.hpp"

namespace sinew::session {

/// A bell page of one word, sealed for readers, and the eventfd that goes with it.
class Doorbell {
 public:
  Doorbell();
  const os::Fd& page() const noexcept { return page_fd_; }
  std::size_t page_size() const noexcept { return mapping_->size(); }
  const os::Fd& eventfd() const noexcept { return eventfd_; }
  const shm::BellWord& word() const noexcept;
  void ring() noexcept { os::ring(eventfd_.get()); }
  shm::Sleeper& sleeper() noexcept { return sleeper_; }

 private:
  os::Fd page_fd_;
  SharedMapping mapping_;
  os::Fd eventfd_;
  shm::Sleeper sleeper_;
};

/// Runs the callbacks of a node, one at a time; messages in the order of arrival per publisher. Sleeps, without a timer, while nothing is there.
class ExecutionThread : public std::enable_shared_from_this<ExecutionThread> {
 public:
  /// `spin`: how long the thread looks for new messages without sleeping after it ran out of them.
  explicit ExecutionThread(std::chrono::nanoseconds spin) : spin_(spin) {}

  void start(const std::string& thread_name);
  /// No callback runs after this returns, except the one that this is called from.
  void stop();

  Doorbell& doorbell() noexcept { return doorbell_; }
  void add(const std::shared_ptr<Runnable>& runnable);
  void remove(const std::shared_ptr<Runnable>& runnable);
  /// Makes the thread look at everything again. Any thread.
  void wake() noexcept;

 private:
  using List = std::vector<std::shared_ptr<Runnable>>;

  void loop();
  bool run_all(const List& list);
  bool has_news(const List& list) const;
  bool spin(const List& list, std::uint64_t seen_wakes) const;

  const std::chrono::nanoseconds spin_;
  Doorbell doorbell_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> wakes_{0};  // counts wake(): tells the loop to look again whatever the rings say
  std::mutex mutex_;
  List list_;  // guarded by mutex_
};

}  // namespace sinew::session
