// What publishers and subscribers tell beside messages: who comes and goes, who does not fit, what is lost; and how handlers are called.
#include "tests/system/events.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

ROLE(publisher_by_order) {
  if (path_named(arguments.at(0)).where == Where::other_user) become_stranger();
  PublisherByOrder publisher(arguments.at(1));
  for (std::string order; (order = next_order()) != "end";) {
    publisher.obey(order);
    say("done");
  }
}

class Events : public Paths {};
class EventsBetweenProcesses : public Paths {};

TEST_P(Events, BothSidesAreToldOfEachOtherComingAndGoing) {
  auto node = Node::create("viewer");
  Told<MatchedEvent> matched;
  SubscriberOptions options = by(GetParam());
  options.events.matched = matched.handler();
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, options);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create");
  auto event = matched.soon([](const auto& each) { return each.current_count == 1; });
  ASSERT_TRUE(event);
  EXPECT_EQ(event->current_count_change, 1);
  EXPECT_EQ(event->total_count, 1U);
  publisher.obey("subscribers 1 1");
  publisher.obey("destroy");
  event = matched.soon([](const auto& each) { return each.current_count == 0; });
  ASSERT_TRUE(event);
  EXPECT_EQ(event->current_count_change, -1);
  EXPECT_EQ(event->total_count_change, 0U);
  publisher.obey("create");
  ASSERT_TRUE(matched.soon([](const auto& each) { return each.current_count == 1; }));
  EXPECT_EQ(matched.total(), 2U);
  subscriber.reset();
  publisher.obey("subscribers 0 1");
  publisher.end();
}

TEST_P(EventsBetweenProcesses, AKilledPublisherIsUnmatchedAtOnce) {
  auto node = Node::create("viewer");
  Told<MatchedEvent> matched;
  Told<LivelinessChangedEvent> liveliness;
  SubscriberOptions options = by(GetParam());
  options.events.matched = matched.handler();
  options.events.liveliness_changed = liveliness.handler();
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, options);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create lease=3600000");
  ASSERT_TRUE(liveliness.soon([](const auto& each) { return each.alive_count == 1; }));
  publisher.process().kill();
  const auto event = liveliness.soon([](const auto& each) { return each.alive_count == 0; });
  ASSERT_TRUE(event);
  EXPECT_EQ(event->alive_count_change, -1);
  EXPECT_EQ(event->not_alive_count, 0U) << "it is gone, not silent";
  EXPECT_EQ(event->node, "camera");
  EXPECT_TRUE(matched.soon([](const auto& each) { return each.current_count == 0; }));
}

TEST_P(Events, BothSidesAreToldWhoDoesNotFitAndWhy) {
  struct Case {
    std::string offered, asked, why;
  };
  const std::vector<Case> cases = {
      {"", "reliable", "reliability: best_effort / reliable"},
      {"", "kept", "durability: volatile / transient_local"},
      {"deadline=2", "deadline=1", "deadline: 2 ms / 1 ms"},
      {"", "deadline=1", "deadline: none / 1 ms"},
      {"lease=200", "lease=100", "liveliness: automatic with a lease of 200 ms / automatic with a lease of 100 ms"},
      {"lease=200", "lease=200 manual_by_topic", "liveliness: automatic with a lease of 200 ms / manual_by_topic with a lease of 200 ms"},
      {"lease=3000 manual_by_topic", "lease=200", "liveliness: manual_by_topic with a lease of 3 s / automatic with a lease of 200 ms"},
      {"", "lease=200", "liveliness: automatic without a lease / automatic with a lease of 200 ms"},
      {"", "reliable kept deadline=1 lease=1 manual_by_topic",
       "reliability: best_effort / reliable | durability: volatile / transient_local | deadline: none / 1 ms | "
       "liveliness: automatic without a lease / manual_by_topic with a lease of 1 ms"},
  };
  auto node = Node::create("viewer");
  PublisherSomewhere publisher(GetParam());
  for (const Case& each : cases) {
    Told<IncompatibleQosEvent> incompatible;
    SubscriberOptions options = by(GetParam());
    options.events.incompatible_qos = incompatible.handler();
    auto subscriber = node->create_subscriber<Sample>("topic", qos_of(each.asked), options);
    publisher.obey("create " + each.offered);
    const auto event = incompatible.soon([](const auto& told) { return told.total_count == 1; });
    ASSERT_TRUE(event) << each.why;
    EXPECT_EQ(event->total_count_change, 1U);
    EXPECT_EQ(why_apart(*event), "camera | " + each.why);
    EXPECT_EQ(subscriber->statistics().incompatible, 1U);
    EXPECT_EQ(subscriber->statistics().publishers, 0U);
    publisher.obey("incompatible viewer | " + each.why);
    publisher.obey("destroy");
  }
  publisher.end();
}

