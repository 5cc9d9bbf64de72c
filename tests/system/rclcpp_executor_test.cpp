// Programs that are written for rclcpp: whose callbacks an executor runs, in what order, and when it stops.
#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "tests/system/rclcpp.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

TEST_F(Rclcpp, AnExecutorRunsTheNodesThatWereAddedOneCallbackAtATimeAndNoOthers) {
  const auto make = [](const std::string& name) { return std::make_shared<rclcpp::Node>(name); };
  const auto first = make("first"), second = make("second"), third = make("third");
  std::atomic<int> inside{0}, others{0};
  int calls[2] = {0, 0};
  const auto count = [&](int& which) {
    EXPECT_EQ(++inside, 1);
    ++which;
    --inside;
  };
  const auto a = first->create_wall_timer(1ms, [&] { count(calls[0]); });
  const auto b = second->create_wall_timer(1ms, [&] { count(calls[1]); });
  const auto c = third->create_wall_timer(1ms, [&] { ++others; });
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(first);
  executor.add_node(first->get_node_base_interface());
  executor.add_node(second);
  executor.add_node(third);
  executor.remove_node(third);
  std::thread spinning([&] { executor.spin(); });
  const auto done = first->create_wall_timer(1ms, [&] {
    if (calls[0] > 5 && calls[1] > 5) executor.cancel();
  });
  spinning.join();
  EXPECT_TRUE(rclcpp::ok());
  EXPECT_EQ(others, 0);
}

TEST_F(Rclcpp, ANodeMayBeRemovedFromItsExecutorAndAddedAgainInItsOwnCallback) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  int calls = 0;
  const auto timer = node->create_wall_timer(1ms, [&] {
    executor.remove_node(node);
    executor.add_node(node);
    if (++calls == 5) executor.cancel();
  });
  executor.spin();
  EXPECT_EQ(calls, 5);
}

TEST_F(Rclcpp, OfANodeThatWasRemovedFromItsExecutorInACallbackNoOtherRunsUntilItIsSpunAgain) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  int calls = 0;
  const auto subscription = node->create_subscription<Int32>("topic", 10, [&](const Int32&) {
    if (++calls == 1) executor.remove_node(node);
  });
  const auto publisher = node->create_publisher<Int32>("topic", 10);
  await_subscriptions(publisher, 1);
  for (int i = 0; i < 5; ++i) publisher->publish(Int32{});
  EXPECT_TRUE(eventually([&] {
    executor.spin_some();
    return calls > 0;
  }));
  executor.spin_some();
  EXPECT_EQ(calls, 1);
  executor.add_node(node);
  EXPECT_TRUE(eventually([&] {
    executor.spin_once(100ms);
    return calls == 5;
  }));
}

TEST_F(Rclcpp, ANodeThatIsSpunAlreadyIsRefusedAtOnce) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const std::shared_future<void> never = std::promise<void>().get_future().share();
  const auto expect_refused = [&] {
    rclcpp::executors::SingleThreadedExecutor other;
    for (const auto& spin : {std::function<void()>([&] { rclcpp::spin(node); }), std::function<void()>([&] { rclcpp::spin_some(node); }),
                             std::function<void()>([&] { rclcpp::spin_until_future_complete(node, never, 1ms); }),
                             std::function<void()>([&] { other.add_node(node); })}) {
      EXPECT_NE(sentence_of(spin).find("node '/node' is spun by another executor already"), std::string::npos);
    }
  };
  int calls = 0;
  const auto timer = node->create_wall_timer(1ms, [&] {
    expect_refused();
    if (++calls == 1) rclcpp::shutdown();
  });
  rclcpp::spin(node);
  EXPECT_EQ(calls, 1);
  begin();
  {
    rclcpp::executors::SingleThreadedExecutor executor;
    executor.add_node(node);
    expect_refused();
    executor.remove_node(node);
    EXPECT_TRUE(spin_until(node, [&] { return calls >= 2; }));
    executor.add_node(node);
  }
  EXPECT_TRUE(spin_until(node, [&] { return calls >= 3; }));
}

