// Servers and clients of an action vanish, stop or are destroyed at any point: every goal ends once, and no callback comes too late.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <set>
#include <thread>

#include "tests/system/action.hpp"
#include "tests/system/moved_folder.hpp"

namespace sinew::system {
namespace {

class ActionDeath : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    node = Node::create("client");
    client = create_move_client(*node);
  }
  void TearDown() override {
    client.reset();
    node.reset();
    Domain::TearDown();
  }

  std::shared_ptr<Node> node;
  std::shared_ptr<MoveClient> client;
};

// --- servers -----------------------------------------------------------------------------------------------------------------------------

TEST_F(ActionDeath, TheGoalOfAServerThatIsKilledIsLostAndNoOtherExecutesIt) {
  Child first = mover("first");
  Steps steps;
  auto goal = client->send_goal({.number = 1, .what = "hold"}, steps.of(1));
  first.expect("1 holds");
  EXPECT_TRUE(goal.accepted().get());  // which it may be yet to say
  Child second = mover("second");
  await_servers(*client, 2);
  first.kill();
  EXPECT_EQ(end_of(goal), "lost");
  EXPECT_EQ(end_of(client->send_goal({.number = 2, .what = "count"})), "succeeded");
  second.end();
}

class DeathOfAServer : public ActionDeath, public ::testing::WithParamInterface<const char*> {};

