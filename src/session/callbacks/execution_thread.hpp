// Where callbacks run that must not overlap, and the doorbell by which publishers wake it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "os/event.hpp"
#include "os/fd.hpp"
#include "os/memory.hpp"
#include "session/callbacks/runnable.hpp"
#include "session/mappings.hpp"
#include "shm/bell.hpp"
#include "sinew/thread_options.hpp"

namespace sinew::session {

class PeriodicTimer;
class Turn;

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

/// Runs callbacks, one at a time; messages in the order of arrival per publisher. Sleeps while nothing is there, at most until the next timer is due. Either a thread of its own does it,
/// see start(), or whoever calls spin() or dispatch().
class ExecutionThread : public std::enable_shared_from_this<ExecutionThread> {
 public:
  explicit ExecutionThread(ThreadOptions options) : options_(std::move(options)) {}

  /// Has a thread of its own from now on. Once. Throws Error(exhausted).
  void start();
  /// Ends that thread, or the spin() that runs. No callback runs after this returns, except the one that this is called from.
  void stop();

  // Without a thread of its own. One call at a time, others wait. REQUIRES: not in a callback of this, see is_inside().
  /// Runs callbacks until leave() was called: each call ends one of these. After stop() they end at once.
  void spin();
  /// Runs what is due, and returns; before that when `is_over`, asked between callbacks, says so. It may be empty, and must not throw. `only_of` as of a Turn.
  void dispatch(const std::function<bool()>& is_over = {}, std::optional<std::int64_t> only_of = {});
  /// Readable when dispatch() is to be called. Throws Error(exhausted).
  int descriptor();
  /// Async-signal-safe.
  void leave() noexcept;
  /// The caller is in a callback that this runs.
  bool is_inside() const noexcept { return runs_in_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

  Doorbell& doorbell() noexcept { return doorbell_; }
  void add(const std::shared_ptr<Runnable>& runnable);
  void add(const std::shared_ptr<PeriodicTimer>& timer);
  void remove(const std::shared_ptr<Runnable>& runnable) noexcept;
  void remove(const std::shared_ptr<PeriodicTimer>& timer) noexcept;
  /// Makes the thread look at everything again. Any thread.
  void wake() noexcept;

 private:
  struct Lists {
    std::vector<std::shared_ptr<Runnable>> runnables;
    std::vector<std::shared_ptr<PeriodicTimer>> timers;
  };
  /// As long as it lives the calling thread is the one that runs callbacks.
  class Running;

  bool takes_leave() noexcept;
  void changed() noexcept;
  void let_go_of_removed() noexcept;
  void run_once(const std::function<bool()>& is_over, std::optional<std::int64_t> only_of);
  /// False when there was no memory: the lists are those of before.
  bool refresh() noexcept;
  bool run_all(Turn turn) noexcept;
  void run_due_timers(const Turn& turn) noexcept;
  // sync: WAKES (with wake)
  bool has_changed() const noexcept { return wakes_.load(std::memory_order_seq_cst) != seen_wakes_; }
  bool has_news() const noexcept;
  std::int64_t next_timer() const noexcept;
  bool spin_for_news(const std::atomic<bool>& end) const noexcept;
  void run_until(const std::atomic<bool>& end) noexcept;

  const std::string& name() const noexcept { return options_.name; }
  void set_up_this_thread() const;

  const ThreadOptions options_;
  Doorbell doorbell_;
  std::thread thread_;
  // pair STOP: who ends sees what was done before it was told to; it is rung afterwards, however it sleeps.
  std::atomic<bool> stopping_{false}, leaving_{false};
  // relaxed: counted before leaving_ says so, and read behind it, which is only exchanged so that whoever sees the last call sees all
  std::atomic<unsigned> leaves_{0};  // calls of leave() that no spin() has ended for
  // pair WAKES seq_cst: it changes, then running_ is tried; running_ is unlocked, then it is looked at (let_go_of_removed()).
  std::atomic<std::uint64_t> wakes_{0};  // counts wake(): tells the loop to look again whatever the rings say

  std::mutex running_;                      // held by who runs callbacks, or looks at what follows; taken before mutex_
  std::atomic<std::thread::id> runs_in_{};  // relaxed: a thread finds its own id, or not
  Lists seen_;
  std::uint64_t seen_wakes_ = ~std::uint64_t{0};
  struct Descriptor {
    os::Poller poller;
    os::Fd alarm;
  };
  std::optional<Descriptor> descriptor_;

  std::mutex mutex_;
  Lists lists_;  // guarded by mutex_
};

}  // namespace sinew::session