TEST_F(Rclcpp, AnExecutorThatSpinsRefusesAnotherThreadAndItsCallbacks) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  EXPECT_FALSE(executor.is_spinning());
  const auto expect_refused = [&] {
    EXPECT_TRUE(executor.is_spinning());
    for (const auto& spin : {std::function<void()>([&] { executor.spin(); }), std::function<void()>([&] { executor.spin_some(); })}) {
      EXPECT_NE(sentence_of(spin).find("this executor spins already"), std::string::npos);
    }
  };
  const auto timer = node->create_wall_timer(1ms, [&] {
    expect_refused();
    std::thread(expect_refused).join();
    executor.cancel();
  });
  executor.spin();
  EXPECT_FALSE(executor.is_spinning());
}

/// Does `once` in the callback of its timer, and says whether it was there afterwards.
class Drops : public rclcpp::Node {
 public:
  Drops(std::function<void()> once, bool& was_kept) : Node("drops") {
    is_gone_ = std::make_shared<bool>(false);
    timer_ = create_wall_timer(1ms, [this, once, &was_kept, gone = is_gone_] {
      timer_->cancel();
      once();
      was_kept = !*gone;
    });
  }
  ~Drops() override { *is_gone_ = true; }

 private:
  std::shared_ptr<bool> is_gone_;
  rclcpp::TimerBase::SharedPtr timer_;
};

TEST_F(Rclcpp, WhatSpinsANodeKeepsItAlsoWhenItsCallbackLetsGoOfIt) {
  std::shared_ptr<rclcpp::Node> node;
  bool was_kept = false;
  const auto expect_kept = [&](const std::function<void()>& then, const std::function<void()>& spin) {
    was_kept = false;
    node = std::make_shared<Drops>(
        [&node, then] {
          node.reset();
          then();
        },
        was_kept);
    spin();
    EXPECT_TRUE(was_kept);
    EXPECT_FALSE(node);
  };
  expect_kept([] { rclcpp::shutdown(); }, [&] { rclcpp::spin(node); });
  begin();
  expect_kept([] {},
              [&] {
                while (node) rclcpp::spin_some(node);
              });
  std::promise<void> promise;
  const auto future = promise.get_future().share();
  expect_kept([&] { promise.set_value(); }, [&] { rclcpp::spin_until_future_complete(node, future); });
}

// --- when it stops ---------------------------------------------------------------------------------------------------------------------

TEST_F(Rclcpp, SpinUntilAFutureIsReadyEndsWithACallbackThatFulfilsItAndWithShutdown) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::promise<void> promise;
  const std::shared_future<void> future = promise.get_future();
  const auto timer = node->create_wall_timer(1ms, [&](rclcpp::TimerBase& self) {
    self.cancel();
    promise.set_value();
  });
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, future), rclcpp::FutureReturnCode::SUCCESS);
  const auto ending = node->create_wall_timer(1ms, [] { rclcpp::shutdown(); });
  std::promise<void> unfulfilled;
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, unfulfilled.get_future()), rclcpp::FutureReturnCode::INTERRUPTED);
}

TEST_F(Rclcpp, AFutureThatIsReadyIsASuccessAlsoWhereTheExecutorIsCancelled) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  std::promise<void> promise;
  const auto timer = node->create_wall_timer(1ms, [&](rclcpp::TimerBase& self) {
    self.cancel();
    promise.set_value();
    executor.cancel();
  });
  EXPECT_EQ(executor.spin_until_future_complete(promise.get_future()), rclcpp::FutureReturnCode::SUCCESS);
}

class Ends : public Rclcpp {
 protected:
  static constexpr int waiting = 20;

  /// So many messages wait, and `then` is called with the first.
  void receive(const std::function<void()>& then) {
    node = std::make_shared<rclcpp::Node>("node");
    subscription = node->create_subscription<Int32>("topic", waiting, [this, then](const Int32&) {
      if (++calls == 1) then();
    });
    const auto publisher = node->create_publisher<Int32>("topic", waiting);
    await_subscriptions(publisher, 1);
    for (int i = 0; i < waiting; ++i) publisher->publish(Int32());
    executor.emplace();
    executor->add_node(node);
  }
  /// One callback has run, and the others run some other time.
  void expect_one_and_then_all() {
    EXPECT_EQ(calls, 1);
    if (!rclcpp::ok()) begin();
    executor.reset();
    EXPECT_TRUE(spin_until(node, [&] { return calls == waiting; }));
  }
  void TearDown() override {
    executor.reset();
    subscription.reset();
    node.reset();
    Rclcpp::TearDown();
  }