TEST_P(DeathOfAServer, LeavesNoGoalWithoutAnEnd) {
  for (const char* pass : {"1", "3", "20"}) {
    Child mortal("mover", {"mortal" + std::string(pass), "at_a_time=4"}, {{"SINEW_AT", std::string(GetParam()) + ":" + pass + ":kill"}});
    std::array<Steps, 8> steps;
    std::vector<MoveHandle> goals;
    for (std::size_t round = 0; round < 100 && !mortal.has_ended(); ++round) {
      goals.clear();
      for (std::uint64_t number = 0; number < 4; ++number) {
        goals.push_back(client->send_goal({.number = number, .steps = 10, .what = "count"}, steps[number].of(number)));
      }
      // Those that no server has received wait for one: it is gone.
      std::set<std::string> ends;
      EXPECT_TRUE(eventually([&] {
        for (MoveHandle& goal : goals) {
          if (goal.result().wait_for(std::chrono::seconds(0)) == std::future_status::ready) continue;
          if (client->servers() == 0 && mortal.has_ended()) goal.cancel();
          return false;
        }
        return true;
      }));
      for (const MoveHandle& goal : goals) {
        const std::string end = end_of(goal);
        EXPECT_TRUE(end == "succeeded" || end == "lost" || end == "recalled") << end;
      }
    }
    EXPECT_EQ(mortal.wait(), -9) << mortal.errors();
    await_servers(*client, 0);
    for (const Steps& each : steps) EXPECT_EQ(each.strange(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(At, DeathOfAServer,
                         ::testing::Values("publisher.before_publish", "ring.head", "service.executed", "service.answered", "claim.cursor"),
                         [](const auto& label) {
                           std::string name = label.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

TEST_F(ActionDeath, AServerThatIsDestroyedCancelsWhatItExecutesAndSendsTheResults) {
  Child server = mover("server", "at_a_time=3");
  std::vector<MoveHandle> goals;
  for (std::uint64_t number = 1; number <= 3; ++number) {
    goals.push_back(client->send_goal({.number = number, .what = "wait"}));
    server.expect(std::to_string(number) + " waits");
  }
  server.order("quit");
  for (const MoveHandle& goal : goals) {
    EXPECT_EQ(end_of(goal), "cancelled");
    EXPECT_EQ(goal.result().get()->result.server, "server");
  }
  server.finish();
  EXPECT_EQ(server.wait(), 0);
}

TEST_F(ActionDeath, AGoalSeesThatTheNodeOfItsServerIsDestroyed) {
  std::atomic<bool> is_executed{false}, is_cancelled{false};
  auto home = Node::create("server");
  auto server = create_move_server(*home, [&](MoveGoal& goal) {
    is_executed = true;
    auto result = waited(goal);
    is_cancelled = true;
    return result;
  });
  auto goal = client->send_goal({.what = "wait"});
  ASSERT_TRUE(eventually([&] { return is_executed.load(); }));
  home.reset();
  EXPECT_TRUE(eventually([&] { return is_cancelled.load(); }));
  const std::string end = end_of(goal);  // the node may have waited for it, or not
  EXPECT_TRUE(end == "lost" || end == "cancelled") << end;
}

TEST_F(ActionDeath, AServerMayBeDestroyedByAGoalWhoseClientHasItsResult) {
  std::atomic<bool> has_returned{false};
  auto home = Node::create("server");
  std::shared_ptr<MoveServer> server;
  server = create_move_server(*home, [&](MoveGoal& goal) {
    server.reset();
    has_returned = goal.accept_cancel();
    return Move::Result{};
  });
  EXPECT_EQ(end_of(client->send_goal({.steps = 3, .what = "count"})), "cancelled");
  EXPECT_TRUE(has_returned);
}

// --- clients -----------------------------------------------------------------------------------------------------------------------------

// Arguments: "kill", or who is destroyed when the order comes.
ROLE(waiting_client) {
  auto node = Node::create("mortal");
  auto client = create_move_client(*node);
  auto goal = client->send_goal({.number = 1, .what = "wait"});
  require(goal.accepted().get(), "it is not accepted");
  say("accepted");
  next_order();
  if (arguments[0] == "client") client.reset();
  if (arguments[0] == "node") node.reset();
  require(end_of(goal) == (client ? "disconnected" : "recalled"), end_of(goal));
  say("ended");
  until_finished();
}

TEST_F(ActionDeath, TheGoalOfAClientThatIsGoneIsCancelled) {
  Child server = mover("server");
  for (const std::string what : {"kill", "client", "node"}) {
    Child mortal("waiting_client", {what});
    mortal.expect("accepted");
    server.expect("1 waits");
    if (what == "kill") {
      mortal.kill();
    } else {
      mortal.order("go");
      mortal.expect("ended");
    }
    server.expect("1 cancelled");
    if (what != "kill") mortal.end();
    EXPECT_TRUE(eventually([&] { return end_of(client->send_goal({.what = "count"})) == "succeeded"; }));
  }
  server.end();
}

TEST_F(ActionDeath, AHandleThatIsDestroyedLetsTheGoalGoOnAndWaitsForACallback) {
  Child server = mover("server");
  // Until the feedback is connected, which a result does not wait for longer than half a second.
  EXPECT_TRUE(eventually([&] {
    Steps first;
    EXPECT_EQ(end_of(client->send_goal({.steps = 1, .what = "count"}, first.of(0))), "succeeded");
    return !first.seen().empty();
  }));
  for (int pass = 0; pass < rounds(50); ++pass) {
    std::atomic<bool> is_running{false}, is_gone{false};
    std::atomic<int> late{0}, called{0};
    std::optional<MoveHandle> goal = client->send_goal(
        {.steps = 50, .what = "count"},
        [&](const Move::Feedback&) {
          late += is_gone ? 1 : 0;
          is_running = true;
          ++called;
          std::this_thread::yield();
          is_running = false;
        },
        [&](const MoveClient::Outcome&, const ServiceError*) { late += is_gone ? 1 : 0; });
    const auto result = goal->result();
    // A busy machine may take longer for feedback than a result waits.
    EXPECT_TRUE(eventually([&] { return called > pass % 10 || result.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    goal.reset();
    is_gone = true;
    EXPECT_FALSE(is_running);
    EXPECT_EQ(result.get()->state, GoalState::succeeded);
    EXPECT_EQ(late, 0);
  }
  server.end();
}

// What is destroyed by whom.
struct End {
  const char* name;
  bool by_feedback;  // else by the callback with the result
  char what;         // 'h'andle, 'c'lient, 'n'ode, 'a'll of it
  friend std::ostream& operator<<(std::ostream& out, const End& end) { return out << end.name; }
};
class DestructionByACallback : public ActionDeath, public ::testing::WithParamInterface<End> {};

TEST_P(DestructionByACallback, EndsCallbacksAndHangsNowhere) {
  Child server = mover("server", "at_a_time=4");
  for (int pass = 0; pass < rounds(20); ++pass) {
    if (!node) node = Node::create("client" + std::to_string(pass));
    if (!client) client = create_move_client(*node);
    await_servers(*client, 1);
    std::optional<MoveHandle> goal, other;
    std::atomic<bool> is_ready{false}, is_done{false};
    std::atomic<int> late{0};
    const auto destroy = [&] {
      if (is_done) {
        ++late;
        return;
      }
      static_cast<void>(eventually([&] { return is_ready.load(); }));
      if (GetParam().what == 'h' || GetParam().what == 'a') goal.reset();
      if (GetParam().what == 'c' || GetParam().what == 'a') client.reset();
      if (GetParam().what == 'n' || GetParam().what == 'a') node.reset();
      is_done = GetParam().what != 'n';  // one that has come before is called back with
    };
    std::atomic<int> results{0};
    const auto on_feedback = [&](const Move::Feedback&) {
      if (GetParam().by_feedback) destroy();
    };
    const auto on_result = [&](const MoveClient::Outcome&, const ServiceError*) {
      ++results;
      if (!GetParam().by_feedback) destroy();
    };
    goal = client->send_goal({.number = 1, .steps = 20, .what = GetParam().by_feedback ? "wait" : "count"}, on_feedback, on_result);
    other = client->send_goal({.number = 2, .steps = 20, .what = "count"});
    const auto first = goal->result(), second = other->result();
    is_ready = true;
    if (GetParam().what == 'h') {
      EXPECT_TRUE(eventually([&] { return is_done.load(); }));
      client->cancel_all();
      EXPECT_EQ(first.get()->state, GetParam().by_feedback ? GoalState::cancelled : GoalState::succeeded);
    }
    first.wait();
    second.wait();
    other.reset();
    EXPECT_TRUE(eventually([&] { return is_done || GetParam().what == 'n'; }));
    goal.reset();
    client.reset();
    node.reset();
    EXPECT_EQ(late, 0);
    EXPECT_LE(results, 1);
  }
  server.end();
}

INSTANTIATE_TEST_SUITE_P(Of, DestructionByACallback,
                         ::testing::Values(End{"TheHandleByFeedback", true, 'h'}, End{"TheClientByFeedback", true, 'c'},
                                           End{"TheNodeByFeedback", true, 'n'}, End{"AllByFeedback", true, 'a'},
                                           End{"TheHandleByTheResult", false, 'h'}, End{"TheClientByTheResult", false, 'c'},
                                           End{"TheNodeByTheResult", false, 'n'}, End{"AllByTheResult", false, 'a'}),
                         [](const auto& end) { return end.param.name; });

TEST_F(ActionDeath, ThreadsMayDestroyHandlesAndTheClientWhileGoalsAreExecuted) {
  Child server = mover("server", "at_a_time=8");
  for (int pass = 0; pass < rounds(50); ++pass) {
    if (!client) client = create_move_client(*node);
    await_servers(*client, 1);
    std::atomic<bool> is_gone{false};
    std::atomic<int> late{0}, called{0}, ended{0};
    const auto on_feedback = [&](const Move::Feedback&) {
      late += is_gone ? 1 : 0;
      ++called;
    };
    const auto on_result = [&](const MoveClient::Outcome&, const ServiceError*) { late += is_gone ? 1 : 0; };
    std::vector<std::thread> threads;
    for (std::uint64_t number = 0; number < 4; ++number) {
      threads.emplace_back(
          [&, number, goal = client->send_goal({.number = number, .steps = 50, .what = "count"}, on_feedback, on_result)]() mutable {
            if (number % 2 == 0) goal.cancel();
            auto result = goal.result();
            if (number == 3) result.wait();
            {
              const auto last = std::move(goal);
            }
            result.wait();
            ++ended;
          });
    }
    static_cast<void>(eventually([&] { return called > pass % 20 || ended == 4; }));
    client.reset();
    is_gone = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(late, 0);
  }
  server.end();
}

TEST_F(ActionDeath, AHandleThatOutlivesItsClientDoesNothing) {
  auto goal = client->send_goal({.what = "count"});
  client.reset();
  EXPECT_EQ(end_of(goal), "recalled");
  EXPECT_THROW(goal.accepted().get(), ServiceError);
  EXPECT_EQ(goal.cancel(), PublishResult::closed);
}

TEST_F(ActionDeath, InAForkedChildNothingIsSentAndWhatItInheritedMayBeDestroyed) {
  Child server = mover("server");
  std::optional<MoveHandle> goal = client->send_goal({.number = 1, .what = "wait"}, [](const Move::Feedback&) {});
  EXPECT_TRUE(goal->accepted().get());
  const pid_t child = ::fork();
  if (child == 0) {
    bool is_inert = goal->cancel() == PublishResult::closed && client->cancel_all() == PublishResult::closed;
    try {
      (void)client->send_goal({.number = 2, .what = "count"});
      is_inert = false;
    } catch (const ServiceError& error) {
      is_inert = is_inert && error.kind() == ServiceError::Kind::disconnected;
    }
    if (!is_inert) ::_exit(1);
    goal.reset();
    client.reset();
    node.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  goal->cancel();
  EXPECT_EQ(end_of(*goal), "cancelled");
  server.finish();
  EXPECT_EQ(server.wait(), 0);
}

ROLE(forks_in_a_goal) {
  const pid_t parent = ::getpid();
  std::atomic<pid_t> child{-1};
  const auto forks = [&](const char* where) {
    if (arguments[0] != where || child != -1) return;
    const pid_t pid = ::fork();
    if (::getpid() == parent) child = pid;
  };
  auto own = Node::create("node");
  auto server = create_move_server(*own, [&](MoveGoal& goal) {
    Move::Result result = counted(goal);
    forks("execute");
    return result;
  });
  auto sender = create_move_client(*own);
  const auto goal = sender->send_goal(
      {.number = 1, .steps = 3, .what = "count"}, [&](const Move::Feedback&) { forks("feedback"); },
      [&](const MoveClient::Outcome&, const ServiceError*) { forks("result"); });
  require(end_of(goal) == "succeeded", "the goal does not succeed");
  require(eventually([&] { return child != -1; }), "nothing was forked");
  int status = -1;
  require(eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }), "the child hangs");
  require(status == 0, "the child does not end well");
}

TEST_F(ActionDeath, AChildThatACallbackForkedEndsWithIt) {
  if (sanitized) GTEST_SKIP() << "the child's last thread ends: a sanitizer reports what other threads have left in it";
  for (const char* where : {"execute", "feedback", "result"}) Child("forks_in_a_goal", {where}).end();
}

TEST_F(ActionDeath, GoalsGoOnWithoutTheManager) {
  Child server = mover("server");
  EXPECT_EQ(end_of(client->send_goal({.steps = 5, .what = "count"})), "succeeded");
  {
    const pid_t pid = manager().value_or(0);
    const MovedFolder moved(folder());
    await_end(pid);
    auto goal = client->send_goal({.number = 1, .what = "wait"});
    server.expect("1 waits");
    goal.cancel();
    EXPECT_EQ(end_of(goal), "cancelled");
    EXPECT_EQ(managers(), 0u);
  }
  server.finish();
  EXPECT_EQ(server.wait(), 0);
}

}  // namespace
}  // namespace sinew::system
