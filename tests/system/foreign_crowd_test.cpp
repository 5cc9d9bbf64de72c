// Many publishers and subscribers of another user at once.
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "session/counters.hpp"
#include "session/io/trust.hpp"
#include "tests/system/foreign.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

// Five hundred subscribers, or publishers, that meet whoever is there and do nothing more.
ROLE(foreign_crowd) {
  become_stranger();
  Stranger stranger("crowd");
  std::vector<os::Fd> pairs;
  wire::Window window;  // all publishers name that of the first: the thread sanitizer leaves room for 256
  say("here");
  next_order();
  for (std::uint64_t id = 1; id <= 500; ++id) {
    if (arguments.at(0) == "subscribes") {
      stranger.manager.send(wire::RegisterSubscriber{id, "topic", Stranger::type<Sample>(), {.depth = 8}});
    } else {
      stranger.manager.send(wire::RegisterPublisher{id, "topic", Stranger::type<Sample>(), {.depth = 8}, 0, 0, wire::Ghost::no, 0, window});
    }
    while (pairs.size() < id) {
      const auto message = stranger.manager.receive();
      require(message.has_value(), "the manager ends the session");
      if (const auto* const registered = std::get_if<wire::PublisherRegistered>(&*message)) window = registered->window;
      if (stranger.manager.descriptors.empty()) continue;  // it is registered
      pairs.push_back(std::move(stranger.manager.descriptors[0]));
      const auto* const publisher = std::get_if<wire::ConnectSubscriber>(&*message);
      stranger.manager.send(wire::ConnectTaken{publisher ? publisher->connection : std::get<wire::ConnectPublisher>(*message).connection});
    }
  }
  say("met");
  until_finished();
}

ROLE(one_more_subscriber) {
  become_stranger();
  auto node = Node::create("stranger");
  auto subscriber = node->create_subscriber<Sample>("topic");
  say("waits");
  require(static_cast<bool>(take_soon(*subscriber)), "no message comes");
  until_finished();
}

TEST_F(Foreign, ACrowdOfSubscribersOfAnotherUserTakesNoMoreDescriptorsThanItsShareAndOthersAreServed) {
  auto node = Node::create("camera"), viewer = Node::create("viewer");
  auto publisher = node->create_publisher<Sample>("topic");
  Child crowd("foreign_crowd", {"subscribes"});
  crowd.expect("here");
  const std::size_t before = descriptors_of(::getpid());
  crowd.order("come");
  crowd.expect("met");
  EXPECT_TRUE(eventually([&] { return descriptors_of(::getpid()) <= before + session::most_strangers; }));
  auto own = viewer->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, 1000);
  EXPECT_TRUE(take_soon(*own));
  Child late("one_more_subscriber");
  late.expect("waits");
  crowd.end();
  await_subscribers(*publisher, 2);
  publish_in_place(*publisher, 1, 2, 1000);
  late.end();
}

TEST_F(Foreign, ACrowdOfPublishersOfAnotherUserTakesNoMoreDescriptorsThanItsShareAndOthersAreHeard) {
  auto node = Node::create("viewer"), camera = Node::create("camera");
  SubscriberOptions options;
  options.delivery = Delivery::copy;  // also from this process
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, options);
  Child crowd("foreign_crowd", {"publishes"});
  crowd.expect("here");
  const std::size_t before = descriptors_of(::getpid());
  crowd.order("come");
  crowd.expect("met");
  // And what comes of them is counted.
  const std::size_t most = before + session::most_strangers + session::most_counter_files;
  EXPECT_TRUE(eventually([&] { return descriptors_of(::getpid()) <= most; }));
  auto own = camera->create_publisher<Sample>("topic");
  await_subscribers(*own, 1);
  publish_in_place(*own, 1, 1, 1000);
  EXPECT_TRUE(take_soon(*subscriber));
  Child late("foreign_publisher");
  EXPECT_TRUE(eventually([&] {
    const auto is_turned_away = [](const DomainPair& pair) { return pair.why.find("are the most") != std::string::npos; };
    return std::ranges::count_if(camera->domain_state().pairs, is_turned_away) == 500 - 64 + 1;
  })) << "who looks is told why";
  crowd.end();
  EXPECT_TRUE(take_soon(*subscriber));
  for (int n = 0; n < 20; ++n) late.order("next");
  late.end();
}

}  // namespace
}  // namespace sinew::system
