// Processes die, or stop, at every labelled point of the protocols, and nobody else notices more than that they are gone.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Death : public Domain {};

/// Checks what comes from several publishers, of which some die.
struct Survivor {
  explicit Survivor(const std::string& name)
      : node(Node::create(name)),
        subscriber(node->create_subscriber<Sample>("topic", [this](const Sample& sample, const MessageInfo& info) {
          torn += !is_whole(sample);
          std::uint64_t& last = of_publisher[info.publisher];
          wrong += last != 0 && info.sequence != last + info.missed + 1;  // what was published before we came is not missed
          last = info.sequence;
          ++received;
          ++of_writer[sample.writer % 4];
        })) {}
  ~Survivor() {
    subscriber.reset();
    EXPECT_EQ(torn, 0);
    EXPECT_EQ(wrong, 0) << "missed messages are not counted exactly";
  }

  std::atomic<int> torn{0}, wrong{0};
  std::atomic<std::uint64_t> received{0};
  std::array<std::atomic<std::uint64_t>, 4> of_writer{};
  std::map<std::string, std::uint64_t> of_publisher;  // the callback's
  std::shared_ptr<Node> node;
  std::shared_ptr<Subscriber<Sample>> subscriber;
};

// Publishes messages of growing and shrinking sizes until it dies.
ROLE(mortal_publisher) {
  auto node = Node::create(arguments[0]);
  auto publisher = node->create_publisher<Sample>("topic");
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1;; ++number) {
    publish_in_place(*publisher, 1, number, static_cast<std::size_t>(number % 7 * std::min<std::uint64_t>(number, 100) * 10'000));
  }
}

class DeathOfAPublisher : public Death, public ::testing::WithParamInterface<const char*> {};

TEST_P(DeathOfAPublisher, LeavesItsSubscribersWithWholeMessagesAndReadyForTheNext) {
  Survivor survivor("survivor");
  const std::string label = GetParam();
  // A pair comes together once, a window gets few chunks; the others are passed with every message.
  std::vector<std::string> passes = {"1", "7", "40"};
  if (label == "publisher.attaching" || label == "publisher.listed") passes = {"1"};
  if (label == "window.sealed") passes = {"1", "2", "3"};
  for (const std::string& pass : passes) {
    Child mortal("mortal_publisher", {"mortal" + pass}, {{"SINEW_AT", label + ":" + pass + ":kill"}});
    EXPECT_EQ(mortal.wait(), -9) << mortal.errors();
    EXPECT_TRUE(eventually([&] { return survivor.subscriber->statistics().publishers == 0; }));

    auto healthy = Node::create("healthy" + pass);
    auto publisher = healthy->create_publisher<Sample>("topic");
    await_subscribers(*publisher, 1);
    publish_in_place(*publisher, 2, 1, 50'000);
    EXPECT_TRUE(eventually([&] { return survivor.of_writer[2] == 1; }));
    survivor.of_writer[2] = 0;
  }
}

INSTANTIATE_TEST_SUITE_P(At, DeathOfAPublisher,
                         ::testing::Values("publisher.attaching", "publisher.listed", "publisher.before_publish", "ring.fields",
                                           "ring.published", "ring.head", "publisher.before_doorbell", "ring.retired", "publisher.retired",
                                           "window.sealed"),
                         [](const auto& label) {
                           std::string name = label.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

// Publishes a message when it is told to, until it dies.
ROLE(mortal_publisher_that_is_told) {
  auto node = Node::create("mortal");
  auto publisher = node->create_publisher<Sample>("topic");
  for (std::uint64_t number = 1;; ++number) {
    next_order();
    publish_in_place(*publisher, 1, number, 1000);
  }
}

// Its last message is in the ring, and it has told nobody.
TEST_F(Death, S1_WhatAPublisherPublishedBeforeItDiedWakesAReaderThatSleeps) {
  auto node = Node::create("reader");
  std::atomic<std::uint64_t> last{0};
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample& sample) { last = sample.number; });
  for (int round = 0; round < rounds(20); ++round) {
    Child mortal("mortal_publisher_that_is_told", {}, {{"SINEW_AT", "publisher.before_doorbell:3:kill"}});
    ASSERT_TRUE(eventually([&] { return subscriber->statistics().publishers == 1; }));
    for (std::uint64_t number = 1; number <= 3; ++number) {
      mortal.order("publish");
      ASSERT_TRUE(eventually([&] { return last == number; })) << "asleep over message " << number << " in round " << round;
    }
    EXPECT_EQ(mortal.wait(), -9) << mortal.errors();
    ASSERT_TRUE(eventually([&] { return subscriber->statistics().publishers == 0; }));
    last = 0;
  }
}

// Receives, keeping the newest few, until it dies.
ROLE(mortal_subscriber) {
  std::vector<std::shared_ptr<const Sample>> kept(5);
  std::size_t next = 0;
  auto node = Node::create("mortal");
  auto subscriber = node->create_subscriber<Sample>("topic", [&](std::shared_ptr<const Sample> sample) {
    require(is_whole(*sample), "not whole");
    kept[next++ % kept.size()] = std::move(sample);
  });
  until_finished();
}

class DeathOfASubscriber : public Death, public ::testing::WithParamInterface<const char*> {};

TEST_P(DeathOfASubscriber, GivesBackWhatItHeldAndDisturbsNobody) {
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic");
  Survivor survivor("survivor");
  await_subscribers(*publisher, 1);
  std::uint64_t number = 0;
  // When the survivor has taken everything, this one message is all that is kept.
  const auto memory_for_one = [&] {
    publish_in_place(*publisher, 1, ++number, 50'000);
    EXPECT_TRUE(eventually([&] { return survivor.received == number; }));
    return publisher->statistics().memory_in_use;
  };
  // More where the survivor has not let go of the message before yet.
  std::uint64_t before = memory_for_one();
  for (int i = 0; i < 10; ++i) before = std::min(before, memory_for_one());
  const std::string label = GetParam();
  for (const char* pass : {"1", "2", "9"}) {
    if (label == "subscriber.chunk_mapped" && pass != std::string("1")) break;
    Child mortal("mortal_subscriber", {}, {{"SINEW_AT", label + ":" + pass + ":kill"}});
    EXPECT_TRUE(eventually([&] {
      memory_for_one();
      return mortal.has_ended();
    }));
    EXPECT_EQ(mortal.wait(), -9) << mortal.errors();
    EXPECT_TRUE(eventually([&] { return publisher->statistics().subscribers == 1 && memory_for_one() == before; }));
  }
  EXPECT_EQ(survivor.subscriber->statistics().missed, 0U);
}

INSTANTIATE_TEST_SUITE_P(At, DeathOfASubscriber,
                         ::testing::Values("subscriber.chunk_mapped", "claim.stored", "claim.first_look", "claim.copied",
                                           "claim.second_look", "subscriber.claimed", "claim.cursor"),
                         [](const auto& label) {
                           std::string name = label.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

TEST_F(Death, ManyPublishersDieOverOneSubscriberAndNothingOfThemStays) {
  Survivor survivor("survivor");
  std::size_t descriptors = 0, mappings = 0;
  for (int round = 0; round < rounds(20); ++round) {
    Child mortal("mortal_publisher", {"mortal" + std::to_string(round)},
                 {{"SINEW_AT", "publisher.before_doorbell:" + std::to_string(20 + round) + ":kill"}});
    EXPECT_EQ(mortal.wait(), -9) << mortal.errors();
    EXPECT_TRUE(eventually([&] { return survivor.subscriber->statistics().publishers == 0; }));
    if (round == 0) {
      descriptors = descriptors_of(::getpid());
      mappings = mappings_of(::getpid());
    }
  }
  EXPECT_TRUE(eventually([&] { return mappings_of(::getpid()) <= mappings && descriptors_of(::getpid()) <= descriptors; }))
      << mappings_of(::getpid()) << " of " << mappings << ", " << descriptors_of(::getpid()) << " of " << descriptors;
}

// --- stopped -------------------------------------------------------------------------------------------------------------------------------

TEST_F(Death, ASubscriberThatIsStoppedInItsHandshakeDisturbsNobody) {
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic");
  publish_in_place(*publisher, 1, 1, 50'000);  // there is a chunk
  for (const char* label : {"subscriber.chunk_mapped", "claim.copied"}) {
    Child stopped("mortal_subscriber", {}, {{"SINEW_AT", label + std::string(":1:stop")}});
    await_subscribers(*publisher, 1);
    EXPECT_TRUE(eventually([&] {
      publish_in_place(*publisher, 1, 2, 50'000);
      return stopped.is_stopped();
    }));
    {
      Survivor survivor("survivor");
      await_subscribers(*publisher, 2);
      for (std::uint64_t number = 1; number <= 200; ++number) {
        EXPECT_EQ(publish_in_place(*publisher, 1, number, static_cast<std::size_t>(number * 10'000)), PublishResult::published);
        EXPECT_TRUE(eventually([&] { return survivor.received == number; }));
      }
    }
    stopped.go_on();
    stopped.end();
    await_subscribers(*publisher, 0);
  }
}

TEST_F(Death, APublisherThatIsStoppedInItsHandshakeDisturbsNobody) {
  Survivor survivor("survivor");
  for (const std::string point : {"attaching", "listed"}) {
    Child stopped("mortal_publisher", {"stopped_" + point}, {{"SINEW_AT", "publisher." + point + ":1:stop"}});
    EXPECT_TRUE(eventually([&] { return stopped.is_stopped(); }));
    auto node = Node::create("beside_" + point);
    auto publisher = node->create_publisher<Sample>("topic");
    await_subscribers(*publisher, 1);
    survivor.of_writer[2] = 0;
    for (std::uint64_t number = 1; number <= 100; ++number) {
      publish_in_place(*publisher, 2, number, 10'000);
      EXPECT_TRUE(eventually([&] { return survivor.of_writer[2] == number; }));
    }
    stopped.kill();
  }
}

}  // namespace
}  // namespace sinew::system