TEST_P(Events, WhatIsPushedOutByNewerMessagesIsTold) {
  auto node = Node::create("viewer");
  Told<MessageLostEvent> lost;
  SubscriberOptions options = by(GetParam());
  options.events.message_lost = lost.handler();
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(2), options);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create");
  publisher.obey("subscribers 1 1");
  for (std::uint64_t round = 1; round <= 2; ++round) {
    for (int i = 0; i < 5; ++i) publisher.obey("publish");
    ASSERT_TRUE(take_soon(*subscriber));
    ASSERT_TRUE(take_soon(*subscriber));
    ASSERT_TRUE(lost.soon([&](const auto& each) { return each.total_count == 3 * round; }));
  }
  EXPECT_EQ(lost.total(), 6U);
  EXPECT_EQ(lost.last().pushed_out.total_count, 6U);
  EXPECT_EQ(lost.last().withdrawn.total_count, 0U);
  EXPECT_EQ(subscriber->statistics().missed, 6U);
  publisher.end();
}

TEST_P(Events, WhatHasGrownTooOldIsTold) {
  auto node = Node::create("viewer");
  Told<MessageLostEvent> lost;
  SubscriberOptions options = by(GetParam());
  options.events.message_lost = lost.handler();
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, options);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create lifespan=1");
  publisher.obey("subscribers 1 1");
  publisher.obey("publish");
  publisher.obey("publish");
  std::this_thread::sleep_for(10ms);
  ASSERT_TRUE(eventually([&] { return !subscriber->take() && subscriber->statistics().expired == 2; }));
  ASSERT_TRUE(lost.soon([](const auto& each) { return each.expired.total_count == 2; }));
  EXPECT_EQ(lost.total(), 2U);
  publisher.end();
}

TEST_P(Events, AreToldOneAtATimeWithMessages) {
  std::atomic<bool> busy{false}, overlaps{false};
  std::atomic<int> messages{0}, matched{0}, incompatible{0}, missed{0}, liveliness{0}, lost{0};
  const auto alone = [&](std::atomic<int>& calls) {
    return [&](const auto&) {
      if (busy.exchange(true)) overlaps = true;
      std::this_thread::sleep_for(200us);
      busy = false;
      ++calls;
    };
  };
  auto node = Node::create("viewer");
  SubscriberOptions options = by(GetParam());
  options.events = {.matched = alone(matched),
                    .incompatible_qos = alone(incompatible),
                    .deadline_missed = alone(missed),
                    .liveliness_changed = alone(liveliness),
                    .message_lost = alone(lost)};
  auto subscriber = node->create_subscriber<Sample>(
      "topic", [&, call = alone(messages)](const Sample& sample) { call(sample); }, Qos{}.keep_last(1).deadline(5ms), options);
  PublisherSomewhere publisher(GetParam()), other(GetParam(), "other");
  EXPECT_TRUE(eventually([&] {
    publisher.obey("create deadline=5 lease=20 manual_by_topic");
    other.obey("create deadline=5");
    publisher.obey("subscribers 1 1");
    other.obey("subscribers 1 1");
    for (int i = 0; i < 20; ++i) publisher.obey("publish"), other.obey("publish");
    publisher.obey("lost 1");
    publisher.obey("create");
    publisher.obey("destroy");
    return std::min({messages.load(), matched.load(), incompatible.load(), missed.load(), liveliness.load()}) >= 3;
  })) << messages
      << " " << matched << " " << incompatible << " " << missed << " " << liveliness << " " << lost;
  subscriber.reset();
  EXPECT_FALSE(overlaps);
  publisher.end();
  other.end();
}

SINEW_ON_ALL_PATHS(Events);
SINEW_ON_PATHS_BETWEEN_PROCESSES(EventsBetweenProcesses);

class EventsOfMemory : public Domain, public ::testing::WithParamInterface<Delivery> {};

