// What publishers and subscribers promise each other while everybody lives.
#include <array>
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

TEST_F(PubSub, ASpinningThreadSeesSubscribersThatComeLater) {
  auto spinning = Node::create("spinning", {.executor = Executor::create({.threads = {{0, {.spin = 1h}}}})}), other = Node::create("other");
  std::atomic<int> first{0}, second{0};
  auto one = spinning->create_subscriber<Sample>("one", [&](const Sample&) { ++first; }, Qos{}, as_from_elsewhere());
  auto publisher_of_one = other->create_publisher<Sample>("one");
  await_subscribers(*publisher_of_one, 1);
  publish_in_place(*publisher_of_one, 1, 1, 10);
  EXPECT_TRUE(eventually([&] { return first == 1; }));
  // The thread spins now and does not look at its doorbell.
  auto two = spinning->create_subscriber<Sample>("two", [&](const Sample&) { ++second; }, Qos{}, as_from_elsewhere());
  auto publisher_of_two = other->create_publisher<Sample>("two");
  await_subscribers(*publisher_of_two, 1);
  publish_in_place(*publisher_of_two, 1, 1, 10);
  EXPECT_TRUE(eventually([&] { return second == 1; }));
  two.reset();
  publish_in_place(*publisher_of_one, 1, 2, 10);
  EXPECT_TRUE(eventually([&] { return first == 2; }));
}

TEST_F(PubSub, TheInfoOfAMessageTellsWhereItCameFromAndWhen) {
  auto camera = Node::create("head/camera"), viewer = Node::create("viewer");
  auto publisher = camera->create_publisher<Sample>("topic");
  auto subscriber = viewer->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
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
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(2), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 5; ++number) publish_in_place(*publisher, 1, number, 10'000);
  EXPECT_TRUE(eventually([&] { return subscriber->statistics().waiting == 5; })) << "which of them it takes is not decided";
  std::vector<std::shared_ptr<const Sample>> held = {take_soon(*subscriber)};
  EXPECT_EQ(subscriber->statistics().waiting, 1U);
  held.push_back(take_soon(*subscriber));  // it may lie in another chunk, which comes later
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
  EXPECT_EQ(got.waiting, 0U);
  held.clear();
  EXPECT_EQ(subscriber->statistics().held, 0U);
  publisher.reset();
  EXPECT_TRUE(eventually([&] {
    subscriber->take();
    return subscriber->statistics().publishers == 0;
  }));
}

TEST_F(PubSub, WhatWaitsForASubscriberOfTheSameProcessIsCountedUntilItIsTakenOrMissed) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(2));
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 5; ++number) publisher->publish(sample_of(1, number, 10));
  EXPECT_EQ(subscriber->statistics().waiting, 5U);
  EXPECT_EQ(publisher->subscribers().at(0).waiting, 2U) << "the others are not kept";
  EXPECT_EQ(take_soon(*subscriber)->number, 4U);
  const SubscriberStatistics got = subscriber->statistics();
  EXPECT_EQ(got.missed, 3U);
  EXPECT_EQ(got.waiting, 1U);
}

