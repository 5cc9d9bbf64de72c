// What publishers and subscribers promise each other while everybody lives.
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

class PubSub : public Domain {};

// --- many to many --------------------------------------------------------------------------------------------------------------------

// writer, subscribers, messages
ROLE(one_of_many_publishers) {
  auto node = Node::create("publisher" + arguments[0]);
  auto publisher = node->create_publisher<Sample>("many", lossless(), {.max_blocking = 60s});
  await_subscribers(*publisher, std::stoul(arguments[1]));
  say("connected");
  next_order();
  const std::uint64_t count = std::stoul(arguments[2]);
  for (std::uint64_t number = 1; number <= count; ++number) {
    const auto size = static_cast<std::size_t>(number % 7 * 1000);
    const auto result = number % 2 == 0 ? publisher->publish(sample_of(std::stoul(arguments[0]), number, size))
                                        : publish_in_place(*publisher, std::stoul(arguments[0]), number, size);
    require(result == PublishResult::published, "not published");
  }
  until_finished();
}

// name, publishers, messages of each
ROLE(one_of_many_subscribers) {
  std::atomic<std::uint64_t> received{0};
  std::map<std::string, std::uint64_t> last;
  auto node = Node::create("subscriber" + arguments[0]);
  auto subscriber = node->create_subscriber<Sample>(
      "many",
      [&](const Sample& sample, const MessageInfo& info) {
        require(is_whole(sample), "not whole");
        require(sample.number == ++last[info.publisher], "out of order");
        require(info.sequence == sample.number && info.missed == 0, "the info is of another message");
        ++received;
      },
      lossless());
  const std::uint64_t expected = std::stoul(arguments[1]) * std::stoul(arguments[2]);
  require(eventually([&] { return received == expected; }), "not all have arrived");
  say("all");
  until_finished();
  require(received == expected, "more than all have arrived");
}

TEST_F(PubSub, EverySubscriberGetsEveryMessageOfEveryPublisherInOrder) {
  constexpr int each = 3, messages = 2000;
  std::vector<Child> publishers, subscribers;
  for (int i = 0; i < each; ++i) {
    publishers.emplace_back("one_of_many_publishers", Arguments{std::to_string(i), std::to_string(each), std::to_string(messages)});
    subscribers.emplace_back("one_of_many_subscribers", Arguments{std::to_string(i), std::to_string(each), std::to_string(messages)});
  }
  for (Child& publisher : publishers) publisher.expect("connected");
  for (Child& publisher : publishers) publisher.order("go");
  for (Child& subscriber : subscribers) subscriber.expect("all");
  for (Child& publisher : publishers) publisher.end();
  for (Child& subscriber : subscribers) subscriber.end();
}

