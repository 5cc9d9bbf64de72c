// What a goal tells its client by and by, and what its result waits for.
#include <algorithm>
#include <future>
#include <numeric>
#include <thread>

#include "tests/system/action.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class ActionsTelling : public Domain {};

TEST_F(ActionsTelling, FeedbackReachesTheCallbackOfItsGoalInOrderAndNoOther) {
  Child server = mover("server", "at_a_time=8");
  std::vector<std::shared_ptr<Node>> nodes;
  std::vector<std::shared_ptr<MoveClient>> clients;
  for (const char* name : {"a", "b"}) {
    nodes.push_back(Node::create(name));
    clients.push_back(create_move_client(*nodes.back()));
  }
  for (int pass = 0; pass < rounds(20); ++pass) {
    std::array<Steps, 8> steps;
    std::vector<MoveHandle> goals;
    for (std::uint64_t number = 0; number < 8; ++number) {
      goals.push_back(clients[number % 2]->send_goal({.number = number, .steps = 100, .what = "count"}, steps[number].of(number)));
    }
    for (std::uint64_t number = 0; number < 8; ++number) {
      EXPECT_EQ(goals[number].result().get()->result.number, number);
      EXPECT_EQ(steps[number].strange(), 0);
      EXPECT_TRUE(std::ranges::is_sorted(steps[number].seen()));
    }
  }
  server.end();
}

TEST_F(ActionsTelling, TheResultIsCalledBackWithOnceAfterTheFeedbackAndSoIsAnError) {
  Child server = mover("server");
  auto node = Node::create("client");
  auto client = create_move_client(*node);
  // Until the feedback is connected, which a result does not wait for longer than half a second.
  EXPECT_TRUE(eventually([&] {
    Steps first;
    EXPECT_EQ(end_of(client->send_goal({.steps = 1, .what = "count"}, first.of(0))), "succeeded");
    return !first.seen().empty();
  }));
  Steps steps;
  std::promise<std::uint64_t> last;
  std::promise<ServiceError::Kind> error;
  const auto sent = std::chrono::steady_clock::now();
  auto goal = client->send_goal(
      {.number = 1, .steps = 20, .what = "count"}, steps.of(1), [&](const MoveClient::Outcome& outcome, const ServiceError* why) {
        last.set_value(outcome && !why && outcome->result.number == 1 && !steps.seen().empty() ? steps.seen().back() : 0);
      });
  const std::uint64_t heard = last.get_future().get();
  // Which a busy machine may have taken longer for than a result waits.
  EXPECT_TRUE(heard == 20 || std::chrono::steady_clock::now() - sent > std::chrono::milliseconds(500)) << heard;
  auto lost = client->send_goal({.number = 2, .what = "hold"}, {}, [&](const MoveClient::Outcome& outcome, const ServiceError* why) {
    error.set_value(!outcome && why ? why->kind() : ServiceError::Kind::failed);
  });
  server.expect("2 holds");
  server.kill();
  EXPECT_EQ(error.get_future().get(), ServiceError::Kind::lost);
}

// A result waits half a second for feedback that is not called back with; one after the other these would take longer than a test waits.
TEST_F(ActionsTelling, WaitsOfSeveralResultsForFeedbackDoNotAddUp) {
  constexpr std::uint64_t goals = 200;
  auto server_node = Node::create("server");
  auto server = create_move_server(*server_node, counted_here, {.goals_at_a_time = goals});
  auto node = Node::create("client");
  auto client = create_move_client(*node);
  await_servers(*client, 1);
  std::promise<void> go_on;
  std::shared_future<void> can_go_on = go_on.get_future().share();
  std::vector<MoveHandle> handles;
  for (std::uint64_t number = 0; number < goals; ++number) {
    handles.push_back(client->send_goal({.number = number, .steps = 1, .what = "count"}, [can_go_on](const Move::Feedback& feedback) {
      if (feedback.number == 0) can_go_on.wait();
    }));
  }
  EXPECT_TRUE(eventually([&] {
    return std::ranges::all_of(
        handles, [](const MoveHandle& each) { return each.result().wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  }));
  go_on.set_value();
  for (const MoveHandle& each : handles) EXPECT_EQ(end_of(each), "succeeded");
}

// Those that others made wait for are more than a ring has.
TEST_F(ActionsTelling, WhoLooksOnAndKeepsAllHoldsUpNoGoal) {
  auto watching = Node::create("watcher");
  const auto all = Qos{}.keep_all().reliable();
  const auto feedback = watching->create_subscriber<ActionFeedback<Move::Feedback>>("move/_action/feedback", all, as_from_elsewhere());
  const auto status = watching->create_subscriber<ActionStatus>("move/_action/status", all, as_from_elsewhere());
  auto node = Node::create("node");
  auto server = create_move_server(*node, counted_here);
  auto client = create_move_client(*node);
  EXPECT_TRUE(eventually([&] { return feedback->statistics().publishers == 1 && status->statistics().publishers == 1; }));
  EXPECT_EQ(end_of(client->send_goal({.steps = 1500, .what = "count"})), "succeeded");
  for (std::uint64_t number = 0; number < 600; ++number)
    EXPECT_EQ(end_of(client->send_goal({.number = number, .what = "count"})), "succeeded");
  const auto newest = [&] {
    std::shared_ptr<const ActionStatus> last;
    while (auto next = status->take()) last = std::move(next);
    return last;
  }();
  ASSERT_TRUE(newest && !newest->goals.empty());
  EXPECT_EQ(newest->goals.back().state, GoalState::succeeded);
  EXPECT_TRUE(feedback->take());
  EXPECT_GT(feedback->statistics().missed, 0U) << "it is told that it is too slow";
}

}  // namespace
}  // namespace sinew::system
