// Many publishers and subscribers of another user at once.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "session/counters.hpp"
#include "session/io/trust.hpp"
#include "shm/layout.hpp"
#include "tests/system/foreign.hpp"
#include "tests/system/restarts.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

/// Subscribers, or publishers, by hand, one after the other.
class Crowd {
 public:
  explicit Crowd(const Arguments& arguments) : subscribes_(arguments.at(0) == "subscribes") {
    for (Page* const ring : {&ring_, &impossible_}) shm::initialise(ring->as<shm::RingLayout>());
    impossible_.as<shm::RingLayout>().header.head.store(~std::uint64_t{0});
  }
  /// One more, and its end of the pair with the only one that there is to meet.
  Talk meet() {
    if (subscribes_) {
      stranger_.manager.send(wire::RegisterSubscriber{++last_id_, "topic", Stranger::type<Sample>(), {.depth = 8}});
    } else {
      stranger_.manager.send(
          wire::RegisterPublisher{++last_id_, "topic", Stranger::type<Sample>(), {.depth = 8}, 0, 0, wire::Ghost::no, 0, window_});
    }
    for (;;) {
      const auto message = stranger_.manager.receive();
      require(message.has_value(), "the manager ends the session");
      if (const auto* const registered = std::get_if<wire::PublisherRegistered>(&*message)) window_ = registered->window;
      if (stranger_.manager.descriptors.empty()) continue;  // it is registered
      Talk pair(std::move(stranger_.manager.descriptors[0]));
      const auto* const publisher = std::get_if<wire::ConnectSubscriber>(&*message);
      stranger_.manager.send(wire::ConnectTaken{publisher ? publisher->connection : std::get<wire::ConnectPublisher>(*message).connection});
      return pair;
    }
  }
  /// What makes it one that is served, or heard, where there is a place. `lies`: with a ring whose head cannot be.
  void begin(Talk& pair, bool lies = false) {
    if (subscribes_) {
      pair.send(wire::AttachForeign{});
    } else {
      const Page& ring = lies ? impossible_ : ring_;
      pair.send(wire::Ring{static_cast<std::uint32_t>(ring.mapping.size()), 1}, {ring.file.get()});
    }
  }
  /// For one that has begun: whether it was turned away.
  bool is_left(Talk& pair) const {
    while (const auto message = pair.receive()) {
      if (subscribes_ && std::holds_alternative<wire::Ring>(*message)) return false;
      if (std::holds_alternative<wire::ErrorText>(*message)) return true;
    }
    return true;
  }

 private:
  const bool subscribes_;
  Stranger stranger_{"crowd"};
  wire::Window window_;  // all publishers name that of the first: the thread sanitizer leaves room for 256
  std::uint64_t last_id_ = 0;
  Page ring_{(sizeof(shm::RingLayout) + 4095) / 4096 * 4096}, impossible_{ring_.mapping.size()};
};

// Five hundred that meet whoever is there and do nothing more.
ROLE(foreign_crowd) {
  become_stranger();
  Crowd crowd(arguments);
  std::vector<Talk> pairs;
  say("here");
  next_order();
  for (int i = 0; i < 500; ++i) pairs.push_back(crowd.meet());
  say("met");
  until_finished();
}

