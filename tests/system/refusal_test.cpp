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

ROLE(publisher_of_more_than_its_budget) {
  auto node = Node::create("node"), other = Node::create("other");
  auto publisher = node->create_publisher<Sample>("topic", lossless(), {.memory_budget = 8 << 20});
  auto subscriber = other->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  require(publisher->publish(sample_of(1, 1, 1000)) == PublishResult::published, "there is room for it");
  require(publisher->publish(sample_of(1, 2, 20'000'000)) == PublishResult::no_memory, "there is no room for it");
  require(publish_in_place(*publisher, 1, 2, 20'000'000) == PublishResult::no_memory, "there is no room for it in place");
  require(publisher->statistics().withdrawn == 0 && take_soon(*subscriber)->number == 1, "what waits was withdrawn in vain");
}

TEST_F(Refusal, AMessageThatIsLargerThanTheWholeBudgetIsToldSo) {
  Child child("publisher_of_more_than_its_budget", {}, {{"SINEW_LOG", "warn"}});
  child.end();
  EXPECT_NE(child.errors().find("more than its publisher's whole memory_budget of 8.0 MiB"), std::string::npos) << child.errors();
}

TEST_F(Refusal, ABudgetThatHoldsNoMessageIsRefusedAndNoneIsNot) {
  auto node = Node::create("node");
  const auto refused = [](auto create) -> std::string {
    try {
      (void)create();
      return "no error";
    } catch (const Error& error) {
      return std::string(to_string(error.kind())) + ": " + error.what();
    }
  };
  for (const std::size_t budget : {std::size_t{1}, std::size_t{65535}}) {
    const std::string said = "memory_budget = " + std::to_string(budget) + " is out of range: 65536 bytes or more";
    for (const std::string& text :
         {refused([&] { return node->create_publisher<int>("topic", {}, {.memory_budget = budget}); }),
          refused([&] { return node->create_service_client<int, int>("work", {.memory_budget = budget}); }), refused([&] {
            return node->create_service_provider<int, int>("work", [](const int& number) { return number; }, {.memory_budget = budget});
          })}) {
      EXPECT_TRUE(text.starts_with("invalid_argument: ") && text.find(said) != text.npos) << text;
    }
  }
  EXPECT_EQ(refused([&] { return node->create_publisher<int>("topic", {}, {.memory_budget = 65536}); }), "no error");
  EXPECT_EQ(refused([&] { return node->create_publisher<int>("topic", {}, {.memory_budget = 0}); }), "no error");
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
    constexpr std::uint64_t total = 1024 + 5 * 512;
    std::thread taker([&] {
      std::uint64_t number = 0;
      const auto is_full = [&] { return published - number == 1024 || published == total; };
      while (number < total) {
        if (!eventually(is_full)) {
          ADD_FAILURE() << "it does not go on though half a ring is free";
          return subscriber.reset();  // for whom nobody waits any more
        }
        while (number < published && (published - number > 512 || published == total)) EXPECT_EQ(*take_soon(*subscriber), ++number);
      }
    });
    for (std::uint64_t number = 1; number <= total; ++number) {
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