TEST_P(EventsOfMemory, WhatAPublisherTakesBackForWantOfMemoryIsToldAsSuch) {
  auto node = Node::create("node");
  PublisherOptions small;
  small.memory_budget = 1 << 20;
  auto publisher = node->create_publisher<Sample>("topic", Qos{}, small);
  Told<MessageLostEvent> lost;
  SubscriberOptions options;
  options.delivery = GetParam();
  options.events.message_lost = lost.handler();
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(64), options);
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 20; ++number) {
    ASSERT_EQ(publish_in_place(*publisher, 1, number, 100'000), PublishResult::published);
  }
  for (std::uint64_t last = 0; last < 20;) {
    const auto message = take_soon(*subscriber);
    ASSERT_TRUE(message);
    last = message->number;
  }
  const std::uint64_t withdrawn = subscriber->statistics().withdrawn;
  EXPECT_GT(withdrawn, 0U);
  ASSERT_TRUE(lost.soon([&](const auto& each) { return each.withdrawn.total_count == withdrawn; }));
  EXPECT_EQ(lost.total(), withdrawn);
  EXPECT_EQ(lost.last().pushed_out.total_count, 0U);
}

INSTANTIATE_TEST_SUITE_P(By, EventsOfMemory, ::testing::Values(Delivery::native, Delivery::view, Delivery::copy),
                         [](const auto& path) { return to_string(path.param); });

// --- how handlers are called ---------------------------------------------------------------------------------------------------------------

class Handlers : public Domain {};

TEST_F(Handlers, RunOnTheThreadOfMessageCallbacksAndAreMergedWhileThatIsBusy) {
  auto node = Node::create("node");
  auto other = Node::create("other");
  std::atomic<bool> busy{false}, go{false};
  std::thread::id of_messages, of_events;
  Told<MatchedEvent> matched;
  SubscriberOptions options;
  options.events.matched = [&, tell = matched.handler()](const MatchedEvent& event) {
    of_events = std::this_thread::get_id();
    tell(event);
  };
  auto first = other->create_publisher<Sample>("topic");
  auto subscriber = node->create_subscriber<Sample>(
      "topic",
      [&](const Sample&) {
        of_messages = std::this_thread::get_id();
        busy = true;
        while (!go) std::this_thread::sleep_for(1ms);
      },
      Qos{}, options);
  ASSERT_TRUE(matched.soon([](const auto& each) { return each.current_count == 1; }));
  first->publish(sample_of(1, 1, 100));
  ASSERT_TRUE(eventually([&] { return busy.load(); }));
  for (int i = 0; i < 10; ++i) (void)other->create_publisher<Sample>("topic");
  auto second = other->create_publisher<Sample>("topic");
  EXPECT_EQ(matched.all().size(), 1U);
  go = true;
  const auto event = matched.soon([](const auto& each) { return each.current_count == 2; });
  ASSERT_TRUE(event);
  EXPECT_EQ(event->total_count, 12U);
  EXPECT_EQ(event->total_count_change, 11U) << "all in one";
  EXPECT_EQ(event->current_count_change, 1);
  subscriber.reset();
  EXPECT_EQ(of_events, of_messages);
  EXPECT_EQ(matched.all().size(), 2U);
}

TEST_F(Handlers, MayDestroyTheirSubscriberTheirPublisherAndTheirNode) {
  for (int round = 0; round < rounds(20); ++round) {
    std::atomic<int> calls{0};
    std::atomic<bool> ready{false}, done{false};
    auto node = Node::create("node");
    auto other = Node::create("other");
    std::shared_ptr<Subscriber<Sample>> subscriber;
    std::shared_ptr<Publisher<Sample>> publisher;
    const auto destroy = [&](const MatchedEvent&) {
      ++calls;
      while (!ready) std::this_thread::sleep_for(1ms);
      if (round % 3 == 0) node.reset();
      subscriber.reset();
      publisher.reset();
      node.reset();
      done = true;
    };
    SubscriberOptions of_subscriber;
    PublisherOptions of_publisher;
    (round % 2 == 0 ? of_subscriber.events.matched : of_publisher.events.matched) = destroy;
    if (round % 2 == 0) of_subscriber.events.liveliness_changed = [&](const LivelinessChangedEvent&) { ++calls; };  // would be next
    subscriber = node->create_subscriber<Sample>("topic", Qos{}, of_subscriber);
    publisher = node->create_publisher<Sample>("other_topic", Qos{}, of_publisher);
    auto from = other->create_publisher<Sample>("topic");
    auto to = other->create_subscriber<Sample>("other_topic");
    ready = true;
    ASSERT_TRUE(eventually([&] { return done.load(); }));
    EXPECT_EQ(from->statistics().subscribers, 0U);
    EXPECT_EQ(calls, 1);
  }
}

TEST_F(Handlers, AreNotCalledAnyMoreWhenTheDestructorHasReturned) {
  auto node = Node::create("node");
  auto other = Node::create("other");
  const std::jthread coming_and_going([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      auto publisher = other->create_publisher<std::uint64_t>("topic");
      auto subscriber = other->create_subscriber<std::uint64_t>("other_topic");
    }
  });
  for (int round = 0; round < rounds(50); ++round) {
    std::atomic<bool> gone{false}, late{false};
    std::atomic<int> calls{0};
    const auto note = [&](const MatchedEvent&) {
      ++calls;
      std::this_thread::sleep_for(100us);
      if (gone) late = true;
    };
    SubscriberOptions of_subscriber;
    of_subscriber.events.matched = note;
    PublisherOptions of_publisher;
    of_publisher.events.matched = note;
    auto subscriber = node->create_subscriber<std::uint64_t>("topic", Qos{}, of_subscriber);
    auto publisher = node->create_publisher<std::uint64_t>("other_topic", Qos{}, of_publisher);
    EXPECT_TRUE(eventually([&] { return calls > 1; }));
    subscriber.reset();
    publisher.reset();
    gone = true;
    std::this_thread::sleep_for(1ms);
    EXPECT_FALSE(late);
  }
}

