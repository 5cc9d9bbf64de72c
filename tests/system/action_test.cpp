// Actions between processes: goals, whether they are accepted, feedback, cancelling and results.
#include "tests/system/action.hpp"

#include <array>
#include <latch>
#include <map>
#include <numeric>
#include <semaphore>
#include <thread>

#include "tests/system/orders.hpp"
#include "tests/system/paths.hpp"

namespace sinew::system {

ROLE(mover) {
  const std::string name = arguments[0], words = arguments[1];
  if (words.find("stranger") != std::string::npos) become_stranger();
  ActionServerOptions<Move::Goal> options;
  options.accept = [](const Move::Goal& goal) {
    if (goal.what == "no throw") throw std::runtime_error("accept threw");
    return goal.what.starts_with("no ") ? Acceptance::no(goal.what.substr(3)) : Acceptance::yes();
  };
  if (const auto at = words.find("at_a_time="); at != std::string::npos) {
    options.goals_at_a_time = static_cast<std::uint32_t>(std::stoul(words.substr(at + 10)));
  }
  std::counting_semaphore<> passes(0);
  std::latch ready(1);
  auto node = Node::create(name);
  auto server = create_move_server(
      *node,
      [&](MoveGoal& goal) {
        ready.wait();  // goals may have waited for a server: "ready" is said first nevertheless
        const std::string number = std::to_string(goal->number);
        if (goal->what.starts_with("throw ")) throw std::runtime_error(goal->what.substr(6));
        if (goal->what == "say") say(number + " of " + goal.client());
        if (goal->what == "hold") {
          say(number + " holds");
          passes.acquire();
        }
        if (goal->what != "wait") return counted(goal, name);
        say(number + " waits");
        Move::Result result = waited(goal);
        result.server = name;
        say(number + " cancelled");
        return result;
      },
      options);
  say("ready");
  ready.count_down();
  obey_orders([&] { passes.release(); }, [&] { server.reset(); });
}

Child mover(const std::string& name, const std::string& options, const Child::Environment& environment) {
  Child child("mover", {name, options}, environment);
  child.expect("ready");
  return child;
}

namespace {

class Actions : public Domain {};

// --- on every path -----------------------------------------------------------------------------------------------------------------------

class ActionsOn : public Paths {};

TEST_P(ActionsOn, AGoalIsAcceptedTellsHowItGetsOnAndEndsWithItsResult) {
  auto node = Node::create("client");  // first: the manager is this user's
  std::optional<Child> child;
  std::shared_ptr<Node> here;
  std::shared_ptr<MoveServer> server;
  if (GetParam().where == Where::this_process) {
    here = Node::create("server");
    server = create_move_server(*here, [](MoveGoal& goal) { return goal->what == "wait" ? waited(goal) : counted(goal); });
  } else {
    child.emplace(mover("server", GetParam().where == Where::other_user ? "stranger" : ""));
  }
  auto client = create_move_client(*node);
  std::vector<std::uint64_t> all(50);
  std::iota(all.begin(), all.end(), 1);
  // Until the feedback is connected, which a result does not wait for longer than half a second.
  std::uint64_t number = 0;
  EXPECT_TRUE(eventually([&] {
    Steps first;
    EXPECT_EQ(end_of(client->send_goal({.number = 0, .steps = 50, .what = "count"}, first.of(0))), "succeeded");
    ++number;
    return !first.seen().empty() && first.seen().back() == 50;
  }));
  const std::uint64_t end = number + 20;
  for (; number < end; ++number) {
    Steps steps;
    const auto sent = std::chrono::steady_clock::now();
    auto goal = client->send_goal({.number = number, .steps = 50, .what = "count"}, steps.of(number));
    EXPECT_TRUE(goal.accepted().get());
    const auto result = goal.result().get();
    // A result waits half a second for feedback, which on a busy machine may take longer.
    const bool in_time = std::chrono::steady_clock::now() - sent < std::chrono::milliseconds(500);
    EXPECT_EQ(result->state, GoalState::succeeded) << result->text;
    EXPECT_EQ(result->result.number, number);
    EXPECT_EQ(result->result.all, all);
    EXPECT_EQ(result->last_feedback, 50 * (number + 1));
    EXPECT_EQ(steps.strange(), 0);
    const std::vector<std::uint64_t> seen = steps.seen();
    if (in_time && GetParam().where != Where::other_user) {
      EXPECT_EQ(seen, all) << "all of it, before the result";
    }
    EXPECT_TRUE(std::ranges::is_sorted(seen));
    EXPECT_TRUE(!in_time || (!seen.empty() && seen.back() == 50)) << "the last of it, before the result";
  }
  Steps steps;
  auto goal = client->send_goal({.number = 99, .what = "wait"}, steps.of(99));
  EXPECT_TRUE(goal.accepted().get());
  EXPECT_TRUE(eventually([&] { return !steps.seen().empty(); }));  // it has begun
  goal.cancel();
  EXPECT_EQ(end_of(goal), "cancelled");
  EXPECT_EQ(goal.result().get()->result.steps, 1u);
  if (child) {
    child->expect("99 waits");
    child->expect("99 cancelled");
    child->end();
  }
}

SINEW_ON_PATHS(ActionsOn, unasked_paths());

// --- accepted or not ---------------------------------------------------------------------------------------------------------------------

TEST_F(Actions, AGoalThatTheServerDoesNotAcceptIsRejectedWithItsReason) {
  Child server = mover("server");
  auto node = Node::create("client");
  auto client = create_move_client(*node);
  auto goal = client->send_goal({.what = "no there is a wall"});
  EXPECT_FALSE(goal.accepted().get());
  EXPECT_EQ(goal.result().get()->state, GoalState::rejected);
  EXPECT_EQ(goal.result().get()->text, "there is a wall");
  EXPECT_EQ(client->send_goal({.what = "no throw"}).result().get()->text, "accept threw");
  EXPECT_EQ(end_of(client->send_goal({.what = "count"})), "succeeded") << "it goes on";
  server.end();
}

TEST_F(Actions, GoalsBeyondThoseThatAServerExecutesAtATimeAreRejectedAtOnce) {
  for (const std::string at_a_time : {"1", "3"}) {
    Child server = mover("server", "at_a_time=" + at_a_time);
    auto node = Node::create("client");
    auto client = create_move_client(*node);
    std::vector<MoveHandle> running;
    for (std::uint64_t number = 1; number <= std::stoul(at_a_time); ++number) {
      running.push_back(client->send_goal({.number = number, .what = "hold"}));
      server.expect(std::to_string(number) + " holds");
    }
    for (int i = 0; i < 20; ++i) {
      auto goal = client->send_goal({.what = "count"});
      EXPECT_FALSE(goal.accepted().get());
      EXPECT_EQ(goal.result().get()->text, "action 'move': the server is busy: it executes " + at_a_time + " at a time (goals_at_a_time)");
    }
    for (const MoveHandle& goal : running) {
      server.order("go on");
      EXPECT_TRUE(goal.accepted().get());
    }
    for (const MoveHandle& goal : running) EXPECT_EQ(end_of(goal), "succeeded");
    for (int i = 0; i < 20; ++i) EXPECT_EQ(end_of(client->send_goal({.what = "count"})), "succeeded") << "its place is free";
    server.end();
    await_servers(*client, 0);
  }
}

TEST_F(Actions, AnExceptionAbortsTheGoalWithItsText) {
  Child server = mover("server");
  auto node = Node::create("client");
  auto client = create_move_client(*node);
  auto goal = client->send_goal({.what = "throw the wheel is off"});
  EXPECT_TRUE(goal.accepted().get());
  EXPECT_EQ(end_of(goal), "aborted");
  EXPECT_EQ(goal.result().get()->text, "the wheel is off");
  EXPECT_EQ(end_of(client->send_goal({.what = "count"})), "succeeded") << "it goes on";
  server.end();
}

TEST_F(Actions, WhatCannotBeIsRefusedAndTheTextSaysWhy) {
  auto node = Node::create("node");
  const auto text_of = [](const auto& create) {
    try {
      create();
      return std::string("nothing");
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  for (const std::uint32_t at_a_time : {0U, 1024U}) {
    EXPECT_EQ(text_of([&] { create_move_server(*node, counted_here, {.goals_at_a_time = at_a_time}); }),
              "action 'move': goals_at_a_time = " + std::to_string(at_a_time) + " is out of range, 1 to 1023");
  }
  auto server = create_move_server(*node, counted_here);
  const std::string text = text_of([&] { (void)node->create_action_client<Move::Goal, Move::Goal, Move::Result>("move"); });
  EXPECT_NE(text.find("move/_action/feedback"), std::string::npos) << text;
  EXPECT_NE(text.find("feedback.steps"), std::string::npos) << text;
  EXPECT_NE(text_of([&] { (void)node->create_action_client<Move::Goal, Move::Feedback, Move::Result>("a b"); }), "nothing");
}

// --- cancelling --------------------------------------------------------------------------------------------------------------------------

TEST_F(Actions, AGoalCanBeCancelledByAnotherNodeThatKnowsItsId) {
  Child server = mover("server", "at_a_time=2");
  auto node = Node::create("client"), other = Node::create("other");
  auto client = create_move_client(*node), stranger = create_move_client(*other);
  auto first = client->send_goal({.number = 1, .what = "wait"});
  server.expect("1 waits");
  auto second = client->send_goal({.number = 2, .what = "wait"});
  server.expect("2 waits");
  EXPECT_EQ(stranger->cancel(second.id()), PublishResult::published);
  server.expect("2 cancelled");
  EXPECT_EQ(end_of(second), "cancelled");
  stranger->cancel(first.id());
  server.expect("1 cancelled");
  EXPECT_EQ(end_of(first), "cancelled");
  server.end();
}

TEST_F(Actions, AllGoalsThatWereSentAreCancelledTogetherAndNoneThatIsSentAfterwards) {
  Child one = mover("one", "at_a_time=2"), two = mover("two", "at_a_time=2");
  auto node = Node::create("client"), other = Node::create("other");
  auto client = create_move_client(*node), stranger = create_move_client(*other);
  await_servers(*client, 2);
  for (int pass = 0; pass < 3; ++pass) {
    std::vector<MoveHandle> goals;
    for (std::uint64_t number = 0; number < 4; ++number) goals.push_back(client->send_goal({.number = number, .what = "wait"}));
    if (pass == 0) {
      for (const MoveHandle& goal : goals) EXPECT_TRUE(goal.accepted().get());
    }
    EXPECT_EQ(stranger->cancel_all(), PublishResult::published);
    auto after = client->send_goal({.number = 5, .what = "count"});
    for (const MoveHandle& goal : goals) EXPECT_EQ(end_of(goal), "cancelled");
    EXPECT_NE(end_of(after), "cancelled");
    EXPECT_EQ(end_of(client->send_goal({.number = 6, .what = "count"})), "succeeded");
  }
  one.finish();
  two.finish();
  EXPECT_EQ(one.wait(), 0);
  EXPECT_EQ(two.wait(), 0);
}

TEST_F(Actions, AnIdThatWasNeverSetCancelsNoGoal) {
  auto node = Node::create("node");
  std::promise<void> go_on;
  auto server = create_move_server(*node,
                                   [&](MoveGoal& goal) {
                                     if (goal->number == 2) return waited(goal);
                                     go_on.get_future().wait();
                                     return Move::Result{.steps = goal.accept_cancel() ? std::uint64_t{1} : 0, .server = {}, .all = {}};
                                   },
                                   {.goals_at_a_time = 2});
  auto client = create_move_client(*node);
  auto first = client->send_goal({.number = 1, .what = {}}), second = client->send_goal({.number = 2, .what = {}});
  EXPECT_TRUE(first.accepted().get() && second.accepted().get());
  EXPECT_EQ(client->cancel(GoalId{}), PublishResult::invalid);
  EXPECT_EQ(client->cancel(second.id()), PublishResult::published);
  EXPECT_EQ(end_of(second), "cancelled") << "and wishes come in their order";
  go_on.set_value();
  EXPECT_EQ(end_of(first), "succeeded");
  EXPECT_EQ(client->cancel_all(), PublishResult::published);
}

TEST_F(Actions, AWishToCancelReachesAServerThatComesLater) {
  auto node = Node::create("client");
  const auto wishes = node->create_publisher<ActionCancel>("move/_action/cancel", Qos{}.reliable().transient_local().keep_last(8));
  const GoalId id{1};
  wishes->publish({.id = id, .sent_at = 0});
  const auto goals = node->create_service_client<ActionGoal<Move::Goal>, GoalResult<Move::Result>>("move/_action/goal");
  auto call = goals->call({.id = id, .sent_at = 1, .goal = {.number = 1, .what = "wait"}});
  Child server = mover("server");
  EXPECT_EQ(call.get().state, GoalState::cancelled);
  server.finish();
  EXPECT_EQ(server.wait(), 0);
}

TEST_F(Actions, AGoalThatIsCancelledBeforeItBeginsIsNotExecuted) {
  std::atomic<bool> is_asked{false}, is_executed{false};
  std::promise<void> go_on;
  auto node = Node::create("node");
  auto client = create_move_client(*node);
  auto server = create_move_server(*node,
                                   [&](MoveGoal& goal) {
                                     if (goal->what == "wait") return waited(goal);
                                     is_executed = true;
                                     return counted(goal);
                                   },
                                   {.accept =
                                        [&, is_over = go_on.get_future().share()](const Move::Goal& goal) {
                                          if (goal.what == "count") {
                                            is_asked = true;
                                            is_over.wait();
                                          }
                                          return Acceptance::yes();
                                        },
                                    .goals_at_a_time = 2});
  auto waits = client->send_goal({.what = "wait"});
  EXPECT_TRUE(waits.accepted().get());
  auto goal = client->send_goal({.what = "count"});
  ASSERT_TRUE(eventually([&] { return is_asked.load(); }));
  goal.cancel();
  waits.cancel();  // a wish that the server hears of later
  EXPECT_EQ(end_of(waits), "cancelled");
  go_on.set_value();
  EXPECT_EQ(end_of(goal), "cancelled");
  EXPECT_EQ(goal.result().get()->text, "cancelled before it was executed");
  EXPECT_FALSE(is_executed);
}

TEST_F(Actions, AGoalThatNoServerHasCanBeCancelled) {
  auto node = Node::create("client");
  auto client = create_move_client(*node);
  auto goal = client->send_goal({.what = "count"});
  EXPECT_EQ(goal.result().wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  EXPECT_EQ(goal.cancel(), PublishResult::published);
  EXPECT_EQ(end_of(goal), "recalled");
  EXPECT_THROW(goal.accepted().get(), ServiceError);
}

// --- several of everything ---------------------------------------------------------------------------------------------------------------

TEST_F(Actions, WithSeveralServersEachGoalIsExecutedByOne) {
  std::vector<Child> servers;
  for (const char* name : {"one", "two", "three"}) servers.push_back(mover(name, "at_a_time=8"));
  auto node = Node::create("client");
  auto client = create_move_client(*node);
  await_servers(*client, 3);
  std::map<std::string, int> by;
  for (std::uint64_t number = 0; number < 30; ++number) {
    const auto result = client->send_goal({.number = number, .what = "say"}).result().get();
    EXPECT_EQ(result->result.number, number);
    ++by[result->result.server];
  }
  EXPECT_EQ(by, (std::map<std::string, int>{{"one", 10}, {"two", 10}, {"three", 10}}));
  std::vector<int> told(30);
  for (Child& server : servers) {
    for (int i = 0; i < 10; ++i) ++told.at(std::stoul(server.line().value_or("")));
    server.end();
  }
  EXPECT_EQ(told, std::vector<int>(30, 1));
}

// --- what can be seen --------------------------------------------------------------------------------------------------------------------

TEST_F(Actions, WhoComesLateSeesTheGoalsThatAreExecutedAndTheLastThatEnded) {
  Child server = mover("server", "at_a_time=2");
  auto node = Node::create("client");
  auto client = create_move_client(*node);
  std::vector<GoalId> ids;
  for (std::uint64_t number = 0; number < 20; ++number) {
    auto goal = client->send_goal({.number = number, .what = number % 2 == 0 ? "count" : "throw it"});
    static_cast<void>(end_of(goal));
    ids.push_back(goal.id());
  }
  auto held = client->send_goal({.number = 20, .what = "hold"});
  server.expect("20 holds");
  auto waiting = client->send_goal({.number = 21, .what = "wait"});
  server.expect("21 waits");

  auto late = Node::create("late");
  const auto status = late->create_subscriber<ActionStatus>("move/_action/status", Qos{}.reliable().transient_local().keep_last(1));
  const auto seen = status->take(std::chrono::minutes(1));
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->goals.size(), 18u);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(seen->goals[i].id, ids[i + 4]);
    EXPECT_EQ(seen->goals[i].state, i % 2 == 0 ? GoalState::succeeded : GoalState::aborted);
    EXPECT_GT(seen->goals[i].accepted_at, i == 0 ? 0 : seen->goals[i - 1].accepted_at);
  }
  EXPECT_EQ(seen->goals[16].id, held.id());
  EXPECT_EQ(seen->goals[16].state, GoalState::executing);
  EXPECT_EQ(seen->goals[17].state, GoalState::executing);

  held.cancel();  // it does not look
  const auto asked = status->take(std::chrono::minutes(1));
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->goals[16].state, GoalState::cancelling);
  server.order("go on");
  EXPECT_EQ(end_of(held), "succeeded");
  waiting.cancel();
  EXPECT_EQ(end_of(waiting), "cancelled");
  EXPECT_TRUE(eventually([&] {
    const auto last = status->take(std::chrono::minutes(1));
    return last && last->goals.size() == 16 && last->goals[14].state == GoalState::succeeded &&
           last->goals[15].state == GoalState::cancelled;
  }));
  server.expect("21 cancelled");
  server.end();
}

TEST_F(Actions, AGoalWaitsForAServerToComeAndItsNewestFeedbackIsReceived) {
  auto node = Node::create("client");
  auto client = create_move_client(*node);
  // Its result waits half a second for the feedback to be connected, which may not be enough on a loaded machine: then it is tried again.
  EXPECT_TRUE(eventually([&] {
    Steps steps;
    auto goal = client->send_goal({.number = 1, .steps = 100, .what = "count"}, steps.of(1));
    Child server = mover("server");
    EXPECT_TRUE(goal.accepted().get());
    EXPECT_EQ(end_of(goal), "succeeded");
    const auto seen = steps.seen();
    EXPECT_TRUE(std::ranges::is_sorted(seen));
    server.end();
    await_servers(*client, 0);
    return !seen.empty() && seen.back() == 100;
  }));
}

TEST_F(Actions, AcceptanceAndResultCanBeWaitedForInACallbackOfTheSameNode) {
  Child server = mover("server");
  auto node = Node::create("client");
  auto client = create_move_client(*node);
  auto ticks = node->create_publisher<std::uint64_t>("ticks");
  std::promise<std::string> end;
  Steps steps;
  auto subscriber = node->create_subscriber<std::uint64_t>("ticks", [&](const std::uint64_t& number) {
    auto held = client->send_goal({.number = number, .what = "hold"}, steps.of(number));
    const bool is_accepted = held.accepted().get();
    server.order("go on");
    end.set_value(is_accepted ? end_of(held) : "rejected");
  });
  ticks->publish(7);
  EXPECT_EQ(end.get_future().get(), "succeeded");
  subscriber.reset();
  server.finish();
  EXPECT_EQ(server.wait(), 0);
}

// --- access ------------------------------------------------------------------------------------------------------------------------------

class ActionAccess : public Domain {};

TEST_F(ActionAccess, WhoMayNotPublishResultsCannotServeAndMayStillSendGoals) {
  set_rules(R"({"access": [{"name": "nobody moves it", "topic": "move/_action/goal@response", "publish": "none"}]})");
  auto node = Node::create("node");
  try {
    create_move_server(*node, counted_here);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::denied);
    EXPECT_NE(std::string(error.what()).find("nobody moves it"), std::string::npos) << error.what();
  }
  auto client = create_move_client(*node);
  auto goal = client->send_goal({.what = "count"});
  goal.cancel();
  EXPECT_EQ(end_of(goal), "recalled");
}

}  // namespace
}  // namespace sinew::system
