// Actions: goals that take a while, tell how they get on, can be cancelled, and end with a result. Goal, Feedback and Result are messages.
//
//   auto server = node->create_action_server<Goal, Feedback, Result>("dock", [](sinew::ServerGoal<Goal, Feedback>& goal) {
//     Result result;
//     while (result.metres < goal->metres && !goal.accept_cancel()) goal.feedback({result.metres += drive()});
//     return result;
//   });
//   auto client = node->create_action_client<Goal, Feedback, Result>("dock");
//   auto goal = client->send_goal({.metres = 2}, [](const Feedback& feedback) { show(feedback.metres); });
//   auto result = goal.result().get();  // result->state, result->result.metres
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "sinew/action_messages.hpp"
#include "sinew/detail/action_core.hpp"
#include "sinew/service.hpp"
#include "sinew/subscriber.hpp"

namespace sinew {

struct ActionClientOptions {
  /// Which execution thread calls back with feedback, see Executor.
  ThreadId execution_thread = 0;
};

/// A goal that was sent. Thread-safe; copies are the same goal. When the last one is destroyed the goal goes on, and its callbacks are called no more: it waits for one that is running, unless it is destroyed by it.
/// Futures stay good. May outlive the client, and then does nothing.
///
/// What it tells can be waited for anywhere but in the callbacks of goals of the same client.
template <class Result>
class GoalHandle {
 public:
  using Outcome = std::shared_ptr<const GoalResult<Result>>;

  const GoalId& id() const noexcept { return goal_->id; }
  /// True as soon as a server has accepted it, false when it was rejected; throws as result() when neither will be known.
  const std::shared_future<bool>& accepted() const noexcept { return accepted_; }
  /// What it ended with, read where the server built it; while it is held it takes of the server's memory. Waits for a server as long as it takes.
  /// Throws ServiceError: lost, when the server that has it has gone or died; cancelled, when no server had it yet, or the client was destroyed; and as calls of services do.
  ///
  /// Feedback that was published before has been called back with before this is ready, or was lost. But where it does not come, or its execution thread is busy (as with waiting here), the result waits for it
  /// until half a second after the goal's end at most, and the client's results behind it with it; what comes later is dropped.
  const std::shared_future<Outcome>& result() const noexcept { return result_; }
  /// Asks to cancel it. What became of that is in the result: the server may have finished, or never look. A goal that no server has yet ends at once.
  /// Returns as ActionClient::cancel, and `published` for a goal that ended so.
  PublishResult cancel() { return core_->cancel(goal_->id, goal_.get()); }

  /// For ActionClient.
  GoalHandle(const std::shared_ptr<detail::ActionClientCore>& core, const std::shared_ptr<detail::SentGoal>& goal,
             std::shared_future<Outcome> result)
      : core_(core),
        goal_(goal.get(), [core, goal](detail::SentGoal* last) { core->drop(*last); }),
        accepted_(goal->accepted.get_future()),
        result_(std::move(result)) {}

 private:
  std::shared_ptr<detail::ActionClientCore> core_;
  std::shared_ptr<detail::SentGoal> goal_;
  std::shared_future<bool> accepted_;
  std::shared_future<Outcome> result_;
};

/// Made by Node::create_action_client. Thread-safe. When it is destroyed, which its callbacks may do, goals that have not ended fail with ServiceError::Kind::cancelled, and servers see them as cancelled. No callback is
/// called any more when the destructor has returned; elsewhere than in a callback it waits for one that is running. An exception that leaves a callback ends the program.
template <class Goal, class Feedback, class Result>
class ActionClient {
 public:
  using Outcome = typename GoalHandle<Result>::Outcome;

  /// Sends a goal to one of the servers that are connected, in turn, whether that is busy or not, or to the first one that comes; waits for none of them, as ServiceClient::call(). A server has at most 256 goals of a client at a time, one of another user 8;
  /// further ones wait here. Keep the handle: without it nothing is called back.
  ///
  /// Throws as ServiceClient::call, and ServiceError(disconnected) in a process that was forked from the client's.
  ///
  /// `on_feedback` is called with each message of feedback for this goal, in order. `on_result` is called when result() is ready, with what it has, or with null and the error, on a thread of the client's own. They do not
  /// overlap, so one that takes long holds up results of this client's goals.
  [[nodiscard]] GoalHandle<Result> send_goal(Goal goal, std::function<void(const Feedback&)> on_feedback = {},
                                             std::function<void(const Outcome&, const ServiceError*)> on_result = {}) {
    std::function<void(const void*)> typed;
    if (on_feedback) typed = [on_feedback = std::move(on_feedback)](const void* it) { on_feedback(*static_cast<const Feedback*>(it)); };
    const auto promise = std::make_shared<std::promise<Outcome>>();  // first, so that a failed call breaks no promise that has a future
    const std::shared_ptr<detail::SentGoal> sent = core_->add(std::move(typed));
    GoalHandle<Result> handle(core_, sent, promise->get_future().share());
    const std::uint64_t call = goals_->call(
        {sent->id, detail::monotonic_ns(), std::move(goal)},
        [core = core_, sent, promise, on_result = std::move(on_result)](const Outcome& outcome, const ServiceError* error) mutable {
          if (error) {
            core->fail(*sent, *error);
            detail::end_with(*promise, *error);
          } else {
            core->end(*sent, outcome->state, outcome->server, outcome->last_feedback, outcome->ended_at);
            promise->set_value(outcome);
          }
          const auto last = [&] { on_result(outcome, error); };
          if (on_result) core->call(*sent, std::ref(last));  // which needs no memory
        });
    sent->call.store(call, std::memory_order_relaxed);
    return handle;
  }

  /// Asks to cancel a goal that anybody has sent. What is returned became of the wish, not of the goal: `published` says that the servers will hear of it, whether one of them has the goal or none; `invalid` that these are zeros,
  /// which are no goal's (a GoalId{} that was never set), and that nobody was asked; the others are as of Publisher::publish.
  PublishResult cancel(const GoalId& goal) { return core_->cancel(goal); }
  /// Asks to cancel all goals of the action that anybody has sent until now, on all servers. Returns as cancel().
  PublishResult cancel_all() { return core_->cancel_all(); }

  /// How many are connected now.
  std::uint64_t servers() const { return goals_->statistics().providers; }
  const std::string& action() const noexcept { return core_->action(); }

  /// For Node::create_action_client.
  template <class N>
  ActionClient(N& node, const std::string& action, const ActionClientOptions& options)
      : core_(std::make_shared<detail::ActionClientCore>(node, action)),
        goals_(node.template create_service_client<ActionGoal<Goal>, GoalResult<Result>>(detail::part_of_action(action, "goal"))) {
    core_->open([goals = goals_.get()](std::uint64_t call) { return goals->recall(call); });
    feedback_ = node.template create_subscriber<ActionFeedback<Feedback>>(
        detail::part_of_action(action, "feedback"),
        [core = core_](const ActionFeedback<Feedback>& it) { core->call_with_feedback(it.id, it.server, it.number, &it.feedback); },
        detail::qos_of_action(64), {.execution_thread = options.execution_thread});
  }
  ~ActionClient() { core_->close(); }
  ActionClient(const ActionClient&) = delete;
  ActionClient& operator=(const ActionClient&) = delete;

 private:
  const std::shared_ptr<detail::ActionClientCore> core_;
  const std::shared_ptr<ServiceClient<ActionGoal<Goal>, GoalResult<Result>>> goals_;
  std::shared_ptr<Subscriber<ActionFeedback<Feedback>>> feedback_;  // goes first: what it calls is waited for
};

}  // namespace sinew
