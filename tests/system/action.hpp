// The action of the system tests, and a server of it in a process of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sinew/sinew.hpp"
#include "tests/system/harness.hpp"

namespace sinew::system {

struct Move {
  struct Goal {
    std::uint64_t number = 0;
    std::uint64_t steps = 0;  ///< and as many messages of feedback
    std::string
        what;  ///< "count"; "say" (counts, and says so); "wait" (until it is cancelled); "hold" (for the order "go on"); "throw TEXT"; "no TEXT" (is rejected)
  };
  struct Feedback {
    std::uint64_t number = 0;
    std::uint64_t step = 0;
    std::vector<std::uint64_t> all;
  };
  struct Result {
    std::uint64_t number = 0;
    std::uint64_t steps = 0;
    std::string server;
    std::vector<std::uint64_t> all;
  };
};
using MoveGoal = ServerGoal<Move::Goal, Move::Feedback>;
using MoveServer = ActionServer<Move::Goal, Move::Feedback, Move::Result>;
using MoveClient = ActionClient<Move::Goal, Move::Feedback, Move::Result>;
using MoveHandle = GoalHandle<Move::Result>;

inline std::shared_ptr<MoveClient> create_move_client(Node& node, const ActionClientOptions& options = {}) {
  return node.create_action_client<Move::Goal, Move::Feedback, Move::Result>("move", options);
}
template <class Execute>
std::shared_ptr<MoveServer> create_move_server(Node& node, Execute execute, const ActionServerOptions<Move::Goal>& options = {}) {
  return node.create_action_server<Move::Goal, Move::Feedback, Move::Result>("move", std::move(execute), options);
}

/// All steps of "count".
inline Move::Result counted(MoveGoal& goal, const std::string& server = "here") {
  Move::Result result{.number = goal->number, .server = server, .all = {}};
  while (result.steps < goal->steps) {
    result.all.push_back(++result.steps);
    const PublishResult published = goal.feedback({.number = goal->number, .step = result.steps, .all = result.all});
    require(published == PublishResult::published, "feedback is not published");
  }
  return result;
}
inline Move::Result counted_here(MoveGoal& goal) {
  return counted(goal);
}
/// Until it is cancelled, with feedback all the time.
inline Move::Result waited(MoveGoal& goal) {
  const auto is_cancelled = [&] {
    goal.feedback({.number = goal->number, .step = 0, .all = {}});
    return goal.accept_cancel();
  };
  require(eventually(is_cancelled), "it is not cancelled");
  return {.number = goal->number, .steps = 1, .server = "cancelled", .all = {}};
}

/// A server of "move" in a process of its own, which is ready. It says "NUMBER waits", "NUMBER cancelled", "NUMBER holds", "NUMBER of CLIENT". Options: "at_a_time=N", "stranger" (another user's). Orders: "go on", for one goal
/// that holds; "quit" destroys the server, which then says "gone".
Child mover(const std::string& name, const std::string& options = "", const Child::Environment& environment = {});

inline void await_servers(const MoveClient& client, std::uint64_t count) {
  require(eventually([&] { return client.servers() == count; }), "the servers do not come, or do not go");
}

/// What the goal ends with: its state in words, or the kind of its error.
inline std::string end_of(const MoveHandle& goal) {
  try {
    return to_string(goal.result().get()->state);
  } catch (const ServiceError& error) {
    switch (error.kind()) {
      case ServiceError::Kind::lost:
        return "lost";
      case ServiceError::Kind::cancelled:
        return "recalled";
      case ServiceError::Kind::disconnected:
        return "disconnected";
      default:
        return error.what();
    }
  }
}

/// Feedback as it comes.
class Steps {
 public:
  std::function<void(const Move::Feedback&)> of(std::uint64_t number) {
    return [this, number](const Move::Feedback& feedback) {
      const std::lock_guard lock(mutex_);
      if (feedback.number != number) ++strange_;
      if (feedback.all.size() != feedback.step) ++strange_;
      steps_.push_back(feedback.step);
    };
  }
  std::vector<std::uint64_t> seen() const {
    const std::lock_guard lock(mutex_);
    return steps_;
  }
  /// Of another goal, or not as they were published.
  int strange() const {
    const std::lock_guard lock(mutex_);
    return strange_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> steps_;
  int strange_ = 0;
};

}  // namespace sinew::system