  std::shared_ptr<rclcpp::Node> node;
  rclcpp::Subscription<Int32>::SharedPtr subscription;
  std::optional<rclcpp::executors::SingleThreadedExecutor> executor;
  int calls = 0;
};

TEST_F(Ends, NoCallbackRunsBehindTheOneThatCancelsTheExecutor) {
  receive([&] { executor->cancel(); });
  executor->spin();
  EXPECT_TRUE(rclcpp::ok());
  expect_one_and_then_all();
}

TEST_F(Ends, NoCallbackRunsBehindTheOneThatShutsDown) {
  receive([] { rclcpp::shutdown(); });
  executor->spin();
  expect_one_and_then_all();
}

TEST_F(Ends, NoCallbackRunsBehindTheOneThatFulfilsTheFuture) {
  std::promise<void> promise;
  receive([&] { promise.set_value(); });
  EXPECT_EQ(executor->spin_until_future_complete(promise.get_future().share()), rclcpp::FutureReturnCode::SUCCESS);
  expect_one_and_then_all();
}

TEST_F(Ends, ACallOfCancelEndsOneSpinAlsoBeforeItBegins) {
  receive([] {});
  executor->cancel();
  executor->spin();
  EXPECT_EQ(calls, 0);
  std::thread ending([&] { executor->cancel(); });
  executor->spin();
  ending.join();
  executor.reset();
  EXPECT_TRUE(spin_until(node, [&] { return calls == waiting; }));
}

TEST_F(Rclcpp, AFutureIsWaitedForNoLongerThanSaidAlsoWhereThereIsAlwaysSomethingToDo) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  int calls = 0;
  const auto busy = node->create_wall_timer(0s, [&] {
    if (++calls == 1'000'000) rclcpp::shutdown();
  });
  std::promise<void> unfulfilled;
  const auto future = unfulfilled.get_future().share();
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, future, 5ms), rclcpp::FutureReturnCode::TIMEOUT);
  // What is due runs all the same.
  calls = 0;
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, future, 0ms), rclcpp::FutureReturnCode::TIMEOUT);
  EXPECT_GE(calls, 1);
}

TEST_F(Rclcpp, WhenTheTimeIsOverTheCallbackThatRunsIsTheLast) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  int calls = 0;
  const auto subscription = node->create_subscription<Int32>("topic", 100, [&](const Int32&) {
    ++calls;
    std::this_thread::sleep_for(10ms);
  });
  const auto publisher = node->create_publisher<Int32>("topic", 100);
  await_subscriptions(publisher, 1);
  for (int i = 0; i < 100; ++i) publisher->publish(Int32());
  std::promise<void> unfulfilled;
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, unfulfilled.get_future(), 15ms), rclcpp::FutureReturnCode::TIMEOUT);
  EXPECT_LE(calls, 5);
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.spin_some(1ms);
  EXPECT_LE(calls, 10);
}

// --- what spin_some() runs -------------------------------------------------------------------------------------------------------------

TEST_F(Rclcpp, SpinSomeRunsATimerOnceHoweverLongItsCallbackTakes) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  int calls = 0, others = 0;
  const auto slow = [&](int& which) {
    ++which;
    std::this_thread::sleep_for(5ms);
  };
  const auto timer = node->create_wall_timer(1ms, [&] { slow(calls); });
  const auto always = node->create_wall_timer(0ms, [&] { slow(others); });
  std::this_thread::sleep_for(2ms);
  rclcpp::spin_some(node);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(others, 1);
}

