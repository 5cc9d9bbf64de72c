// Goals of actions while system calls fail: each ends, with a result or with an error that says why.
#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "tests/faults/peer.hpp"
#include "tests/faults/walk.hpp"

namespace sinew::system {
namespace {

class ActionFaults : public BesidePeer {
 protected:
  /// The node lives on, and works.
  void walk_actions(const std::string& operation, const Scenario& scenario) {
    walk(operation,
         [&](Fault& fault) {
           scenario(fault);
           const auto client = create_move_client(*node_);
           EXPECT_EQ(end_of(client->send_goal({.number = 1, .steps = 2, .what = {}})), "succeeded");
         },
         {&peer_->process()});
  }
};

template <class Future>
bool is_ready(const Future& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

TEST_F(ActionFaults, a_client_is_created_and_connected_or_it_says_why_not) {
  walk_actions("create_action_client", [&](Fault& fault) {
    std::shared_ptr<MoveClient> client;
    fault.during([&] {
      client = create_move_client(*node_);
      fault.await([&] { return client->servers() == 1; });
    });
  });
}

TEST_F(ActionFaults, a_goal_ends_with_a_result_or_an_error) {
  walk_actions("send_goal", [&](Fault& fault) {
    auto client = create_move_client(*node_);
    await_servers(*client, 1);
    Steps steps;
    std::optional<MoveHandle> goal;
    fault.during([&] {
      goal.emplace(client->send_goal({.number = 1, .steps = 3, .what = {}}, steps.of(1)));
      fault.await([&] { return is_ready(goal->result()); });
    });
    if (!goal) return;
    EXPECT_TRUE(eventually([&] { return is_ready(goal->result()) || client->servers() == 0; })) << "it hangs";
    if (!is_ready(goal->result())) client.reset();  // which ends it
    const std::string end = end_of(*goal);
    EXPECT_TRUE(end == "succeeded" || (fault.was_reached() && (end == "recalled" || end == "lost" || end.size() > 20))) << end;
    EXPECT_EQ(steps.strange(), 0);
  });
}

TEST_F(ActionFaults, a_goal_is_cancelled) {
  walk_actions("cancel", [&](Fault& fault) {
    auto client = create_move_client(*node_);
    await_servers(*client, 1);
    auto goal = client->send_goal({.number = 1, .steps = 0, .what = "wait"});
    EXPECT_TRUE(goal.accepted().get());
    const auto cancel = [&] {
      const PublishResult result = goal.cancel();
      EXPECT_TRUE(result == PublishResult::published || result == PublishResult::no_memory);
    };
    fault.during([&] {
      cancel();
      fault.await([&] { return is_ready(goal.result()); });
    });
    cancel();
    EXPECT_TRUE(eventually([&] { return is_ready(goal.result()) || client->servers() == 0; })) << "it hangs";
    client.reset();
    const std::string end = end_of(goal);
    EXPECT_TRUE(end == "cancelled" || (fault.was_reached() && (end == "recalled" || end == "lost"))) << end;
  });
}

TEST_F(ActionFaults, a_server_is_created_and_executes_goals_or_the_next_one_does) {
  const auto create = [&] { return node_->create_action_server<Move::Goal, Move::Feedback, Move::Result>("served", counted_here); };
  walk_actions("create_action_server", [&](Fault& fault) {
    std::shared_ptr<MoveServer> server;
    const auto client = node_->create_action_client<Move::Goal, Move::Feedback, Move::Result>("served");
    const auto goal = client->send_goal({.number = 1, .steps = 3, .what = {}});
    fault.during([&] {
      server = create();
      fault.await([&] { return is_ready(goal.result()); });
    });
    server.reset();
    server = create();
    EXPECT_TRUE(eventually([&] { return is_ready(goal.result()); })) << "it hangs";
    EXPECT_EQ(peer_->ask("goal"), "succeeded");
  });
}

}  // namespace
}  // namespace sinew::system
