#include "sinew/detail/action_core.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <exception>
#include <utility>

#include "api/options.hpp"
#include "base/call_back.hpp"
#include "base/cancel.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "shm/scope.hpp"
#include "sinew/node.hpp"
#include "wire/names.hpp"

namespace sinew::detail {
namespace {

constexpr std::uint32_t most_goals = 1023;  // a service's provider has one thread more
constexpr std::size_t ended_shown = 16;
constexpr std::chrono::milliseconds patience{500};

std::string checked(const std::string& action) {
  require_name(wire::Named::action, action);
  return action;
}

std::uint32_t checked(const std::string& action, std::uint32_t goals_at_a_time) {
  if (goals_at_a_time > 0 && goals_at_a_time <= most_goals) return goals_at_a_time;
  throw Error(ErrorKind::invalid_argument, "action '" + action + "': goals_at_a_time = " + std::to_string(goals_at_a_time) +
                                               " is out of range, 1 to " + std::to_string(most_goals));
}

}  // namespace

// --- server ------------------------------------------------------------------------------------------------------------------------------

ActionServerCore::ActionServerCore(Node& node, const std::string& action, std::uint32_t goals_at_a_time)
    : action_(checked(action)),
      goals_at_a_time_(checked(action, goals_at_a_time)),
      id_(base::random_number()),
      node_(node.weak_from_this()),
      status_(node.create_publisher<ActionStatus>(part_of_action(action, "status"), qos_of_action(1))),
      cancels_(node.create_subscriber<ActionCancel>(part_of_action(action, "cancel"), [this](const ActionCancel& wish) { cancel(wish); },
                                                    qos_of_action(wishes_kept), {.execution_thread = action_thread})) {}

void ActionServerCore::publish_locked() noexcept {
  try {
    ActionStatus all;
    for (const std::list<Goal>* const goals : {&ended_, &goals_}) {
      for (const Goal& goal : *goals) {
        if (goal.status.accepted_at != 0) all.goals.push_back(goal.status);
      }
    }
    // One that is not published, which the publisher's statistics count, is with the next change.
    status_->publish(all);
  } catch (const std::exception& error) {
    base::log(base::LogLevel::error, error.what());  // likewise
  }
}

void ActionServerCore::cancel(const ActionCancel& wish) {
  const bool all = wish.id == GoalId{};
  bool any = false;
  const std::lock_guard lock(mutex_);
  if (all) all_cancelled_until_ = std::max(all_cancelled_until_, std::min(wish.sent_at, monotonic_ns()));
  for (Goal& goal : goals_) {
    if (all ? goal.sent_at > all_cancelled_until_ : goal.status.id != wish.id) continue;
    any = true;
    goal.is_cancelled.store(true, std::memory_order_relaxed);
    goal.status.state = GoalState::cancelling;
  }
  if (any) return publish_locked();
  if (!all) early_[wishes_++ % early_.size()] = wish.id;
}

ActionServerCore::Goal* ActionServerCore::add(const GoalId& id, std::int64_t sent_at, std::string& why_not) {
  const std::lock_guard lock(mutex_);
  const bool is_unwanted = std::ranges::find(early_, id) != early_.end() || sent_at <= all_cancelled_until_;
  if (is_closing_.load(std::memory_order_relaxed) || goals_.size() >= goals_at_a_time_) {
    why_not = "action '" + action_ + "': the server is " +
              (is_closing_.load(std::memory_order_relaxed)
                   ? "being destroyed"
                   : "busy: it executes " + std::to_string(goals_at_a_time_) + " at a time (goals_at_a_time)");
    return nullptr;
  }
  Goal& goal = goals_.emplace_back();
  goal.status.id = id;
  goal.sent_at = sent_at;
  goal.is_cancelled.store(is_unwanted, std::memory_order_relaxed);
  return &goal;
}

std::list<ActionServerCore::Goal>::iterator ActionServerCore::place_of_locked(const Goal& goal) {
  return std::ranges::find_if(goals_, [&](const Goal& each) { return &each == &goal; });
}

void ActionServerCore::begin(Goal& goal) {
  if (PublisherCore::in_forked_child()) return;  // whoever had the mutex is not there any more; so elsewhere
  const std::lock_guard lock(mutex_);
  goals_.splice(goals_.end(), goals_, place_of_locked(goal));
  goal.status.accepted_at = monotonic_ns();
  publish_locked();
}

void ActionServerCore::end(Goal& goal, GoalState state) noexcept {
  if (PublisherCore::in_forked_child()) return;
  const std::lock_guard lock(mutex_);
  goal.status.state = state;
  ended_.splice(ended_.end(), goals_, place_of_locked(goal));
  if (goal.status.accepted_at == 0) return ended_.pop_back();
  if (ended_.size() > ended_shown) ended_.pop_front();
  publish_locked();
}

// --- client ------------------------------------------------------------------------------------------------------------------------------

ActionClientCore::ActionClientCore(Node& node, const std::string& action)
    : action_(checked(action)),
      cancels_(node.create_publisher<ActionCancel>(part_of_action(action, "cancel"), qos_of_action(wishes_kept))),
      status_(node.create_subscriber<ActionStatus>(part_of_action(action, "status"),
                                                   [this](const ActionStatus& status) {
                                                     const std::lock_guard lock(mutex_);
                                                     for (const GoalStatus& each : status.goals) {
                                                       if (const auto found = goals_.find(each.id); found != goals_.end())
                                                         accept_locked(*found->second, true);
                                                     }
                                                   },
                                                   qos_of_action(1), {.execution_thread = action_thread})) {}

void ActionClientCore::accept_locked(SentGoal& goal, bool is_accepted) {
  if (!std::exchange(goal.is_accepted, true)) goal.accepted.set_value(is_accepted);
}

std::shared_ptr<SentGoal> ActionClientCore::add(std::function<void(const void*)> feedback) {
  if (PublisherCore::in_forked_child()) {
    throw ServiceError(ServiceError::Kind::disconnected, "this process was forked from the client's");
  }
  const shm::HeapScope heap;
  const auto goal = std::make_shared<SentGoal>();
  goal->id = std::bit_cast<GoalId>(std::array{base::random_number(), base::random_number()});
  goal->feedback = std::move(feedback);
  const std::lock_guard lock(mutex_);
  goals_.emplace(goal->id, goal);
  return goal;
}

// Another callback's thread is there only where that one destroys the client, and so calls back what is left, or waits for who does. False in a child that the callback has forked.
template <class Callback>
bool ActionClientCore::run(std::unique_lock<std::mutex>& lock, SentGoal& goal, const Callback& callback) {
  const std::thread::id before = std::exchange(goal.runs_in, std::this_thread::get_id());
  lock.unlock();
  base::call_back(callback);
  if (PublisherCore::in_forked_child()) return false;
  lock.lock();
  goal.runs_in = before;
  changed_.notify_all();
  return true;
}

void ActionClientCore::call_with_feedback(const GoalId& id, std::uint64_t server, std::uint64_t number, const void* feedback) {
  std::shared_ptr<SentGoal> goal;  // goes without the lock, with what the user keeps in its callback
  std::unique_lock lock(mutex_);
  if (const auto found = goals_.find(id); found != goals_.end()) goal = found->second;
  if (goal) accept_locked(*goal, true);
  const auto callback = [&] { goal->feedback(feedback); };
  if (goal && goal->feedback && !goal->is_dropped && recall_ && !run(lock, *goal, callback)) return;
  if (goal) goal->seen = number;
  seen_[server % seen_.size()] = {server, number};
  changed_.notify_all();
}

void ActionClientCore::end(SentGoal& goal, GoalState state, std::uint64_t server, std::uint64_t number, std::int64_t ended_at) {
  std::unique_lock lock(mutex_);
  const auto& newest = seen_[server % seen_.size()];
  const auto has_seen = [&] { return goal.seen >= number || (newest.first == server && newest.second >= number); };
  // From its end on, so that the waits of several goals do not add up.
  const std::chrono::nanoseconds since(std::min(ended_at, monotonic_ns()));
  const std::chrono::steady_clock::time_point until(since + patience);
  if (goal.feedback && number != 0) changed_.wait_until(lock, until, [&] { return !recall_ || goal.is_dropped || has_seen(); });
  goals_.erase(goal.id);
  accept_locked(goal, state != GoalState::rejected);
}

void ActionClientCore::fail(SentGoal& goal, const ServiceError& error) {
  const std::lock_guard lock(mutex_);
  goals_.erase(goal.id);
  if (!std::exchange(goal.is_accepted, true)) end_with(goal.accepted, error);
}

void ActionClientCore::call(SentGoal& goal, const std::function<void()>& callback) {
  std::unique_lock lock(mutex_);
  // Where the running one destroys the client, or the handle, it waits for this.
  changed_.wait(lock, [&] { return goal.is_dropped || goal.runs_in == std::thread::id{} || (!recall_ && goal.runs_in == closer_); });
  if (!goal.is_dropped) run(lock, goal, callback);
}

void ActionClientCore::drop(SentGoal& goal) {
  if (PublisherCore::in_forked_child()) return;
  const base::Uncancellable whole;
  std::unique_lock lock(mutex_);
  goal.is_dropped = true;
  if (goal.call.load(std::memory_order_relaxed) == 0) goals_.erase(goal.id);
  changed_.notify_all();
  changed_.wait(lock, [&] { return goal.runs_in == std::thread::id{} || goal.runs_in == std::this_thread::get_id(); });
}

PublishResult ActionClientCore::cancel(const GoalId& id, const SentGoal* goal) {
  if (id == GoalId{}) return PublishResult::invalid;
  if (PublisherCore::in_forked_child()) return PublishResult::closed;
  std::unique_lock lock(mutex_);
  if (goal && recall_ && recall_(goal->call.load(std::memory_order_relaxed))) return PublishResult::published;
  return wish(lock, id);
}

PublishResult ActionClientCore::cancel_all() {
  if (PublisherCore::in_forked_child()) return PublishResult::closed;
  std::unique_lock lock(mutex_);
  return wish(lock, GoalId{});
}

PublishResult ActionClientCore::wish(std::unique_lock<std::mutex>& lock, const GoalId& id) {
  const auto cancels = cancels_;
  lock.unlock();
  return cancels ? cancels->publish({id, monotonic_ns()}) : PublishResult::closed;
}

void ActionClientCore::close() {
  if (PublisherCore::in_forked_child()) return;
  std::shared_ptr<Publisher<ActionCancel>> cancels;
  std::shared_ptr<Subscriber<ActionStatus>> status;
  const std::lock_guard lock(mutex_);
  recall_ = {};
  closer_ = std::this_thread::get_id();
  cancels.swap(cancels_);
  status.swap(status_);
  changed_.notify_all();
}

}  // namespace sinew::detail