// As many as are served, the last of them behind forty that wait for nothing, as pairs do that stand already where all are introduced again; then one of the forty.
ROLE(foreign_crowd_that_begins) {
  become_stranger();
  Crowd crowd(arguments);
  std::vector<Talk> pairs, idle;
  while (pairs.size() < session::most_strangers) {
    if (pairs.size() + 1 == session::most_strangers) {
      while (idle.size() < 40) idle.push_back(crowd.meet());
    }
    pairs.push_back(crowd.meet());
    crowd.begin(pairs.back());
    if (arguments.at(0) == "subscribes") require(!crowd.is_left(pairs.back()), "one of those that have a place is not served");
  }
  say("met");
  next_order();
  crowd.begin(idle[0]);
  require(crowd.is_left(idle[0]), "there is a place for one more");
  say("no more");
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
  EXPECT_TRUE(eventually([&] { return descriptors_of(::getpid()) <= before + session::most_strangers_met; }));
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
  const std::size_t most = before + session::most_strangers_met + session::most_counter_files;
  EXPECT_TRUE(eventually([&] { return descriptors_of(::getpid()) <= most; }));
  auto own = camera->create_publisher<Sample>("topic");
  await_subscribers(*own, 1);
  publish_in_place(*own, 1, 1, 1000);
  EXPECT_TRUE(take_soon(*subscriber));
  Child late("foreign_publisher");
  EXPECT_TRUE(eventually([&] {
    const auto is_turned_away = [](const DomainPair& pair) { return pair.why.find("are the most") != std::string::npos; };
    return std::ranges::count_if(camera->domain_state().pairs, is_turned_away) == 500 - 128 + 1;
  })) << "who looks is told why";
  crowd.end();
  EXPECT_TRUE(take_soon(*subscriber));
  for (int n = 0; n < 20; ++n) late.order("next");
  late.end();
}

TEST_F(Foreign, ASubscriberOfAnotherUserThatDoesNotBeginTakesNoPlaceOfOneThatDoes) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  Child crowd("foreign_crowd_that_begins", {"subscribes"});
  crowd.expect("met");
  await_subscribers(*publisher, session::most_strangers);
  crowd.order("one more");
  crowd.expect("no more");
  EXPECT_EQ(publisher->statistics().subscribers, session::most_strangers);
  Child late("one_more_subscriber");
  late.expect("waits");
  crowd.end();
  late.finish();
  // Those of the crowd go one by one: a single subscriber may be the last of them.
  EXPECT_TRUE(eventually([&] {
    publish_in_place(*publisher, 1, 1, 1000);
    return late.has_ended();
  }));
  late.end();
}

TEST_F(Foreign, APublisherOfAnotherUserThatDoesNotBeginTakesNoPlaceOfOneThatDoes) {
  auto node = Node::create("viewer");
  auto subscriber = node->create_subscriber<Sample>("topic");
  Child crowd("foreign_crowd_that_begins", {"publishes"});
  crowd.expect("met");
  EXPECT_TRUE(eventually([&] { return subscriber->statistics().publishers == session::most_strangers; }));
  crowd.order("one more");
  crowd.expect("no more");
  EXPECT_EQ(subscriber->statistics().publishers, session::most_strangers);
  crowd.end();
  Child late("foreign_publisher");
  EXPECT_TRUE(take_soon(*subscriber));
  for (int n = 0; n < 20; ++n) late.order("next");
  late.end();
}

