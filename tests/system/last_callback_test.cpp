// A callback that destroys what calls it: what becomes of the rest.
#include <atomic>
#include <thread>

#include "base/point.hpp"
#include "tests/system/belongings.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

class LastCallback : public Domain {};

TEST_F(LastCallback, WhoDestroysANodeWaitsForACallbackThatHasDestroyedItsOwnInterface) {
  const auto executor = Executor::create();  // else the end of its threads would be waited for
  for (const char* what : {"timer", "message", "event of a publisher", "event of a subscriber"}) {
    SCOPED_TRACE(what);
    const std::string kind = what;
    std::atomic<bool> made{false}, destroyed{false}, over{false};
    auto node = Node::create("node", {.executor = executor}), other = Node::create("other");
    std::shared_ptr<void> interface;
    const auto callback = [&] {
      eventually([&] { return made.load(); });
      interface.reset();
      destroyed = true;
      std::this_thread::sleep_for(50ms);
      over = true;
    };
    PublisherOptions for_publisher;
    SubscriberOptions for_subscriber;
    for_publisher.events.matched = for_subscriber.events.matched = [&](const MatchedEvent&) { callback(); };
    std::shared_ptr<void> peer;
    if (kind == "timer") {
      interface = node->create_timer(1ms, callback);
    } else if (kind == "event of a publisher") {
      interface = node->create_publisher<Sample>("topic", Qos{}, for_publisher);
      peer = other->create_subscriber<Sample>("topic");
    } else {
      auto publisher = other->create_publisher<Sample>("topic");
      interface = kind == "message" ? node->create_subscriber<Sample>("topic", [&](const Sample&) { callback(); })
                                    : node->create_subscriber<Sample>("topic", Qos{}, for_subscriber);
      publisher->publish(sample_of(1, 1, 10));
      peer = publisher;
    }
    made = true;
    ASSERT_TRUE(eventually([&] { return destroyed.load(); }));
    node.reset();
    EXPECT_TRUE(over);
  }
}

// Whoever destroys the node closes what it has to be called back by, while one of these is being made.
ROLE(makes_what_has_events) {
  auto node = Node::create("node");
  const bool publishes = arguments.at(0) == "publisher";
  std::string error;
  const auto watch = node->watch_domain([&, made_by = node.get()](const DomainUpdate&) {
    if (!error.empty()) return;
    SubscriberOptions for_subscriber;
    PublisherOptions for_publisher;
    for_publisher.events.matched = for_subscriber.events.matched = [](const MatchedEvent&) {};
    try {
      publishes ? void(made_by->create_publisher<Sample>("topic", Qos{}, for_publisher))
                : void(made_by->create_subscriber<Sample>("topic", Qos{}, for_subscriber));
    } catch (const Error& thrown) {
      error = thrown.what();
    }
  });
  require(eventually(base::is_held), "nothing is made");
  std::thread witness([made_by = node.get()] {
    require(eventually([&] {
              try {
                (void)made_by->create_timer(1h, [] {});
              } catch (const Error&) {
                return true;
              }
              return false;
            }),
            "the node is not destroyed");
    base::let_go();
  });
  node.reset();
  witness.join();
  require(error.find("has been destroyed") != error.npos, "it is told: " + error);
}

TEST_F(LastCallback, WhatACallbackMakesWhileItsNodeIsDestroyedIsRefusedAndNeverCallsBack) {
  for (const char* const what : {"subscriber", "publisher"}) {
    SCOPED_TRACE(what);
    Child("makes_what_has_events", {what}, {{"SINEW_AT", std::string("node_session.") + what + ":1:hold"}}).end();
  }
}

TEST_F(LastCallback, ACallerWhoseLastCallbackDestroyedItsNodeKeepsNothingOfIt) {
  std::thread([] {}).join();  // with the first one, the thread sanitizer starts one of its own
  const Belongings before = settled(Belongings::now);
  for (const bool spins : {true, false}) {
    auto node = Node::create("node", {.executor = Executor::create({.by_caller = true})});
    auto executor = node->executor();
    auto publisher = node->create_publisher<Sample>("topic");
    auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample&) {
      node.reset();
      executor->stop();
    });
    publisher->publish(sample_of(1, 1, 10));
    spins ? executor->spin() : executor->dispatch();
    ASSERT_FALSE(node);
    executor.reset();
    publisher.reset();
    subscriber.reset();
    EXPECT_TRUE(eventually([&] { return Belongings::now() == before; }))
        << (spins ? "spin()" : "dispatch()") << ": left of " << before << ": " << Belongings::now();
  }
}

TEST_F(LastCallback, ACallbackThatDestroysTheLastNodeEndsTheSpinThatNobodyElseCouldEnd) {
  auto node = Node::create("node", {.executor = Executor::create({.by_caller = true})});
  auto timer = node->create_timer(1ms, [&] { node.reset(); });
  node->spin();
  EXPECT_FALSE(node);
  node = Node::create("node", {.executor = Executor::create({.by_caller = true})});
  timer = node->create_timer(1ms, [&] { node.reset(); });
  while (node) node->executor()->dispatch();
}

}  // namespace
}  // namespace sinew::system
