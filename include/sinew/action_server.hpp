// Actions, the side that executes goals. The other one: sinew/action_client.hpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/action_messages.hpp"
#include "sinew/detail/action_core.hpp"
#include "sinew/publisher.hpp"
#include "sinew/service.hpp"

namespace sinew {

/// Whether a server accepts a goal.
struct Acceptance {
  static Acceptance yes() { return {}; }
  static Acceptance no(std::string why) { return {std::move(why)}; }
  std::optional<std::string> why_not = {};  ///< for people; nothing: it is accepted
};

template <class Goal>
struct ActionServerOptions {
  /// Asked for every goal that there is a place for, on the thread that is to execute it. Empty: all are accepted. An exception that leaves it rejects the goal with its text.
  std::function<Acceptance(const Goal&)> accept = {};
  /// How many goals are executed at a time, 1 to 1023, each on a thread of the server's own; further ones are rejected at once. Above 1 `execute` and `accept` must bear to be called side by side.
  std::uint32_t goals_at_a_time = 1;
};

/// A goal that is being executed. Valid during the call of `execute`; thread-safe.
template <class Goal, class Feedback>
class ServerGoal {
 public:
  const Goal& goal() const noexcept { return request_.goal; }
  const Goal* operator->() const noexcept { return &request_.goal; }
  const GoalId& id() const noexcept { return request_.id; }
  /// The name of the client's node.
  const std::string& client() const noexcept { return client_; }

  /// Tells how it gets on: the client, and whoever subscribes to the topic. Never waits for them: who is 64 messages of the server behind loses the oldest, who connects late gets the newest 8. By pointer within the process,
  /// for others copied once.
  PublishResult feedback(Feedback feedback) {
    return server_.number([&](std::uint64_t number) {
      const PublishResult result = publisher_.publish(
          std::make_unique<ActionFeedback<Feedback>>(ActionFeedback<Feedback>{id(), server_.id(), number, std::move(feedback)}));
      if (result == PublishResult::published) last_.store(number, std::memory_order_relaxed);
      return result;
    });
  }

  /// True when `execute` is to come to its end and return what it has: somebody has asked to cancel the goal, its client has gone, or the server or its node is being destroyed. Ask now and then, and only where you can
  /// still give up: once this was true the goal counts as cancelled when it returns, and as succeeded when it returns before; when it throws it is aborted in either case.
  bool accept_cancel() noexcept {
    if (server_.is_cancelled(*place_) || is_given_up_()) has_accepted_.store(true, std::memory_order_relaxed);
    return has_accepted_.load(std::memory_order_relaxed);
  }

  /// For the library.
  ServerGoal(detail::ActionServerCore& server, Publisher<ActionFeedback<Feedback>>& publisher, const ActionGoal<Goal>& request,
             const std::string& client, std::function<bool()> is_given_up)
      : server_(server),
        publisher_(publisher),
        request_(request),
        client_(client),
        is_given_up_(std::move(is_given_up)),
        place_(server.add(request.id, request.sent_at, why_no_place_)) {}
  ~ServerGoal() {
    if (place_) server_.end(*place_, state_);
  }

  template <class Result, class Execute>
  GoalResult<Result> run(const std::function<Acceptance(const Goal&)>& accept, Execute& execute) {
    GoalResult<Result> done{.server = server_.id(), .result = {}, .text = std::move(why_no_place_)};
    try {
      Acceptance acceptance;
      if (place_ && accept) acceptance = accept(goal());
      if (acceptance.why_not) {
        done.text = std::move(*acceptance.why_not);
      } else if (place_) {
        state_ = GoalState::aborted;
        server_.begin(*place_);
        if (server_.is_cancelled(*place_)) {
          done.text = "cancelled before it was executed";
          has_accepted_.store(true, std::memory_order_relaxed);
        } else {
          done.result = execute(*this);
        }
        state_ = has_accepted_.load(std::memory_order_relaxed) ? GoalState::cancelled : GoalState::succeeded;
      }
    } catch (const std::exception& error) {
      done.text = error.what();
    } catch (...) {
      done.text = "what it threw is no std::exception";
    }
    done.state = state_;
    done.last_feedback = last_.load(std::memory_order_relaxed);
    done.ended_at = detail::monotonic_ns();
    return done;
  }

 private:
  detail::ActionServerCore& server_;
  Publisher<ActionFeedback<Feedback>>& publisher_;
  const ActionGoal<Goal>& request_;
  const std::string& client_;
  const std::function<bool()> is_given_up_;
  std::string why_no_place_;
  detail::ActionServerCore::Goal* const place_;  // null: there was none
  GoalState state_ = GoalState::rejected;
  // relaxed: numbers of this goal alone; threads that `execute` made have ended, or come too late, when it returns
  std::atomic<bool> has_accepted_{false};
  std::atomic<std::uint64_t> last_{0};  // number of its feedback
};

/// Made by Node::create_action_server. Thread-safe. When it is destroyed, goals that are executed are to end (accept_cancel()); it waits for them, but for one that destroys it, and their results are sent. Goals that were not begun are rejected, lost, or executed by another server.
template <class Goal, class Feedback, class Result>
class ActionServer {
 public:
  const std::string& action() const noexcept { return core_->action(); }

  /// For Node::create_action_server.
  template <class N, class Execute>
  ActionServer(N& node, const std::string& action, Execute execute, const ActionServerOptions<Goal>& options)
      : core_(std::make_shared<detail::ActionServerCore>(node, action, options.goals_at_a_time)) {
    auto publisher =
        node.template create_publisher<ActionFeedback<Feedback>>(detail::part_of_action(action, "feedback"), detail::qos_of_action(8));
    goals_ = node.template create_service_provider<ActionGoal<Goal>, GoalResult<Result>>(
        detail::part_of_action(action, "goal"),
        [core = core_, publisher, accept = options.accept, execute = std::move(execute)](
            const ActionGoal<Goal>& request, ServiceCall<GoalResult<Result>>& call) mutable -> GoalResult<Result> {
          ServerGoal<Goal, Feedback> goal(*core, *publisher, request, call.client(), [&call] { return call.cancelled(); });
          return goal.template run<Result>(accept, execute);
        },
        // One more than that, to reject what comes meanwhile.
        {.execution_thread = detail::action_thread, .parallel = options.goals_at_a_time + 1, .at_most_once = true});
  }
  ~ActionServer() { core_->close(); }
  ActionServer(const ActionServer&) = delete;
  ActionServer& operator=(const ActionServer&) = delete;

 private:
  const std::shared_ptr<detail::ActionServerCore> core_;
  std::shared_ptr<ServiceProvider<ActionGoal<Goal>, GoalResult<Result>>> goals_;  // goes first
};

}  // namespace sinew