TEST_F(PubSub, NodesAndSubscribersOfOneProcessGetEveryMessageToo) {
  auto one = Node::create("one"), two = Node::create("two");
  auto publisher = one->create_publisher<Sample>("topic", lossless());
  std::atomic<int> own{0}, others{0}, again{0};
  auto mine = one->create_subscriber<Sample>("topic", [&](const Sample& sample) { own += is_whole(sample); }, lossless());
  auto theirs = two->create_subscriber<Sample>("topic", [&](const Sample& sample) { others += is_whole(sample); }, lossless());
  auto second = two->create_subscriber<Sample>("topic", [&](const Sample& sample) { again += is_whole(sample); }, lossless());
  await_subscribers(*publisher, 3);
  for (std::uint64_t number = 1; number <= 100; ++number) {
    EXPECT_EQ(publish_in_place(*publisher, 1, number, 50'000 * (number % 4)), PublishResult::published);
  }
  EXPECT_TRUE(eventually([&] { return own == 100 && others == 100 && again == 100; })) << own << " " << others << " " << again;
}

// --- what a subscriber gets ------------------------------------------------------------------------------------------------------------

TEST_F(PubSub, ASlowSubscriberGetsTheNewestMessagesAndKnowsHowManyItMissed) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<std::uint64_t>("topic");
  auto five = node->create_subscriber<std::uint64_t>("topic", Qos{}.keep_last(5));
  auto most = node->create_subscriber<std::uint64_t>("topic", Qos{}.keep_last(512));
  await_subscribers(*publisher, 2);
  for (std::uint64_t number = 1; number <= 2000; ++number) publisher->publish(number);
  for (const auto& [subscriber, depth] : {std::pair(five, 5U), std::pair(most, 512U)}) {
    MessageInfo info;
    auto first = take_soon(*subscriber, &info);
    ASSERT_TRUE(first);
    EXPECT_EQ(*first, 2000 - depth + 1);
    EXPECT_EQ(info.missed, 2000 - depth);
    EXPECT_EQ(info.sequence, *first);
    for (std::uint64_t number = *first + 1; number <= 2000; ++number) {
      const auto next = subscriber->take(&info);
      ASSERT_TRUE(next);
      EXPECT_EQ(*next, number);
      EXPECT_EQ(info.missed, 0U);
    }
    EXPECT_FALSE(subscriber->take());
    EXPECT_EQ(subscriber->statistics().received, depth);
    EXPECT_EQ(subscriber->statistics().missed, 2000 - depth);
  }
}

TEST_F(PubSub, TheInfoOfAMessageTellsWhereItCameFromAndWhen) {
  auto camera = Node::create("head/camera"), viewer = Node::create("viewer");
  auto publisher = camera->create_publisher<Sample>("topic");
  auto subscriber = viewer->create_subscriber<Sample>("topic");
  await_subscribers(*publisher, 1);
  const Time before = std::chrono::steady_clock::now();
  publisher->publish(sample_of(1, 1, 10));
  const Time published = std::chrono::steady_clock::now();
  MessageInfo info;
  ASSERT_TRUE(take_soon(*subscriber, &info));
  EXPECT_EQ(info.publisher, "head/camera");
  EXPECT_EQ(info.sequence, 1U);
  EXPECT_EQ(info.delivery, Delivery::native);
  EXPECT_EQ(info.missed, 0U);
  EXPECT_LE(before, info.source_time);
  EXPECT_LE(info.source_time, published);
  EXPECT_LE(info.source_time, info.receive_time);
  EXPECT_LE(info.receive_time, std::chrono::steady_clock::now());
  EXPECT_EQ(publisher->topic(), "topic");
  EXPECT_EQ(subscriber->topic(), "topic");
}

TEST_F(PubSub, EveryFormOfCallbackIsCalled) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  std::mutex mutex;
  std::shared_ptr<const Sample> kept, kept_with_info;
  std::atomic<int> plain{0}, with_info{0}, shared{0}, shared_with_info{0};
  auto a = node->create_subscriber<Sample>("topic", [&](const Sample& sample) { plain += sample.number == 1; });
  auto b = node->create_subscriber<Sample>(
      "topic", [&](const Sample& sample, const MessageInfo& info) { with_info += sample.number == info.sequence; });
  auto c = node->create_subscriber<Sample>("topic", [&](std::shared_ptr<const Sample> sample) {
    const std::lock_guard lock(mutex);
    kept = std::move(sample);
    ++shared;
  });
  auto d = node->create_subscriber<Sample>("topic", [&](std::shared_ptr<const Sample> sample, const MessageInfo& info) {
    const std::lock_guard lock(mutex);
    shared_with_info += sample->number == info.sequence;
    kept_with_info = std::move(sample);
  });
  await_subscribers(*publisher, 4);
  publisher->publish(sample_of(1, 1, 1000));
  EXPECT_TRUE(eventually([&] { return plain == 1 && with_info == 1 && shared == 1 && shared_with_info == 1; }));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(kept.get(), kept_with_info.get()) << "both are the publisher's object";
  EXPECT_TRUE(is_whole(*kept));
}

