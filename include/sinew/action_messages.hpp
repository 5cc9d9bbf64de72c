// What goes over the service and the topics of an action (spec/actions.md).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sinew/detail/language.hpp"

namespace sinew {

/// Drawn by lot by the client that sends the goal. Zeros are no goal's.
using GoalId = std::array<std::uint8_t, 16>;

/// The numbers are those of ROS 2's GoalStatus, which has none for `rejected`; its ACCEPTED is never told here. A goal that is accepted is executed at once.
enum class GoalState : std::uint8_t {
  executing = 2,
  cancelling = 3,  ///< it is executed, and somebody has asked to cancel it
  succeeded = 4,
  cancelled = 5,
  aborted = 6,   ///< `execute` threw an exception
  rejected = 7,  ///< it was not executed; in a GoalResult only
};
constexpr const char* to_string(GoalState state) noexcept {
  constexpr std::array names = {"executing", "cancelling", "succeeded", "cancelled", "aborted", "rejected"};
  const auto index = static_cast<std::size_t>(state) - 2;
  return index < names.size() ? names[index] : "unknown";
}

/// What a goal ends with: the response to an ActionGoal.
template <class Result>
struct GoalResult {
  GoalState state = GoalState::rejected;
  std::uint64_t server = 0;         ///< as in its feedback
  std::uint64_t last_feedback = 0;  ///< number of the last one; 0: there was none
  std::int64_t ended_at = 0;        ///< nanoseconds of CLOCK_MONOTONIC, as Time; so all times here
  Result result;                    ///< what `execute` returned, if it did
  std::string text;                 ///< why it did not
};

/// On the topic `NAME/_action/status`, of each server: the goals that it executes, and the last 16 that ended, whenever something of it changes.
struct GoalStatus {
  GoalId id{};
  std::int64_t accepted_at = 0;
  GoalState state = GoalState::executing;
};
struct ActionStatus {
  std::vector<GoalStatus> goals;
};

/// On the topic `NAME/_action/cancel`: a wish.
struct ActionCancel {
  GoalId id{};  ///< zeros: all goals that were sent until then
  std::int64_t sent_at = 0;
};

/// A request of the service `NAME/_action/goal`.
template <class Goal>
struct ActionGoal {
  GoalId id{};
  std::int64_t sent_at = 0;
  Goal goal;
};

/// On the topic `NAME/_action/feedback`.
template <class Feedback>
struct ActionFeedback {
  GoalId id{};
  std::uint64_t server = 0;  ///< drawn by lot
  std::uint64_t number = 0;  ///< counted by the server, over all goals, from 1
  Feedback feedback;
};

}  // namespace sinew