TEST_F(Handlers, AndWhatTheyKeepAreLetGoWithTheirPublisherOrSubscriber) {
  auto node = Node::create("node");
  const auto kept = std::make_shared<int>(1);
  SubscriberOptions of_subscriber = as_from_elsewhere();
  of_subscriber.events.message_lost = [kept](const MessageLostEvent&) {};
  PublisherOptions of_publisher;
  of_publisher.events.deadline_missed = [kept](const DeadlineMissedEvent&) {};
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, of_subscriber);
  auto publisher = node->create_publisher<Sample>("topic", Qos{}, of_publisher);
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, 100);
  const auto held = take_soon(*subscriber);  // and the connection with it
  ASSERT_TRUE(held);
  of_subscriber = {};
  of_publisher = {};
  EXPECT_EQ(kept.use_count(), 3);
  subscriber.reset();
  publisher.reset();
  EXPECT_EQ(kept.use_count(), 1);
}

// --- what handlers keep, and who waits for whom -----------------------------------------------------------------------------------------------

struct Robot {
  std::shared_ptr<Node> node;
  std::shared_ptr<Publisher<Sample>> publisher;
  std::shared_ptr<Subscriber<Sample>> subscriber;
};

TEST_F(Handlers, AHandlerMayHoldTheLastReferenceToWhatItDestroys) {
  std::weak_ptr<Robot> watch;
  const auto is_last = std::make_shared<std::atomic<bool>>(false);
  {
    auto robot = std::make_shared<Robot>();
    watch = robot;
    robot->node = Node::create("robot");
    SubscriberOptions options;
    options.events.matched = [robot, is_last](const MatchedEvent&) {
      require(eventually([&] { return is_last->load(); }), "the test does not let go");
      robot->subscriber.reset();
    };
    robot->subscriber = robot->node->create_subscriber<Sample>("topic", Qos{}, options);
    robot->publisher = robot->node->create_publisher<Sample>("topic");
  }
  *is_last = true;
  EXPECT_TRUE(eventually([&] { return watch.expired(); })) << "the handler, and what it keeps, stays";
}

TEST_F(Handlers, WhoComesToABusyThreadIsServedAsWell) {
  auto node = Node::create("node");
  auto busy = node->create_publisher<Sample>("busy");
  auto flood = node->create_subscriber<Sample>("busy", [&](const Sample& sample) { busy->publish(sample); });
  busy->publish(sample_of(1, 1, 10));  // from now on there is always one more
  std::atomic<int> matched{0}, got{0};
  SubscriberOptions options;
  options.events.matched = [&](const MatchedEvent&) { ++matched; };
  auto late = node->create_subscriber<Sample>("late", [&](const Sample&) { ++got; }, Qos{}, options);
  auto publisher = node->create_publisher<Sample>("late");
  publisher->publish(sample_of(1, 1, 10));
  EXPECT_TRUE(eventually([&] { return matched > 0 && got > 0; }));
  flood.reset();
}

}  // namespace
}  // namespace sinew::system