TEST_F(Rclcpp, SpinSomeRunsNoMessageThatItsOwnCallbackPublishesAndSpinAllDoes) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto publisher = node->create_publisher<Int32>("topic", 10);
  int calls = 0;
  const auto subscription = node->create_subscription<Int32>("topic", 10, [&](const Int32&) {
    if (++calls < 100) publisher->publish(Int32());
  });
  await_subscriptions(publisher, 1);
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.spin_some();
  // On a busy machine the second one may be left for the next time: then it is tried again.
  EXPECT_TRUE(eventually([&] {
    calls = 0;
    publisher->publish(Int32());
    publisher->publish(Int32());
    executor.spin_some();
    const int at_once = calls;
    EXPECT_LE(at_once, 2);
    executor.spin_all(0s);
    EXPECT_EQ(calls, 101);
    return at_once == 2;
  }));
}

TEST_F(Rclcpp, SpinOnceWaitsForWhatIsDueAndRunsItOnce) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.spin_once(0s);  // returns
  int calls = 0;
  const auto timer = node->create_wall_timer(5ms, [&] {
    ++calls;
    std::this_thread::sleep_for(10ms);
  });
  while (calls == 0) executor.spin_once();  // it may be woken for other things as well
  EXPECT_EQ(calls, 1);
  rclcpp::spin_all(std::make_shared<rclcpp::Node>("other"), 0s);
}

TEST_F(Ends, SpinSomeAndSpinAllDoNotTakeACancelThatCameBefore) {
  receive([] {});
  executor->cancel();
  executor->spin_some();
  EXPECT_GE(calls, 1);
  executor->spin_all(0s);
  EXPECT_EQ(calls, waiting);
  executor->spin();  // at once
}

TEST_F(Rclcpp, AFutureThatNoCallbackFulfilsEndsTheSpinAsWell) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::promise<void> promise;
  const std::shared_future<void> future = promise.get_future();
  std::atomic<bool> has_ended{false};
  std::thread elsewhere([&] {
    std::this_thread::sleep_for(20ms);  // it sleeps by then
    promise.set_value();
    EXPECT_TRUE(eventually([&] { return has_ended.load(); }));
    rclcpp::shutdown();
  });
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, future), rclcpp::FutureReturnCode::SUCCESS);
  has_ended = true;
  elsewhere.join();
}

// --- whose turn it is ------------------------------------------------------------------------------------------------------------------

/// How often the same one came without a break, at most.
int longest_run(const std::string& order, char of) {
  int longest = 0, now = 0;
  for (const char each : order) longest = std::max(longest, now = each == of ? now + 1 : 0);
  return longest;
}

// Of 32 and more that wait.
constexpr int slow_ones = 64;
constexpr int few = 4;

TEST_F(Rclcpp, ATimerHasItsTurnBesideASlowSubscription) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::string order;
  const auto slow = node->create_subscription<Int32>("slow", slow_ones, [&](const Int32&) {
    order += 's';
    std::this_thread::sleep_for(10ms);
  });
  const auto timer = node->create_wall_timer(1ms, [&] { order += 't'; });
  const auto publisher = node->create_publisher<Int32>("slow", slow_ones);
  await_subscriptions(publisher, 1);
  for (int i = 0; i < slow_ones; ++i) publisher->publish(Int32());
  rclcpp::executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  while (std::ranges::count(order, 's') < slow_ones) executor.spin_some();
  EXPECT_LE(longest_run(order, 's'), few) << order;
}

TEST_F(Rclcpp, ATimerHasItsTurnBesideSlowAnswers) {
  Child adder("adder");
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto client = node->create_client<AddTwoInts>("add");
  std::string order;
  const auto slow = [&](rclcpp::Client<AddTwoInts>::SharedFuture) {
    order += 's';
    std::this_thread::sleep_for(10ms);
  };
  const auto timer = node->create_wall_timer(1ms, [&] { order += 't'; });
  for (int i = 0; i < 10; ++i) client->async_send_request(std::make_shared<AddTwoInts::Request>(), slow);
  client->async_send_request(std::make_shared<AddTwoInts::Request>()).wait();  // all are answered by then
  EXPECT_TRUE(spin_until(node, [&] { return std::ranges::count(order, 's') == 10; }));
  EXPECT_LE(longest_run(order, 's'), few) << order;
  adder.end();
}

}  // namespace
}  // namespace sinew::system
