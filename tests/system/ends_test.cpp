// How subscribers, nodes and publishers end, and what is left of them.
#include <atomic>
#include <iterator>
#include <mutex>
#include <thread>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Ends : public Domain {};

TEST_F(Ends, ASubscriberMayBeDestroyedInItsOwnCallback) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  for (int round = 0; round < rounds(50); ++round) {
    std::mutex mutex;
    std::atomic<int> calls{0}, whole{0};
    std::shared_ptr<Subscriber<Sample>> subscriber;
    {
      const std::lock_guard lock(mutex);
      subscriber = node->create_subscriber<Sample>(
          "topic",
          [&](const Sample& sample) {
            const std::lock_guard callback_lock(mutex);
            subscriber.reset();
            whole += is_whole(sample);  // valid during the call, whatever is destroyed
            ++calls;
          },
          Qos{}, as_from_elsewhere());
    }
    await_subscribers(*publisher, 1);
    for (std::uint64_t number = 1; number <= 5; ++number) publisher->publish(sample_of(1, number, 100));
    await_subscribers(*publisher, 0);
    EXPECT_TRUE(eventually([&] { return calls > 0; }));  // the subscriber is gone before the callback returns
    const std::lock_guard lock(mutex);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(whole, 1);
  }
}

TEST_F(Ends, NoCallbackRunsAfterItsSubscriberOrItsNodeIsDestroyed) {
  auto sender = Node::create("sender");
  auto publisher = sender->create_publisher<std::uint64_t>("topic");
  const std::jthread flood([&](const std::stop_token& stop) {
    for (std::uint64_t number = 1; !stop.stop_requested(); ++number) publisher->publish(number);
  });
  for (int round = 0; round < rounds(50); ++round) {
    std::atomic<bool> gone{false}, late{false};
    std::atomic<int> calls{0};
    auto node = Node::create("receiver");
    auto subscriber = node->create_subscriber<std::uint64_t>(
        "topic",
        [&](const std::uint64_t&) {
          if (gone) late = true;
          ++calls;
        },
        Qos{}, as_from_elsewhere());
    EXPECT_TRUE(eventually([&] { return calls > 0; }));
    if (round % 2 == 0) {
      subscriber.reset();
    } else {
      node.reset();
    }
    gone = true;
    const int then = calls;
    publisher->publish(std::uint64_t{0});
    EXPECT_EQ(calls, then);
    EXPECT_FALSE(late);
  }
}

TEST_F(Ends, ANodeMayBeDestroyedInsideOfItsCallback) {
  auto sender = Node::create("sender");
  auto publisher = sender->create_publisher<std::uint64_t>("topic");
  auto node = Node::create("receiver");
  std::mutex mutex;
  std::atomic<int> calls{0};
  std::shared_ptr<Subscriber<std::uint64_t>> subscriber;
  {
    const std::lock_guard lock(mutex);
    subscriber = node->create_subscriber<std::uint64_t>(
        "topic",
        [&](const std::uint64_t&) {
          const std::lock_guard callback_lock(mutex);
          node.reset();
          ++calls;
        },
        Qos{}, as_from_elsewhere());
  }
  await_subscribers(*publisher, 1);
  publisher->publish(std::uint64_t{1});
  EXPECT_TRUE(eventually([&] { return calls == 1; }));
  await_subscribers(*publisher, 0);
  EXPECT_TRUE(Node::create("receiver")) << "the name is free";
}

TEST_F(Ends, WhatANodeLeavesBehindIsInert) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  auto with_callback = node->create_subscriber<Sample>("topic", [](const Sample&) {}, Qos{}, as_from_elsewhere());
  auto without = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 2);
  publisher->publish(sample_of(1, 1, 100));
  auto kept = take_soon(*without);
  auto loan = publisher->loan();
  loan.build([](Sample& sample) { fill(sample, 1, 2, 100'000); });
  node.reset();
  EXPECT_EQ(publisher->publish(std::move(loan)), PublishResult::closed);
  EXPECT_EQ(publisher->publish(sample_of(1, 3, 100)), PublishResult::closed);
  auto late = publisher->loan();
  late->text = "a loan of a closed publisher is built on the heap";
  EXPECT_EQ(publisher->publish(std::move(late)), PublishResult::closed);
  EXPECT_EQ(without->take(), nullptr);
  EXPECT_EQ(publisher->statistics().subscribers, 0U);
  EXPECT_EQ(with_callback->topic(), "topic");
  ASSERT_TRUE(kept);
  EXPECT_TRUE(is_whole(*kept));
}

constexpr std::size_t last_sizes[] = {10, 100'000, 3'000'000, 20'000'000};

ROLE(parting_publisher) {
  auto node = Node::create("parting");
  auto publisher = node->create_publisher<Sample>("topic");
  await_subscribers(*publisher, 1);
  for (const std::size_t size : last_sizes) publish_in_place(*publisher, 1, size, size);
}

TEST_F(Ends, MessagesPublishedJustBeforeTheEndStillArrive) {
  auto node = Node::create("node"), other = Node::create("other");
  std::atomic<std::uint64_t> arrived{0}, broken{0};
  auto subscriber = node->create_subscriber<Sample>(
      "topic",
      [&](const Sample& sample) {
        broken += !is_whole(sample);
        ++arrived;
      },
      Qos{}, as_from_elsewhere());
  std::uint64_t expected = 0;
  const auto all_have_come = [&] { return arrived + subscriber->statistics().missed == expected; };
  for (int round = 0; round < rounds(20); ++round) {
    Child child("parting_publisher");
    child.end();
    expected += std::size(last_sizes);
    EXPECT_TRUE(eventually(all_have_come)) << "round " << round << ": " << arrived << " of " << expected;
    auto publisher = other->create_publisher<Sample>("topic");
    await_subscribers(*publisher, 1);
    for (const std::size_t size : last_sizes) publish_in_place(*publisher, 1, size, size);
    publisher.reset();
    expected += std::size(last_sizes);
    EXPECT_TRUE(eventually(all_have_come)) << "round " << round << ": " << arrived << " of " << expected;
  }
  EXPECT_EQ(broken, 0U);
  // Each end waits 0.2 s for who has not heard yet where all lie, and seldom is anybody kept from a processor for so long.
  EXPECT_LE(subscriber->statistics().missed, expected / 2);
}

}  // namespace
}  // namespace sinew::system
