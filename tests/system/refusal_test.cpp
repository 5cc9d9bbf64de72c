// What becomes of messages that are not published, and how long publish() waits before that.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Refusal : public Domain {};

ROLE(receiver) {
  auto node = Node::create("receiver");
  auto subscriber = node->create_subscriber<Sample>("topic");
  say("ready");
  require(take_soon(*subscriber)->number == 1, "what comes is no message that was published");
  say("received");
  until_finished();
}

TEST_F(Refusal, AMessageThatIsNotThereIsInvalid) {
  auto node = Node::create("node"), near = Node::create("near");
  auto publisher = node->create_publisher<Sample>("topic");
  auto subscriber = near->create_subscriber<Sample>("topic");
  const auto try_all = [&](std::uint64_t refused) {
    EXPECT_EQ(publisher->publish(std::unique_ptr<Sample>()), PublishResult::invalid);
    EXPECT_EQ(publisher->publish(std::shared_ptr<const Sample>()), PublishResult::invalid);
    auto loan = publisher->loan();
    const auto taken = std::move(loan);
    EXPECT_EQ(publisher->publish(std::move(loan)), PublishResult::invalid);  // NOLINT(bugprone-use-after-move): that is what is tried
    EXPECT_EQ(publisher->publish(Loan<Sample>()), PublishResult::invalid);
    EXPECT_EQ(publisher->statistics().refused, refused);
  };
  await_subscribers(*publisher, 1);
  try_all(4);
  Child far("receiver");
  far.expect("ready");
  await_subscribers(*publisher, 2);
  try_all(8);
  EXPECT_EQ(publish_in_place(*publisher, 1, 1, 1000), PublishResult::published);
  far.expect("received");
  EXPECT_EQ(take_soon(*subscriber)->number, 1U);
  far.end();
}

ROLE(publisher_that_is_held_back) {
  auto node = Node::create("node"), other = Node::create("other");
  auto publisher = node->create_publisher<std::uint64_t>("topic", lossless(), {.max_blocking = {}});
  auto subscriber = other->create_subscriber<std::uint64_t>("topic", lossless());
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 1024; ++number) {
    require(publisher->publish(number) == PublishResult::published, "there is room for it");
  }
  for (int i = 0; i < 3; ++i) require(publisher->publish(std::uint64_t{0}) == PublishResult::would_block, "there is no room for it");
  for (std::uint64_t number = 1; number <= 1024; ++number) require(*take_soon(*subscriber) == number, "it is lost");
  require(publisher->publish(std::uint64_t{1025}) == PublishResult::published && *take_soon(*subscriber) == 1025, "it does not go on");
  require(subscriber->statistics().missed == 0 && publisher->statistics().refused == 3, "who counts what was not published");
}

TEST_F(Refusal, APublisherThatIsHeldBackForTooLongSaysSoOnce) {
  Child held_back("publisher_that_is_held_back", {}, {{"SINEW_LOG", "warn"}});
  held_back.end();
  const std::string errors = held_back.errors();
  const auto said = errors.find("topic 'topic': a message was not published (said once");
  ASSERT_NE(said, errors.npos) << errors;
  EXPECT_NE(errors.find("max_blocking", said), errors.npos) << errors;
  EXPECT_EQ(errors.find("not published", errors.find('\n', said)), errors.npos) << errors;
}

// --- for ever ----------------------------------------------------------------------------------------------------------------------------

constexpr std::chrono::nanoseconds for_ever = std::chrono::nanoseconds::max();

TEST_F(Refusal, APublisherWaitsForEverForAReliableSubscriberThatTakesNothingForAWhile) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<std::uint64_t>("topic", lossless(), {.max_blocking = for_ever});
  for (const SubscriberOptions& options : {SubscriberOptions{}, as_from_elsewhere()}) {
    auto subscriber = node->create_subscriber<std::uint64_t>("topic", lossless(), options);
    await_subscribers(*publisher, 1);
    std::atomic<std::uint64_t> published{0};
    std::thread taker([&] {
      std::uint64_t number = 0;
      for (std::uint64_t burst = 0; burst < 5; ++burst) {  // it goes on when half a ring is free
        EXPECT_TRUE(eventually([&] { return published == 1024 + burst * 512; })) << "there is no room for one more";
        for (int i = 0; i < 512; ++i) EXPECT_EQ(*take_soon(*subscriber), ++number);
      }
    });
    for (std::uint64_t number = 1; number <= 1024 + 5 * 512; ++number) {
      EXPECT_EQ(publisher->publish(number), PublishResult::published);
      ++published;
    }
    taker.join();
    subscriber.reset();
    await_subscribers(*publisher, 0);
  }
}

ROLE(subscriber_that_never_sleeps) {
  auto node = Node::create("sleepless", {.executor = Executor::create({.threads = {{0, {.spin = for_ever}}}})});
  auto subscriber = node->create_subscriber<std::uint64_t>("topic", [](const std::uint64_t& number) { say(std::to_string(number)); });
  until_finished();
  ::_exit(0);  // its thread ends as one that falls asleep
}

TEST_F(Refusal, AThreadThatSpinsForEverDoesNotFallAsleep) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<std::uint64_t>("topic");
  Child sleepless("subscriber_that_never_sleeps", {}, {{"SINEW_AT", "thread.falls_asleep:1:kill"}});
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 20; ++number) {
    publisher->publish(number);
    sleepless.expect(std::to_string(number));
  }
  sleepless.end();
}

TEST_F(Refusal, WhoTakesWaitsForEverOrNotAtAll) {
  auto node = Node::create("node"), other = Node::create("other");
  auto publisher = other->create_publisher<std::uint64_t>("topic");
  auto subscriber = node->create_subscriber<std::uint64_t>("topic");
  await_subscribers(*publisher, 1);
  EXPECT_EQ(subscriber->take(std::chrono::nanoseconds::min()), nullptr);
  EXPECT_EQ(wait_for_message<std::uint64_t>(*node, "topic", std::chrono::nanoseconds::min()), nullptr);
  std::thread talker([&] {
    eventually([&] { return publisher->statistics().subscribers == 2; });
    publisher->publish(std::uint64_t{7});
  });
  const auto message = wait_for_message<std::uint64_t>(*node, "topic", for_ever);
  talker.join();
  ASSERT_TRUE(message);
  EXPECT_EQ(*message, 7U);
  EXPECT_EQ(*subscriber->take(for_ever), 7U);
}

}  // namespace
}  // namespace sinew::system