TEST_F(PubSub, StatisticsCountWhatHappened) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  EXPECT_EQ(publisher->statistics().subscribers, 0U);
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(2));
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 5; ++number) publish_in_place(*publisher, 1, number, 10'000);
  std::vector<std::shared_ptr<const Sample>> held = {take_soon(*subscriber)};
  held.push_back(subscriber->take());
  const PublisherStatistics sent = publisher->statistics();
  EXPECT_EQ(sent.published, 5U);
  EXPECT_GE(sent.bytes, 5 * (10'000 + sizeof(Sample)));
  EXPECT_EQ(sent.bytes_copied, 0U);
  EXPECT_EQ(sent.messages_repaired, 0U);
  EXPECT_EQ(sent.refused, 0U);
  EXPECT_EQ(sent.subscribers, 1U);
  EXPECT_GE(sent.memory_in_use, 2 * 10'000U);
  EXPECT_GE(sent.memory_mapped, sent.memory_in_use);
  SubscriberStatistics got = subscriber->statistics();
  EXPECT_EQ(got.received, 2U);
  EXPECT_EQ(got.missed, 3U);
  EXPECT_EQ(got.bytes_copied, 0U);
  EXPECT_EQ(got.rejected, 0U);
  EXPECT_EQ(got.publishers, 1U);
  EXPECT_EQ(got.held, 2U);
  held.clear();
  EXPECT_EQ(subscriber->statistics().held, 0U);
  publisher.reset();
  EXPECT_TRUE(eventually([&] {
    subscriber->take();
    return subscriber->statistics().publishers == 0;
  }));
}

// --- copies ------------------------------------------------------------------------------------------------------------------------------

TEST_F(PubSub, PublishingAnObjectCopiesItOnceForAllSubscribers) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  std::vector<std::shared_ptr<Subscriber<Sample>>> subscribers;
  for (int i = 0; i < 4; ++i) subscribers.push_back(node->create_subscriber<Sample>("topic"));
  await_subscribers(*publisher, 4);
  publisher->publish(sample_of(1, 1, 1'000'000));
  const PublisherStatistics statistics = publisher->statistics();
  EXPECT_EQ(statistics.bytes_copied, statistics.bytes);
  EXPECT_GE(statistics.bytes, 1'000'000U);
  EXPECT_LT(statistics.bytes, 1'001'000U);
  std::vector<std::shared_ptr<const Sample>> messages;
  for (const auto& subscriber : subscribers) messages.push_back(take_soon(*subscriber));
  for (const auto& message : messages) EXPECT_EQ(message.get(), messages[0].get());
  for (const auto& subscriber : subscribers) EXPECT_EQ(subscriber->statistics().bytes_copied, 0U);
}

TEST_F(PubSub, PublishingALoanCopiesNothing) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  auto subscriber = node->create_subscriber<Sample>("topic");
  await_subscribers(*publisher, 1);
  auto loan = publisher->loan();
  loan.build([](Sample& sample) { fill(sample, 1, 1, 1'000'000); });
  const void* const built_at = &*loan;
  const void* const data_at = (*loan).data.data();
  EXPECT_EQ(publisher->publish(std::move(loan)), PublishResult::published);
  EXPECT_FALSE(loan);  // NOLINT(bugprone-use-after-move): that is what is promised
  const auto message = take_soon(*subscriber);
  ASSERT_TRUE(message);
  EXPECT_TRUE(is_whole(*message));
  EXPECT_EQ(message.get(), built_at);
  EXPECT_EQ(message->data.data(), data_at);
  EXPECT_EQ(publisher->statistics().bytes_copied, 0U);
}

// --- pressure ----------------------------------------------------------------------------------------------------------------------------

// messages
ROLE(flooding_publisher) {
  auto node = Node::create("flood");
  auto publisher = node->create_publisher<std::uint64_t>("flood", lossless(), {.max_blocking = 60s});
  await_subscribers(*publisher, 1);
  const std::uint64_t count = std::stoul(arguments[0]);
  for (std::uint64_t number = 1; number <= count; ++number)
    require(publisher->publish(number) == PublishResult::published, "not published");
}

TEST_F(PubSub, NothingIsLostWhenBothSidesAreReliableAndKeepAll) {
  const auto count = static_cast<std::uint64_t>(rounds(200'000));
  std::atomic<std::uint64_t> received{0}, wrong{0};
  auto node = Node::create("node");
  auto subscriber =
      node->create_subscriber<std::uint64_t>("flood", [&](const std::uint64_t& number) { wrong += number != ++received; }, lossless());
  Child publisher("flooding_publisher", {std::to_string(count)});
  EXPECT_TRUE(eventually([&] { return received == count; })) << received;
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(subscriber->statistics().missed, 0U);
  publisher.end();
}

// lossless or not
ROLE(stoppable_subscriber) {
  auto node = Node::create("stoppable");
  std::atomic<std::uint64_t> last{0}, missed{0};
  auto subscriber = node->create_subscriber<std::uint64_t>(
      "topic",
      [&](const std::uint64_t& number, const MessageInfo& info) {
        require(number == last + info.missed + 1, "out of order, or not counted");
        missed += info.missed;
        last = number;
      },
      arguments[0] == "lossless" ? lossless() : Qos{}.keep_last(8));
  for (;;) {
    const std::string wanted = next_order();
    if (wanted == "end") return;
    require(eventually([&] { return last == std::stoul(wanted); }), "it does not come");
    say("missed " + std::to_string(missed));
  }
}

TEST_F(PubSub, AStoppedReliableSubscriberHoldsThePublisherBackAndLosesNothing) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<std::uint64_t>("topic", lossless(), {.max_blocking = 10ms});
  Child subscriber("stoppable_subscriber", {"lossless"});
  await_subscribers(*publisher, 1);
  publisher->publish(std::uint64_t{1});
  subscriber.order("1");
  subscriber.expect("missed 0");
  subscriber.stop();
  std::uint64_t number = 2;
  for (; number <= 1025; ++number) EXPECT_EQ(publisher->publish(number), PublishResult::published);
  EXPECT_EQ(publisher->publish(number), PublishResult::would_block);
  EXPECT_EQ(publisher->publish(number), PublishResult::would_block);
  EXPECT_EQ(publisher->statistics().refused, 2U);
  EXPECT_EQ(publisher->statistics().published, 1025U);
  subscriber.go_on();
  EXPECT_TRUE(eventually([&] { return publisher->publish(number) == PublishResult::published; }));
  subscriber.order(std::to_string(number));
  subscriber.expect("missed 0");
  subscriber.order("end");
  subscriber.end();
}

TEST_F(PubSub, APublisherThatWaitsForAReliableSubscriberGoesOnWhenThatDies) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<std::uint64_t>("topic", lossless(), {.max_blocking = 60s});
  Child subscriber("stoppable_subscriber", {"lossless"});
  await_subscribers(*publisher, 1);
  subscriber.stop();
  std::thread killer([&] {
    eventually([&] { return publisher->statistics().published >= 1024; });
    subscriber.kill();
  });
  for (std::uint64_t number = 1; number <= 3000; ++number) EXPECT_EQ(publisher->publish(number), PublishResult::published);
  killer.join();
}

TEST_F(PubSub, AStoppedBestEffortSubscriberHoldsNobodyBack) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<std::uint64_t>("topic", lossless(), {.max_blocking = 60s});
  Child stopped("stoppable_subscriber", {"lossy"}), running("stoppable_subscriber", {"lossless"}, {{"SINEW_NODE", "running"}});
  await_subscribers(*publisher, 2);
  stopped.stop();
  for (std::uint64_t number = 1; number <= 5000; ++number) EXPECT_EQ(publisher->publish(number), PublishResult::published);
  running.order("5000");
  running.expect("missed 0");
  stopped.go_on();
  stopped.order("5000");
  stopped.expect("missed 4992");
  for (Child* each : {&stopped, &running}) {
    each->order("end");
    each->end();
  }
}