TEST_F(PubSub, SeveralThreadsMayPublishOnOnePublisher) {
  constexpr std::uint64_t threads = 4, each = 500;
  auto node = Node::create("node"), other = Node::create("other");
  auto publisher = node->create_publisher<Sample>("topic", lossless(), {.max_blocking = 60s});
  std::array<std::uint64_t, threads> last{};
  std::atomic<std::uint64_t> received{0}, wrong{0};
  auto subscriber = other->create_subscriber<Sample>(
      "topic",
      [&](const Sample& sample, const MessageInfo& info) {
        wrong += !is_whole(sample) || sample.number != ++last[sample.writer] || info.sequence != received + 1;
        ++received;
      },
      lossless(), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  std::vector<std::thread> all;
  for (std::uint64_t writer = 0; writer < threads; ++writer) {
    all.emplace_back([&, writer] {
      for (std::uint64_t number = 1; number <= each; ++number) {
        const auto size = static_cast<std::size_t>(number % 5 * 10'000);
        const auto result =
            writer % 2 == 0 ? publish_in_place(*publisher, writer, number, size) : publisher->publish(sample_of(writer, number, size));
        EXPECT_EQ(result, PublishResult::published);
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  EXPECT_TRUE(eventually([&] { return received == threads * each; })) << received;
  EXPECT_EQ(wrong, 0U);
}

TEST_F(PubSub, S15_a_newcomer_gets_everything_from_its_first_message_on) {
  auto sender = Node::create("sender"), receiver = Node::create("receiver");
  auto publisher = sender->create_publisher<std::uint64_t>("topic", lossless(), {.max_blocking = 60s});
  const std::jthread flood([&](const std::stop_token& stop) {
    for (std::uint64_t number = 1; !stop.stop_requested(); ++number) publisher->publish(number);
  });
  for (int round = 0; round < rounds(20); ++round) {
    std::atomic<std::uint64_t> received{0}, wrong{0};
    std::uint64_t last = 0;
    auto newcomer = receiver->create_subscriber<std::uint64_t>(
        "topic",
        [&](const std::uint64_t& number, const MessageInfo& info) {
          wrong += info.missed != 0 || (last != 0 && number != last + 1);
          last = number;
          ++received;
        },
        lossless(), as_from_elsewhere());
    EXPECT_TRUE(eventually([&] { return received > 2000; }));
    newcomer.reset();
    EXPECT_EQ(wrong, 0U);
  }
}

// Under the thread sanitizer: the memory of what it read last is written again when its connection has gone, and no sweep has seen it let go.
TEST_F(PubSub, S14_what_a_reader_read_last_comes_before_what_is_written_there_later) {
  auto sender = Node::create("sender"), receiver = Node::create("receiver"), other = Node::create("other");
  auto publisher = sender->create_publisher<std::uint64_t>("topic");
  auto who_stays = other->create_subscriber<std::uint64_t>("topic", [](const std::uint64_t&) {}, Qos{}, as_from_elsewhere());
  std::atomic<bool> done{false};
  std::thread slow([&] {  // so slow that connections end between two messages; nothing but the publisher orders it after the callbacks
    for (std::uint64_t number = 1; !done.load(std::memory_order_relaxed); ++number) {
      publisher->publish(number);
      std::this_thread::sleep_for(2ms);
    }
  });
  for (int round = 0; round < rounds(200); ++round) {
    std::atomic<std::uint64_t> last{0};
    auto newcomer = receiver->create_subscriber<std::uint64_t>(
        "topic", [&](const std::uint64_t& number) { last.store(number, std::memory_order_relaxed); }, Qos{}, as_from_elsewhere());
    EXPECT_TRUE(eventually([&] { return last.load(std::memory_order_relaxed) > 0; }));
    newcomer.reset();
    std::this_thread::sleep_for(5ms);  // for messages in which nothing of the next newcomer has come yet
  }
  done.store(true, std::memory_order_relaxed);
  slow.join();
}

TEST_F(PubSub, WhatSixteenPublishersHaveLeftIsKeptBesideOthersThatHaveLeftNothing) {
  auto sender = Node::create("sender"), receiver = Node::create("receiver");
  auto subscriber = receiver->create_subscriber<std::uint64_t>("topic", Qos{}, as_from_elsewhere());
  std::vector<std::shared_ptr<Publisher<std::uint64_t>>> publishers(32);
  for (auto& publisher : publishers) publisher = sender->create_publisher<std::uint64_t>("topic");
  for (std::uint64_t number = 0; number < publishers.size(); ++number) {
    await_subscribers(*publishers[number], 1);
    if (number % 2 == 0) publishers[number]->publish(number);
  }
  publishers.clear();
  EXPECT_TRUE(eventually([&] { return subscriber->statistics().publishers == 0; }));
  auto next = sender->create_publisher<std::uint64_t>("topic");
  await_subscribers(*next, 1);
  std::size_t taken = 0;
  while (subscriber->take()) ++taken;
  EXPECT_EQ(taken, 16U);
  EXPECT_EQ(subscriber->statistics().missed, 0U);
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
  auto subscriber = node->create_subscriber<std::uint64_t>("topic", Qos{}, as_from_elsewhere());
  Child child("renamed_publisher", {}, {{"SINEW_NODE", "left/camera"}});
  child.expect("left/camera");
  MessageInfo info;
  EXPECT_TRUE(take_soon(*subscriber, &info));
  EXPECT_EQ(info.publisher, "left/camera");
  child.end();
}

// --- copies ------------------------------------------------------------------------------------------------------------------------------

TEST_F(PubSub, PublishingAnObjectCopiesItOnceForAllSubscribers) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  std::vector<std::shared_ptr<Subscriber<Sample>>> subscribers;
  for (int i = 0; i < 4; ++i) subscribers.push_back(node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere()));
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
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
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

}  // namespace
}  // namespace sinew::system
