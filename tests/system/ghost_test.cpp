// Publishers and subscribers that are only there as long as others are.
#include <atomic>
#include <utility>
#include <vector>

#include "tests/system/paths.hpp"

namespace sinew::system {
namespace {

class Ghosts : public Paths {};

class GhostsHere : public Domain {
 protected:
  static PublisherOptions publisher_options(Ghost ghost = Ghost::observer) { return {.ghost = ghost}; }
};

TEST_F(GhostsHere, CannotBeCreatedOnATopicThatDoesNotExist) {
  auto node = Node::create("tool");
  const auto create = [&](auto make) {
    try {
      make();
      return std::string("created");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unavailable);
      return std::string(error.what());
    }
  };
  SubscriberOptions options;
  options.ghost = Ghost::observer;
  EXPECT_EQ(create([&] { (void)node->create_subscriber<Sample>("topic", Qos{}, options); }),
            "topic 'topic' does not exist, and a ghost does not make it: wait until the domain's state shows it, or create the subscriber "
            "without the option ghost.");
  EXPECT_NE(create([&] { (void)node->create_publisher<Sample>("topic", Qos{}, publisher_options()); }).find("create the publisher"),
            std::string::npos);
}

TEST_F(GhostsHere, NeverConnectAsTwoCarriers) {
  auto node = Node::create("node"), other = Node::create("other");
  auto anchor = node->create_subscriber<Sample>("topic");
  auto publisher = other->create_publisher<Sample>("topic", Qos{}, publisher_options(Ghost::carrier));
  SubscriberOptions options;
  options.ghost = Ghost::carrier;
  auto subscriber = other->create_subscriber<Sample>("topic", Qos{}, options);
  await_subscribers(*publisher, 1);
  EXPECT_EQ(publisher->publish(sample_of(1, 1, 10)), PublishResult::published);
  EXPECT_TRUE(anchor->take(std::chrono::minutes(1))) << "which another one got";
  EXPECT_FALSE(subscriber->take());
  EXPECT_EQ(publisher->statistics().subscribers, 1u);
  EXPECT_EQ(subscriber->statistics().publishers, 0u);
}

// What a gateway brings into the domain a tool sees, and what somebody publishes by a tool the gateway takes out; also in one process.
TEST_F(GhostsHere, ConnectWhereOneIsAnObserver) {
  for (const auto& [published, subscribed] : {std::pair{Ghost::carrier, Ghost::observer}, std::pair{Ghost::observer, Ghost::carrier},
                                              std::pair{Ghost::observer, Ghost::observer}}) {
    auto node = Node::create("node"), other = Node::create("other");
    auto anchor = node->create_subscriber<Sample>("topic");
    auto publisher = other->create_publisher<Sample>("topic", Qos{}, publisher_options(published));
    SubscriberOptions options;
    options.ghost = subscribed;
    auto subscriber = other->create_subscriber<Sample>("topic", Qos{}, options);
    await_subscribers(*publisher, 2);
    EXPECT_EQ(publisher->publish(sample_of(1, 1, 10)), PublishResult::published);
    EXPECT_TRUE(subscriber->take(std::chrono::minutes(1)));
    anchor.reset();
    EXPECT_TRUE(eventually([&] { return publisher->statistics().detached && subscriber->statistics().detached; }))
        << "they do not keep the topic for each other";
  }
}

TEST_F(GhostsHere, AreToldByTheStateWithTheirKinds) {
  auto node = Node::create("node");
  auto anchor = node->create_subscriber<Sample>("topic");
  auto carrier = node->create_publisher<Sample>("topic", Qos{}, publisher_options(Ghost::carrier));
  auto observer = node->create_publisher<Sample>("topic", Qos{}, publisher_options(Ghost::observer));
  std::vector<Ghost> told;
  for (const DomainEndpoint& end : node->domain_state().endpoints) told.push_back(end.ghost);
  EXPECT_EQ(told, (std::vector{Ghost::no, Ghost::carrier, Ghost::observer}));
}

TEST_F(GhostsHere, AreOfNoKindThatDoesNotExist) {
  auto node = Node::create("node");
  auto anchor = node->create_subscriber<Sample>("topic");
  try {
    (void)node->create_publisher<Sample>("topic", Qos{}, publisher_options(static_cast<Ghost>(3)));
    ADD_FAILURE() << "created";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_STREQ(error.what(), "topic 'topic': ghost has a value that is none of Ghost's");
  }
}

TEST_F(GhostsHere, DoNotKeepTheTopicNorItsType) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto anchor = node->create_publisher<Sample>("topic");
  SubscriberOptions options;
  options.ghost = Ghost::observer;
  std::atomic<int> detached = 0;
  options.events.detached = [&](const DetachedEvent& event) {
    EXPECT_EQ(event.topic, "topic");
    ++detached;
  };
  auto subscriber = tool->create_subscriber<Sample>("topic", Qos{}, options);
  PublisherOptions publishes{.ghost = Ghost::observer};
  publishes.events.detached = options.events.detached;
  auto publisher = tool->create_publisher<Sample>("topic", Qos{}, publishes);
  anchor.reset();
  EXPECT_TRUE(eventually([&] { return detached == 2; })) << "their owners are told";
  EXPECT_TRUE(subscriber->statistics().detached);
  EXPECT_TRUE(publisher->statistics().detached);
  auto other_type = node->create_publisher<std::uint64_t>("topic");
  EXPECT_TRUE(node->domain_state().pairs.empty());
}

