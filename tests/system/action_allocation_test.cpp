// Whatever allocation of the ordinary heap fails, in a client of an action or in a server: every goal ends once, with a result or an error, and the next one succeeds.
#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/sanitized.hpp"
#include "base/tests/heap.hpp"
#include "tests/system/action.hpp"

#if !SINEW_SANITIZED

namespace sinew::system {
namespace {

using Kind = ServiceError::Kind;

struct Ends {
  std::atomic<int> results{0};
  std::atomic<bool> is_right{false};
};

bool cancels(MoveHandle& goal) {
  try {
    return goal.cancel() == PublishResult::published;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// What becomes of a goal: "right", "short" (of memory), or what it should not.
std::string come_to(MoveClient& client, const std::string& what) {
  std::shared_ptr<Ends> ends;
  try {
    ends = std::make_shared<Ends>();
    auto goal = client.send_goal(
        {.number = 1, .steps = 3, .what = what}, [](const Move::Feedback&) {},
        [ends](const MoveClient::Outcome& outcome, const ServiceError*) {
          ends->is_right = outcome && (outcome->state == GoalState::succeeded || outcome->state == GoalState::cancelled);
          ++ends->results;
        });
    if (what == "wait" && !eventually([&] { return cancels(goal); })) return "not cancelled";
    // One that no server has waits for one: a connection may have been what there was no memory for.
    if (!eventually([&] { return ends->results > 0 || client.servers() == 0; })) return "no end";
    if (ends->results == 0) goal.cancel();
    const std::string end = end_of(goal);
    if (!eventually([&] { return ends->results > 0; })) return "not called back: " + end;
    return ends->results > 1 ? "called back twice" : ends->is_right ? "right" : "short";
  } catch (const std::bad_alloc&) {
    // It was not sent, or its handle could not be made.
  } catch (const std::system_error&) {
    // For want of a thread.
  }
  return ends && ends->results > 1 ? "called back twice" : "short";
}

class ActionAllocations : public Domain, public ::testing::WithParamInterface<const char*> {
 protected:
};

TEST_P(ActionAllocations, OfWhoSendsAGoalCostAtMostThatGoal) {
  auto node = Node::create("client");
  auto server =
      create_move_server(*node, [](MoveGoal& goal) { return goal->what == "wait" ? waited(goal) : counted(goal); }, {.goals_at_a_time = 4});
  auto client = create_move_client(*node);
  await_servers(*client, 1);
  for (int nth = 0; nth < 20'000; ++nth) {
    // What cancels a goal needs memory again at some time.
    const bool lasts = nth % 2 != 0 && GetParam() == std::string_view("count");
    lasts ? fail_allocations_from(nth / 2) : fail_allocation(nth / 2);
    const std::string end = come_to(*client, GetParam());
    const bool reached = allocation_has_failed();
    fail_no_allocation();
    EXPECT_TRUE(end == "right" || end == "short") << end << " at " << nth;
    EXPECT_EQ(come_to(*client, "count"), "right") << nth;
    EXPECT_EQ(client->servers(), 1u) << nth;
    if (!reached || HasFailure()) return;
  }
}

TEST_P(ActionAllocations, OfAProcessWithAClientAndAServerCostAtMostTheGoalsThatItHas) {
  auto node = Node::create("client");
  for (int nth = 0; nth < 10'000; ++nth) {
    auto server = create_move_server(*node, [](MoveGoal& goal) { return goal->what == "wait" ? waited(goal) : counted(goal); },
                                     {.goals_at_a_time = 4});
    auto client = create_move_client(*node);
    await_servers(*client, 1);
    fail_allocation_of_any_thread(nth);
    std::string end = "short";
    try {
      end = come_to(*client, GetParam());
    } catch (const std::bad_alloc&) {
      // Of this test's own.
    }
    const bool reached = allocation_of_any_thread_has_failed();
    EXPECT_TRUE(end == "right" || end == "short") << end << " at " << nth;
    // What has failed may have been the end of a connection.
    EXPECT_EQ(client->servers() == 0 ? "right" : come_to(*client, "count"), "right") << nth;
    if (!reached || HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(By, ActionAllocations, ::testing::Values("count", "wait"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace sinew::system

#endif
