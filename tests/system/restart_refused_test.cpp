// What the next manager does not take of what the one before it took.
#include <cstdint>
#include <memory>
#include <utility>

#include "os/memory.hpp"
#include "os/socket.hpp"
#include "tests/system/restarts.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

// Publishes on order, or looks on as a ghost until there is nothing to be seen.
ROLE(has_topic) {
  auto node = Node::create("first");
  if (arguments[0] == "ghost") {
    SubscriberOptions options;
    options.ghost = Ghost::observer;
    auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, options);
    say("ready");
    require(eventually([&] { return subscriber->statistics().detached; }), "it still waits for its topic");
    say("detached");
    return until_finished();
  }
  auto publisher = node->create_publisher<Sample>("topic");
  say("ready");
  next_order();
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, 10'000);
  until_finished();
}

class Refused : public Restarts {
 protected:
  /// There is another manager, at which "topic" has no `anchor` and another type when the child comes to it.
  std::shared_ptr<Publisher<std::uint64_t>> take_topic(Node& node, const Child& child,
                                                       std::shared_ptr<Publisher<Sample>> anchor = nullptr) const {
    child.stop();
    kill_manager();
    anchor.reset();
    auto other = node.create_publisher<std::uint64_t>("topic");
    child.go_on();
    EXPECT_TRUE(is_refused(child));
    return other;
  }
};

TEST_F(Refused, WhatAnotherManagerDoesNotTakeIsAnnouncedAgainUntilWhoWasInTheWayHasGone) {
  auto node = Node::create("second");
  Child child("has_topic", {"publishes"});
  child.expect("ready");
  auto wrong = take_topic(*node, child);
  wrong.reset();
  EXPECT_TRUE(eventually([&] { return node->domain_state().endpoints.size() == 1; }));
  auto subscriber = node->create_subscriber<Sample>("topic");
  child.order("publish");
  EXPECT_TRUE(take_soon(*subscriber));
  restart_manager(*node, 1);
  subscriber.reset();
  child.end();
  EXPECT_TRUE(eventually([] { return all_windows_are_free(); }));
}

TEST_F(Refused, W84_AGhostThatAnotherManagerDoesNotTakeIsDetachedWhenItsTopicHasGoneByThen) {
  auto node = Node::create("second");
  auto anchor = node->create_publisher<Sample>("topic");
  Child child("has_topic", {"ghost"});
  child.expect("ready");
  auto wrong = take_topic(*node, child, std::move(anchor));
  wrong.reset();
  child.expect("detached");
  child.end();
}

// Ends on order.
ROLE(has_two) {
  auto node = Node::create("node");
  auto first = node->create_publisher<Sample>("first"), second = node->create_publisher<Sample>("second");
  say("ready");
  next_order();
}

TEST_F(Refused, W21_WhatAManagerRefusesIsToldToItAgainUnderAnotherId_ButNotWhatItsRulesForbid) {
  const os::Fd listener = os::listen_at(socket());
  const os::AddressRange range = os::probe_address_range();
  const wire::NodeRegistered welcome{range.base, range.window_size, range.count};
  const auto window = [&](std::uint64_t n) { return wire::Window{range.base + n * range.window_size, range.window_size}; };
  const auto refusal = [](std::uint64_t id, ErrorKind kind) { return wire::PublisherRefused{id, static_cast<std::uint32_t>(kind), "no"}; };
  Child child("has_two");
  Talk first = next_node(listener);
  first.send(welcome);
  for (std::uint64_t n = 0; n < 2; ++n) {
    first.send(wire::PublisherRegistered{first.expect<wire::RegisterPublisher>().id, window(n)});
    if (n == 0) first.expect<wire::Counters>();
  }
  child.expect("ready");
  first.close();
  Talk second = next_node(listener);
  second.send(welcome);
  second.expect<wire::Counters>();
  const auto forbidden = second.expect<wire::RegisterPublisher>(), in_the_way = second.expect<wire::RegisterPublisher>();
  EXPECT_EQ(forbidden.topic, "first");
  second.send(refusal(forbidden.id, ErrorKind::denied));
  second.send(refusal(in_the_way.id, ErrorKind::type_mismatch));
  const auto again = second.expect<wire::RegisterPublisher>();
  EXPECT_EQ(again.topic, "second");
  EXPECT_EQ(again.identity, in_the_way.identity);
  EXPECT_EQ(again.window, window(1));
  EXPECT_NE(again.id, in_the_way.id);
  second.send(refusal(again.id, ErrorKind::type_mismatch));
  const auto at_last = second.expect<wire::RegisterPublisher>();
  EXPECT_EQ(at_last.topic, "second");
  second.send(wire::PublisherRegistered{at_last.id, window(1)});
  const auto [end, other_end] = os::socket_pair();
  wire::ConnectPublisher nobodys;
  nobodys.connection = 5;
  second.send(nobodys, {end.get()});
  second.expect<wire::ConnectTaken>();  // what was said before has been heard
  child.order("end");
  EXPECT_EQ(second.expect<wire::DeletePublisher>().id, at_last.id);
  EXPECT_EQ(second.expect<wire::WindowReleased>().window, window(1));
  second.expect<wire::Goodbye>();
  child.end();
}

}  // namespace
}  // namespace sinew::system