TEST_F(PubSub, AnExhaustedBudgetIsSaidAndCountedAndPasses) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", {}, {.memory_budget = 8 << 20});
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(1));
  await_subscribers(*publisher, 1);
  std::vector<std::shared_ptr<const Sample>> held;
  auto publish_next = [&, number = std::uint64_t{0}]() mutable {
    ++number;
    const PublishResult result =
        number % 2 == 0 ? publish_in_place(*publisher, 1, number, 1'000'000) : publisher->publish(sample_of(1, number, 1'000'000));
    if (result == PublishResult::published) held.push_back(take_soon(*subscriber));
    return result;
  };
  PublishResult result = PublishResult::published;
  for (int i = 0; i < 20 && result == PublishResult::published; ++i) result = publish_next();
  EXPECT_EQ(result, PublishResult::no_memory);
  EXPECT_EQ(publish_next(), PublishResult::no_memory);
  EXPECT_EQ(publisher->statistics().refused, 2U);
  EXPECT_LE(publisher->statistics().memory_mapped, 8U << 20);
  for (const auto& message : held) EXPECT_TRUE(is_whole(*message));
  const std::size_t fitted = held.size();
  EXPECT_GE(fitted, 4U);
  held.clear();
  for (std::size_t i = 0; i < fitted; ++i) EXPECT_EQ(publish_next(), PublishResult::published) << i;
}

// --- ends --------------------------------------------------------------------------------------------------------------------------------

TEST_F(PubSub, ASubscriberMayBeDestroyedInItsOwnCallback) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  for (int round = 0; round < rounds(50); ++round) {
    std::shared_ptr<Subscriber<Sample>> subscriber;
    std::mutex mutex;
    std::atomic<int> calls{0}, whole{0};
    {
      const std::lock_guard lock(mutex);
      subscriber = node->create_subscriber<Sample>("topic", [&](const Sample& sample) {
        const std::lock_guard callback_lock(mutex);
        subscriber.reset();
        whole += is_whole(sample);  // valid during the call, whatever is destroyed
        ++calls;
      });
    }
    await_subscribers(*publisher, 1);
    for (std::uint64_t number = 1; number <= 5; ++number) publisher->publish(sample_of(1, number, 100));
    await_subscribers(*publisher, 0);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(whole, 1);
  }
}