TEST_F(GhostsHere, WhoWaitsForAMessageIsToldWhenTheTopicGoes) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto anchor = node->create_publisher<Sample>("topic");
  SubscriberOptions options;
  options.ghost = Ghost::observer;
  auto ghost = tool->create_subscriber<Sample>("topic", Qos{}, options);
  await_subscribers(*anchor, 1);
  std::thread waits([&] { EXPECT_FALSE(ghost->take(std::chrono::nanoseconds::max())); });
  anchor.reset();
  waits.join();
  EXPECT_FALSE(ghost->take(std::chrono::nanoseconds::max())) << "nor does it wait any more";
}

TEST_F(GhostsHere, TakeWhatWasPublishedBeforeTheTopicWent) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto anchor = node->create_publisher<Sample>("topic");
  SubscriberOptions options;
  options.ghost = Ghost::observer;
  auto ghost = tool->create_subscriber<Sample>("topic", Qos{}, options);
  await_subscribers(*anchor, 1);
  EXPECT_EQ(anchor->publish(sample_of(1, 1, 10)), PublishResult::published);
  anchor.reset();
  ASSERT_TRUE(eventually([&] { return ghost->statistics().detached; }));
  EXPECT_EQ(ghost->take(std::chrono::nanoseconds::max())->number, 1u);
  EXPECT_FALSE(ghost->take(std::chrono::nanoseconds::max()));
}

TEST_F(GhostsHere, StayDetachedWhenTheTopicComesAgain) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto anchor = node->create_subscriber<Sample>("topic");
  auto publisher = tool->create_publisher<Sample>("topic", Qos{}, publisher_options());
  EXPECT_EQ(publisher->publish(sample_of(1, 1, 10)), PublishResult::published);
  anchor.reset();
  ASSERT_TRUE(eventually([&] { return publisher->statistics().detached; }));
  EXPECT_EQ(publisher->publish(sample_of(1, 2, 10)), PublishResult::closed);
  anchor = node->create_subscriber<Sample>("topic");
  EXPECT_EQ(publisher->publish(sample_of(1, 3, 10)), PublishResult::closed);
  EXPECT_EQ(anchor->statistics().publishers, 0u);
  publisher = tool->create_publisher<Sample>("topic", Qos{}, publisher_options());
  await_subscribers(*publisher, 1);
  EXPECT_EQ(publisher->publish(sample_of(1, 4, 10)), PublishResult::published);
  EXPECT_EQ(anchor->take(std::chrono::minutes(1))->number, 4u);
}

TEST_F(GhostsHere, CanBeDestroyedByTheHandlerThatTellsOfIt) {
  auto node = Node::create("node"), tool = Node::create("tool");
  for (int i = 0; i < rounds(50); ++i) {
    auto anchor = node->create_publisher<Sample>("topic");
    std::atomic<bool> gone = false;
    std::shared_ptr<Subscriber<Sample>> subscriber;
    SubscriberOptions options;
    options.ghost = Ghost::observer;
    options.events.detached = [&](const DetachedEvent&) {
      subscriber.reset();
      gone = true;
    };
    subscriber = tool->create_subscriber<Sample>("topic", Qos{}, options);
    anchor.reset();
    ASSERT_TRUE(eventually([&] { return gone.load(); }));
  }
  EXPECT_TRUE(eventually([&] { return node->domain_state().endpoints.empty(); }));
}

// What a ghost publishes and receives goes the same ways as any other's.
TEST_P(Ghosts, PublishToOthersAndAreDetachedWhenTheLastReaderGoes) {
  auto tool = Node::create("tool");
  std::shared_ptr<Publisher<Sample>> publisher;
  {
    Reader reader(GetParam(), "last=100");
    publisher = tool->create_publisher<Sample>("topic", Qos{}, {.ghost = Ghost::observer});
    reader.ask("hear 1");
    publish_numbers(*publisher, 1, 8);
    EXPECT_EQ(reader.ask("take 8"), numbers(1, 8));
  }
  EXPECT_TRUE(eventually([&] { return publisher->statistics().detached; }));
}

SINEW_ON_PATHS_BETWEEN_PROCESSES(Ghosts);

}  // namespace
}  // namespace sinew::system
