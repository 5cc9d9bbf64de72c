// The parts of actions that do not depend on the message types. Not for direct use.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "sinew/action_messages.hpp"
#include "sinew/error.hpp"
#include "sinew/executor.hpp"
#include "sinew/publisher.hpp"
#include "sinew/qos.hpp"
#include "sinew/service_error.hpp"
#include "sinew/subscriber.hpp"

namespace sinew::detail {

/// Where goals, their status and wishes to cancel them are received. No code of the user's runs there, so these can be waited for anywhere.
inline constexpr ThreadId action_thread = 1023;
inline constexpr std::uint32_t wishes_kept = 512;

/// The service or topic of an action.
inline std::string part_of_action(const std::string& action, const char* part) {
  return action + "/_action/" + part;
}
inline std::int64_t monotonic_ns() noexcept {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}
constexpr Qos qos_of_action(std::uint32_t depth) noexcept {
  return Qos{}.reliable().transient_local().keep_last(depth);
}

/// The goals of a server. Thread-safe. Invariant: the status that was published last is how things stand, if there was memory for it.
class SINEW_API ActionServerCore {
 public:
  struct Goal {
    GoalStatus status;  // `accepted_at` 0: not yet, and not shown
    std::int64_t sent_at = 0;
    std::atomic<bool> is_cancelled{false};  // relaxed: looked at now and then, and nothing else with it
  };
  ActionServerCore(Node& node, const std::string& action, std::uint32_t goals_at_a_time);
  const std::string& action() const noexcept { return action_; }
  /// Takes a place for it. Null when there is none, and why.
  Goal* add(const GoalId& id, std::int64_t sent_at, std::string& why_not);
  void begin(Goal& goal);
  /// Gives its place back.
  void end(Goal& goal, GoalState state) noexcept;
  bool is_cancelled(const Goal& goal) const noexcept {
    return goal.is_cancelled.load(std::memory_order_relaxed) || is_closing_.load(std::memory_order_relaxed) || node_.expired();
  }
  std::uint64_t id() const noexcept { return id_; }
  /// Feedback is published in the order of its numbers.
  template <class Publish>
  PublishResult number(Publish publish) {
    if (PublisherCore::in_forked_child()) return PublishResult::closed;
    const std::lock_guard lock(numbering_);
    const PublishResult result = publish(feedbacks_ + 1);
    if (result == PublishResult::published) ++feedbacks_;
    return result;
  }
  void close() noexcept { is_closing_.store(true, std::memory_order_relaxed); }

 private:
  void publish_locked() noexcept;
  std::list<Goal>::iterator place_of_locked(const Goal& goal);
  void cancel(const ActionCancel& wish);

  const std::string action_;
  const std::uint32_t goals_at_a_time_;
  const std::uint64_t id_;
  const std::weak_ptr<Node> node_;
  std::atomic<bool> is_closing_{false};  // relaxed: as is_cancelled
  std::mutex numbering_;                 // as the next, taken before those of publishers
  std::uint64_t feedbacks_ = 0;
  std::mutex mutex_;  // guards what follows
  std::list<Goal> goals_, ended_;
  std::array<GoalId, wishes_kept> early_{};  // cancelled, and not known: perhaps yet to come
  std::size_t wishes_ = 0;                   // that were put there
  std::int64_t all_cancelled_until_ = 0;
  const std::shared_ptr<Publisher<ActionStatus>> status_;
  const std::shared_ptr<Subscriber<ActionCancel>> cancels_;  // last: its callback uses the rest
};

/// A goal as its client knows it. Guarded by the client's mutex but for what is constant once it was sent.
struct SentGoal {
  GoalId id{};
  std::function<void(const void*)> feedback;  // empty: it is not wanted; constant
  // Of the service; 0: it has not been made. relaxed: a number, which the service's client looks up under its mutex
  std::atomic<std::uint64_t> call{0};
  std::promise<bool> accepted;
  bool is_accepted = false;  // or known not to be
  bool is_dropped = false;   // its handle is no more
  std::thread::id runs_in;   // of a callback
  std::uint64_t seen = 0;    // number of its last feedback that was received
};

/// The goals that a client has sent. Thread-safe. Invariant: callbacks of one goal never overlap, and none begins when its handle is gone: `runs_in` is set under the lock under which both is looked at.
class SINEW_API ActionClientCore {
 public:
  ActionClientCore(Node& node, const std::string& action);
  const std::string& action() const noexcept { return action_; }
  /// `recall` takes a call of the service back when no server has it, and says whether.
  void open(std::function<bool(std::uint64_t call)> recall) { recall_ = std::move(recall); }
  std::shared_ptr<SentGoal> add(std::function<void(const void*)> feedback);
  void call_with_feedback(const GoalId& id, std::uint64_t server, std::uint64_t number, const void* feedback);
  /// Waits for the server's feedback up to this number, until half a second after the goal's end at most.
  void end(SentGoal& goal, GoalState state, std::uint64_t server, std::uint64_t number, std::int64_t ended_at);
  void fail(SentGoal& goal, const ServiceError& error);
  /// Waits for a running callback of the goal.
  void call(SentGoal& goal, const std::function<void()>& callback);
  /// Waits for a running callback, unless called from it.
  void drop(SentGoal& goal);
  /// Of the id alone: a goal that may be anybody's. `invalid` for zeros, which would be all of them.
  PublishResult cancel(const GoalId& id, const SentGoal* goal = nullptr);
  PublishResult cancel_all();
  void close();

 private:
  void accept_locked(SentGoal& goal, bool is_accepted);
  PublishResult wish(std::unique_lock<std::mutex>& lock, const GoalId& id);
  template <class Callback>
  bool run(std::unique_lock<std::mutex>& lock, SentGoal& goal, const Callback& callback);

  const std::string action_;
  std::mutex mutex_;  // guards what follows; taken before those of the service's client
  std::condition_variable changed_;
  std::map<GoalId, std::shared_ptr<SentGoal>> goals_;  // that have not ended
  std::array<std::pair<std::uint64_t, std::uint64_t>, 64>
      seen_{};                                 // a server, and the number of its last feedback; of two in one place, the later
  std::function<bool(std::uint64_t)> recall_;  // empty: it is closed
  std::thread::id closer_;                     // by whom
  std::shared_ptr<Publisher<ActionCancel>> cancels_;
  std::shared_ptr<Subscriber<ActionStatus>> status_;  // last: its callback uses the rest
};

}  // namespace sinew::detail