// As many as are served come and go, one after the other, and read nothing of what they get: a ring's descriptor. Then they read.
ROLE(foreign_crowd_that_reads_nothing) {
  become_stranger();
  Crowd crowd({"subscribes"});
  std::vector<Talk> pairs;
  while (pairs.size() < session::most_strangers) {
    pairs.push_back(crowd.meet());
    crowd.begin(pairs.back());
    pairs.back().send(wire::Unsubscribe{});
    pollfd end{pairs.back().socket().get(), POLLRDHUP, 0};
    require(::poll(&end, 1, 60'000) == 1, "it is not let go");
  }
  Talk one_more = crowd.meet();
  crowd.begin(one_more);
  require(crowd.is_left(one_more), "there is a place for one more");
  say("left");
  next_order();
  for (Talk& pair : pairs) require(!crowd.is_left(pair), "what it was sent has gone");
  say("read");
  until_finished();
}

TEST_F(Foreign, WhoHasLeftWithoutReadingWhatItWasSentKeepsItsPlaceUntilItReadsThat) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  const std::size_t before = descriptors_of(::getpid());
  Child crowd("foreign_crowd_that_reads_nothing");
  crowd.expect("left");
  EXPECT_EQ(publisher->statistics().subscribers, 0u);
  Child late("one_more_subscriber");
  late.expect("waits");
  crowd.order("read");
  crowd.expect("read");
  late.finish();
  EXPECT_TRUE(eventually([&] {
    publish_in_place(*publisher, 1, 1, 1000);
    return late.has_ended();
  }));
  late.end();
  crowd.end();
  // But for those of the export.
  EXPECT_TRUE(eventually([&] { return descriptors_of(::getpid()) <= before + 2 * shm::export_depth; })) << "what ended is kept";
}

// One that publishes what cannot be, among as many as are heard.
ROLE(foreign_crowd_with_a_liar) {
  become_stranger();
  Crowd crowd({"publishes"});
  std::vector<Talk> pairs;
  while (pairs.size() < session::most_strangers) {
    pairs.push_back(crowd.meet());
    crowd.begin(pairs.back(), pairs.size() == session::most_strangers);
  }
  say("met");
  until_finished();
}

TEST_F(Foreign, InThePlaceOfAPublisherThatSaysWhatCannotBeAnotherOneIsHeard) {
  auto node = Node::create("viewer"), camera = Node::create("camera");
  auto subscriber = node->create_subscriber<Sample>("topic");
  Child crowd("foreign_crowd_with_a_liar");
  crowd.expect("met");
  EXPECT_TRUE(eventually([&] { return subscriber->statistics().publishers == session::most_strangers; }));
  Child late("foreign_publisher");
  EXPECT_TRUE(eventually([&] {
    const auto is_turned_away = [](const DomainPair& pair) { return pair.why.find("are the most") != std::string::npos; };
    return std::ranges::any_of(camera->domain_state().pairs, is_turned_away);
  }));
  EXPECT_TRUE(take_soon(*subscriber));
  for (int n = 0; n < 20; ++n) late.order("next");
  late.end();
  crowd.end();
}

class ForeignRestarts : public WithRestarts<Foreign> {};

bool are_all_connected(const DomainState& state) {
  return state.pairs.size() == session::most_strangers && std::ranges::all_of(state.pairs, &DomainPair::connected);
}

ROLE(as_many_as_are_served) {
  become_stranger();
  auto node = Node::create("crowd");
  std::vector<std::shared_ptr<Subscriber<Sample>>> all;
  while (all.size() < session::most_strangers) all.push_back(node->create_subscriber<Sample>("topic"));
  require(eventually([&] { return std::ranges::all_of(all, [](const auto& each) { return each->statistics().publishers == 1; }); }),
          "one of them is not served");
  say("served");
  next_order();
  all.pop_back();
  until_finished();
}

ROLE(publisher_for_a_crowd) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  say("here");
  next_order();
  await_subscribers(*publisher, session::most_strangers);
  publish_in_place(*publisher, 1, 1, 1000);
  until_finished();
}

TEST_F(ForeignRestarts, WhoIsServedIsNotTurnedAwayWhenTheNextManagerIntroducesAllAgain) {
  auto node = Node::create("viewer");
  Child camera("publisher_for_a_crowd");
  camera.expect("here");
  Child crowd("as_many_as_are_served");
  crowd.expect("served");
  kill_manager();
  EXPECT_TRUE(eventually([&] { return are_all_connected(node->domain_state()); }));
  Child late("one_more_subscriber");
  late.expect("waits");
  EXPECT_TRUE(eventually([&] { return !are_all_connected(node->domain_state()); }));
  EXPECT_TRUE(eventually([&] { return camera.errors().find("node 'stranger' of another user is not served") != std::string::npos; }));
  EXPECT_EQ(camera.errors().find("node 'crowd' of another user"), std::string::npos) << camera.errors();
  crowd.order("one goes");
  EXPECT_TRUE(eventually([&] { return are_all_connected(node->domain_state()); }));
  camera.order("publish");
  late.end();
  crowd.end();
  camera.end();
}

}  // namespace
}  // namespace sinew::system