TEST_F(PubSub, NoCallbackRunsAfterItsSubscriberOrItsNodeIsDestroyed) {
  auto sender = Node::create("sender");
  auto publisher = sender->create_publisher<std::uint64_t>("topic");
  std::atomic<bool> done{false};
  std::thread flood([&] {
    for (std::uint64_t number = 1; !done; ++number) publisher->publish(number);
  });
  for (int round = 0; round < rounds(50); ++round) {
    std::atomic<bool> gone{false}, late{false};
    std::atomic<int> calls{0};
    auto node = Node::create("receiver");
    auto subscriber = node->create_subscriber<std::uint64_t>("topic", [&](const std::uint64_t&) {
      if (gone) late = true;
      ++calls;
    });
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
  done = true;
  flood.join();
}

TEST_F(PubSub, ANodeMayBeDestroyedInsideOfItsCallback) {
  auto sender = Node::create("sender");
  auto publisher = sender->create_publisher<std::uint64_t>("topic");
  auto node = Node::create("receiver");
  std::mutex mutex;
  std::atomic<int> calls{0};
  std::shared_ptr<Subscriber<std::uint64_t>> subscriber;
  {
    const std::lock_guard lock(mutex);
    subscriber = node->create_subscriber<std::uint64_t>("topic", [&](const std::uint64_t&) {
      const std::lock_guard callback_lock(mutex);
      node.reset();
      ++calls;
    });
  }
  await_subscribers(*publisher, 1);
  publisher->publish(std::uint64_t{1});
  EXPECT_TRUE(eventually([&] { return calls == 1; }));
  await_subscribers(*publisher, 0);
  EXPECT_TRUE(Node::create("receiver")) << "the name is free";
}

TEST_F(PubSub, WhatANodeLeavesBehindIsInert) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  auto with_callback = node->create_subscriber<Sample>("topic", [](const Sample&) {});
  auto without = node->create_subscriber<Sample>("topic");
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

ROLE(renamed_publisher) {
  auto node = Node::create("original");
  auto publisher = node->create_publisher<std::uint64_t>("topic");
  await_subscribers(*publisher, 1);
  publisher->publish(std::uint64_t{1});
  say(node->name());
  until_finished();
}

TEST_F(PubSub, TheEnvironmentRenamesANode) {
  auto node = Node::create("original");  // the name that the child gives itself is taken
  auto subscriber = node->create_subscriber<std::uint64_t>("topic");
  Child child("renamed_publisher", {}, {{"SINEW_NODE", "left/camera"}});
  child.expect("left/camera");
  MessageInfo info;
  EXPECT_TRUE(take_soon(*subscriber, &info));
  EXPECT_EQ(info.publisher, "left/camera");
  child.end();
}

constexpr std::size_t last_sizes[] = {10, 100'000, 3'000'000, 20'000'000};

ROLE(parting_publisher) {
  auto node = Node::create("parting");
  auto publisher = node->create_publisher<Sample>("topic");
  await_subscribers(*publisher, 1);
  for (const std::size_t size : last_sizes) publish_in_place(*publisher, 1, size, size);
}

TEST_F(PubSub, MessagesPublishedJustBeforeTheEndStillArrive) {
  auto node = Node::create("node"), other = Node::create("other");
  std::atomic<std::uint64_t> arrived{0}, broken{0};
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample& sample) {
    broken += !is_whole(sample);
    ++arrived;
  });
  std::uint64_t expected = 0;
  for (int round = 0; round < rounds(20); ++round) {
    Child child("parting_publisher");
    child.end();
    expected += std::size(last_sizes);
    EXPECT_TRUE(eventually([&] { return arrived == expected; })) << "round " << round << ": " << arrived << " of " << expected;
    auto publisher = other->create_publisher<Sample>("topic");
    await_subscribers(*publisher, 1);
    for (const std::size_t size : last_sizes) publish_in_place(*publisher, 1, size, size);
    publisher.reset();
    expected += std::size(last_sizes);
    EXPECT_TRUE(eventually([&] { return arrived == expected; })) << "round " << round << ": " << arrived << " of " << expected;
  }
  EXPECT_EQ(broken, 0U);
  EXPECT_EQ(subscriber->statistics().missed, 0U);
}

}  // namespace
}  // namespace sinew::system
