// Publishers that are faster than their subscribers, and messages for which there is no memory.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <thread>

#include "os/fault.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {

/// Published in this file only.
struct Crate {
  std::vector<std::uint8_t> content;
};

namespace {

using namespace std::chrono_literals;

class Pressure : public Domain {};

// messages
ROLE(flooding_publisher) {
  auto node = Node::create("flood");
  auto publisher = node->create_publisher<std::uint64_t>("flood", lossless(), {.max_blocking = 60s});
  await_subscribers(*publisher, 1);
  const std::uint64_t count = std::stoul(arguments[0]);
  for (std::uint64_t number = 1; number <= count; ++number)
    require(publisher->publish(number) == PublishResult::published, "not published");
}

TEST_F(Pressure, NothingIsLostWhenBothSidesAreReliableAndKeepAll) {
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

TEST_F(Pressure, AStoppedReliableSubscriberHoldsThePublisherBackAndLosesNothing) {
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

TEST_F(Pressure, APublisherThatWaitsForAReliableSubscriberGoesOnWhenThatDies) {
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

TEST_F(Pressure, AStoppedBestEffortSubscriberHoldsNobodyBack) {
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

TEST_F(Pressure, AnExhaustedBudgetIsSaidAndCountedAndPasses) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", {}, {.memory_budget = 8 << 20});
  // One alone may not hold so much.
  std::vector<std::shared_ptr<Subscriber<Sample>>> subscribers;
  for (int i = 0; i < 6; ++i) subscribers.push_back(node->create_subscriber<Sample>("topic", Qos{}.keep_last(1), as_from_elsewhere()));
  await_subscribers(*publisher, subscribers.size());
  std::vector<std::shared_ptr<const Sample>> held;
  auto publish_next = [&, number = std::uint64_t{0}]() mutable {
    ++number;
    const PublishResult result =
        number % 2 == 0 ? publish_in_place(*publisher, 1, number, 1'000'000) : publisher->publish(sample_of(1, number, 1'000'000));
    if (result == PublishResult::published) held.push_back(take_soon(*subscribers[number % subscribers.size()]));
    return result;
  };
  PublishResult result = PublishResult::published;
  for (int i = 0; i < 20 && result == PublishResult::published; ++i) result = publish_next();
  EXPECT_EQ(result, PublishResult::no_memory);
  EXPECT_EQ(publish_next(), PublishResult::no_memory);
  EXPECT_EQ(publisher->statistics().refused, 2U);
  EXPECT_LE(publisher->statistics().memory_mapped, 8U << 20);
  EXPECT_TRUE(are_unchanged(held));
  const std::size_t fitted = held.size();
  EXPECT_GE(fitted, 4U);
  held.clear();
  for (std::size_t i = 0; i < fitted; ++i) EXPECT_EQ(publish_next(), PublishResult::published) << i;
}

ROLE(loans_while_there_is_no_memory) {
  auto node = Node::create("node");
  const auto publisher = node->create_publisher<Crate>("topic");
  os::fault::arm(os::fault::Call::memfd_create, 1, ENOMEM);
  publisher->loan();  // the first of this file, which asks for its own operator new
  require(os::fault::passed(os::fault::Call::memfd_create) > 0, "there was memory");
  os::fault::disarm();
  auto loan = publisher->loan();
  loan->content.resize(1'000'000);
  require(publisher->publish(std::move(loan)) == PublishResult::published, "not published");
  say(std::to_string(publisher->statistics().bytes_copied) + " bytes copied");
  until_finished();
}

TEST_F(Pressure, AFirstLoanForWhichThereIsNoMemoryDoesNotKeepLaterOnesFromBeingBuiltInPlace) {
  Child child("loans_while_there_is_no_memory");
  child.expect("0 bytes copied");
  child.end();
  EXPECT_EQ(child.errors().find("operator new"), std::string::npos) << child.errors();
}

// --- who holds what --------------------------------------------------------------------------------------------------------------------

TEST_F(Pressure, APublisherKnowsWhoHoldsHowMuchOfItsMemoryForHowLong) {
  auto node = Node::create("node"), slow = Node::create("slow"), busy = Node::create("busy");
  auto publisher = node->create_publisher<Sample>("topic");
  auto holding = busy->create_subscriber<Sample>("topic", Qos{}.keep_last(4), as_from_elsewhere());
  auto sleeping = slow->create_subscriber<Sample>("topic", Qos{}.keep_last(2), as_from_elsewhere());
  await_subscribers(*publisher, 2);
  const auto share_of = [&](const std::string& name) {
    for (MatchedSubscriber& share : publisher->subscribers()) {
      if (share.node == name) return share;
    }
    return MatchedSubscriber{};
  };
  std::vector<std::shared_ptr<const Sample>> held;
  const auto first = std::chrono::steady_clock::now();
  for (std::uint64_t number = 1; number <= 20; ++number) {
    publish_in_place(*publisher, 1, number, 100'000);
    if (number <= 2 || number == 20) held.push_back(take_soon(*holding));
  }
  MatchedSubscriber share = share_of("busy");
  EXPECT_EQ(share.held, 3U);
  EXPECT_GE(share.bytes_held, 300'000U);
  EXPECT_LT(share.bytes_held, 310'000U);
  EXPECT_EQ(share.received, 3U);
  EXPECT_EQ(share.missed, 14U) << "of 3 to 20 the newest four were kept, and the oldest of these taken";
  EXPECT_EQ(share.waiting, 3U);
  EXPECT_GT(share.held_for.count(), 0);
  EXPECT_LE(share.held_for, std::chrono::steady_clock::now() - first);
  EXPECT_EQ(share_of("slow").waiting, 2U);
  EXPECT_EQ(share_of("slow").held, 0U);
  EXPECT_EQ(share_of("slow").held_for.count(), 0);
  // What is held counts also after the subscriber has gone.
  holding.reset();
  EXPECT_TRUE(eventually([&] { return publisher->statistics().subscribers == 1; }));
  EXPECT_EQ(share_of("busy").held, 3U);
  held.clear();
  EXPECT_TRUE(eventually([&] { return publisher->subscribers().size() == 1; }));
}

// --- memory that is ready from the start -------------------------------------------------------------------------------------------

std::uint64_t locked_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmLck:")) return std::stoull(line.substr(6));
  }
  return 0;
}

TEST_F(Pressure, PrefaultedMemoryIsThereFromTheStartAndServesWithoutGrowing) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", {}, {.prefault = 16 << 20});
  const std::uint64_t mapped = publisher->statistics().memory_mapped;
  EXPECT_GE(mapped, 16U << 20);
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(2), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 20; ++number) {
    publish_in_place(*publisher, 1, number, 3'000'000);
    EXPECT_TRUE(is_whole(*take_soon(*subscriber)));
  }
  EXPECT_EQ(publisher->statistics().memory_mapped, mapped);
  EXPECT_EQ(publisher->statistics().bytes_copied, 0U);
}

TEST_F(Pressure, LockedMemoryIsLockedAndWhatCannotBeLockedIsRefusedWithTheLimitToRaise) {
  auto node = Node::create("node");
  const PublisherOptions locked{.prefault = 1 << 20, .lock_memory = true};
  os::fault::arm(os::fault::Call::mlock, 1, ENOMEM);
  try {
    (void)node->create_publisher<Sample>("topic", {}, locked);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::exhausted);
    EXPECT_NE(std::string(error.what()).find("ulimit -l"), std::string::npos) << error.what();
  }
  os::fault::disarm();
  if (sanitized) GTEST_SKIP() << "sanitizers take mlock away";
  if (::geteuid() != 0) GTEST_SKIP() << "only root may lock as much as it likes";
  const std::uint64_t before = locked_kib();
  auto publisher = node->create_publisher<Sample>("topic", {}, locked);
  EXPECT_GE(locked_kib(), before + 1024);
  publisher.reset();
  EXPECT_TRUE(eventually([&] { return locked_kib() == before; }));
}

TEST_F(Pressure, MoreThanTheBudgetCannotBePrefaulted) {
  auto node = Node::create("node");
  try {
    (void)node->create_publisher<Sample>("topic", {}, {.memory_budget = 1 << 20, .prefault = 2 << 20});
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::exhausted);
    EXPECT_NE(std::string(error.what()).find("prefault"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("budget of 1.0 MiB"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(node->create_publisher<Sample>("topic")) << "the node goes on";
}

// --- what becomes of messages when the publisher's memory is full ------------------------------------------------------------------

constexpr std::size_t large = 1'000'000;

/// A publisher whose memory holds a few large messages, and a subscriber that takes none of them by itself.
class FullMemory : public Domain {
 protected:
  void start(PublisherOptions options, const Qos& qos = Qos{}.keep_last(64)) {
    options.memory_budget = 8 << 20;
    node_ = Node::create("node");
    publisher_ = node_->create_publisher<Sample>("topic", lossless(), options);
    subscriber_ = node_->create_subscriber<Sample>("topic", qos, as_from_elsewhere());
    await_subscribers(*publisher_, 1);
  }
  void TearDown() override {
    subscriber_.reset();
    publisher_.reset();
    node_.reset();
    Domain::TearDown();
  }
  /// In place and by copy in turns.
  PublishResult publish(std::uint64_t number) {
    return number % 2 == 0 ? publish_in_place(*publisher_, 1, number, large) : publisher_->publish(sample_of(1, number, large));
  }
  /// Publishes from 1 on until one is refused; how many were not.
  std::uint64_t fill_up() {
    std::uint64_t number = 0;
    while (number < 100 && publish(number + 1) == PublishResult::published) ++number;
    return number;
  }
  /// Also what waits for its memory to be announced.
  std::vector<std::uint64_t> take_all() {
    std::vector<std::uint64_t> numbers;
    EXPECT_TRUE(eventually([&] {
      while (const auto message = subscriber_->take()) {
        EXPECT_TRUE(is_whole(*message));
        numbers.push_back(message->number);
      }
      return publisher_->subscribers().at(0).waiting == 0;
    }));
    return numbers;
  }

  std::shared_ptr<Node> node_;
  std::shared_ptr<Publisher<Sample>> publisher_;
  std::shared_ptr<Subscriber<Sample>> subscriber_;
};

TEST_F(FullMemory, ByBestEffortTheNewestMessagesArriveAndTheOthersAreCounted) {
  start({});
  for (std::uint64_t number = 1; number <= 50; ++number) ASSERT_EQ(publish(number), PublishResult::published) << number;
  const std::vector<std::uint64_t> got = take_all();
  ASSERT_GE(got.size(), 4U);
  EXPECT_EQ(got.back(), 50U);
  EXPECT_EQ(got.front(), 50 - got.size() + 1) << "without a gap";
  EXPECT_EQ(subscriber_->statistics().missed, 50 - got.size());
  EXPECT_EQ(subscriber_->statistics().withdrawn, 50 - got.size());
  EXPECT_EQ(publisher_->statistics().withdrawn, 50 - got.size());
  EXPECT_EQ(publisher_->statistics().refused, 0U);
}

TEST_F(FullMemory, ByBestEffortALoanThatIsFilledWhileMemoryIsFullIsStillBuiltInPlace) {
  start({});
  for (std::uint64_t number = 2; number <= 100; number += 2) ASSERT_EQ(publish(number), PublishResult::published);
  EXPECT_EQ(publisher_->statistics().bytes_copied, 0U);
}

TEST_F(FullMemory, WhatSubscribersHoldIsNeverWithdrawn) {
  start({}, Qos{}.keep_last(1));
  std::vector<std::shared_ptr<Subscriber<Sample>>> subscribers{subscriber_};  // one alone may not hold so much
  while (subscribers.size() < 6) subscribers.push_back(node_->create_subscriber<Sample>("topic", Qos{}.keep_last(1), as_from_elsewhere()));
  await_subscribers(*publisher_, subscribers.size());
  std::vector<std::shared_ptr<const Sample>> held;
  std::uint64_t number = 0;
  while (number < 100 && publish(++number) == PublishResult::published) {
    held.push_back(take_soon(*subscribers[number % subscribers.size()]));
  }
  ASSERT_LT(number, 100U);
  EXPECT_TRUE(are_unchanged(held));
  held.erase(held.begin());
  EXPECT_EQ(publish(number), PublishResult::published) << "the room of the one that was let go";
}

TEST_F(FullMemory, WhatAReliableKeepAllSubscriberHasYetToTakeIsNeverWithdrawn) {
  start({}, lossless());
  const std::uint64_t fitted = fill_up();
  ASSERT_LT(fitted, 100U);
  EXPECT_EQ(take_all().size(), fitted);
  EXPECT_EQ(subscriber_->statistics().missed, 0U);
  EXPECT_EQ(publish(fitted + 1), PublishResult::published);
}

TEST_F(FullMemory, AMessageThatIsHeldBackIsNotCopiedAndNothingIsWithdrawnForIt) {
  start({.max_blocking = {}});
  const auto untaken = node_->create_subscriber<Sample>("topic", lossless());
  await_subscribers(*publisher_, 2);
  for (std::uint64_t number = 1; number <= 1023; ++number)
    ASSERT_EQ(publisher_->publish(sample_of(1, number, 10)), PublishResult::published);
  ASSERT_EQ(publisher_->publish(sample_of(1, 1024, 5 * large)), PublishResult::published);
  const PublisherStatistics before = publisher_->statistics();
  EXPECT_EQ(publisher_->publish(sample_of(1, 1025, 5 * large)), PublishResult::would_block);
  EXPECT_EQ(publisher_->statistics().withdrawn, before.withdrawn);
  EXPECT_EQ(publisher_->statistics().memory_mapped, before.memory_mapped);
  EXPECT_EQ(publisher_->statistics().bytes_copied, before.bytes_copied);
  const std::vector<std::uint64_t> got = take_all();
  EXPECT_EQ(got.size(), 64U);
  EXPECT_EQ(got.back(), 1024U);
  EXPECT_EQ(untaken->take()->number, 1U);
  EXPECT_EQ(publisher_->publish(sample_of(1, 1025, 10)), PublishResult::published) << "there is room again";
}

TEST_F(FullMemory, ByWorstEffortTheOldestMessagesArriveAndTheNewOnesAreRefused) {
  start({.when_full = WhenFull::refuse});
  const std::uint64_t fitted = fill_up();
  ASSERT_LT(fitted, 100U);
  EXPECT_EQ(publish(fitted + 1), PublishResult::no_memory);
  EXPECT_EQ(publisher_->statistics().refused, 2U);
  EXPECT_EQ(publisher_->statistics().withdrawn, 0U);
  const std::vector<std::uint64_t> got = take_all();
  EXPECT_EQ(got.size(), fitted);
  EXPECT_EQ(got.front(), 1U);
  EXPECT_EQ(subscriber_->statistics().missed, 0U);
}

TEST_F(FullMemory, ByMediumEffortNoMoreThanSoManyOldMessagesMakeRoomForANewOne) {
  start({.when_full = WhenFull::withdraw_some, .withdraw_at_most = 2});
  for (std::uint64_t number = 1; number <= 50; ++number) ASSERT_EQ(publish(number), PublishResult::published) << "one for one";
  const std::uint64_t before = publisher_->statistics().withdrawn;
  // Several old ones would have to go for this one, one after another.
  EXPECT_EQ(publish_in_place(*publisher_, 1, 51, 5 * large), PublishResult::no_memory);
  EXPECT_EQ(publisher_->statistics().withdrawn, before + 2);
  EXPECT_EQ(publisher_->statistics().refused, 1U);
}

TEST_F(FullMemory, ByMediumEffortWhatSubscribersHoldIsNotCountedAndStaysForThoseWhoHaveYetToTakeIt) {
  start({.when_full = WhenFull::withdraw_some, .withdraw_at_most = 2});
  const auto late = node_->create_subscriber<Sample>("topic", Qos{}.keep_last(64), as_from_elsewhere());
  await_subscribers(*publisher_, 2);
  std::vector<std::shared_ptr<const Sample>> held;
  for (std::uint64_t number = 1; number <= 2; ++number) {
    ASSERT_EQ(publish(number), PublishResult::published);
    held.push_back(take_soon(*subscriber_));
  }
  for (std::uint64_t number = 3; number <= 50; ++number) ASSERT_EQ(publish(number), PublishResult::published) << number;
  EXPECT_TRUE(are_unchanged(held));
  for (std::uint64_t number = 1; number <= 2; ++number) EXPECT_EQ(take_soon(*late)->number, number);
  MessageInfo info;
  const std::uint64_t next = take_soon(*late, &info)->number;
  EXPECT_GT(next, 3U);
  EXPECT_EQ(info.missed, next - 3);
  EXPECT_EQ(publisher_->statistics().withdrawn, next - 3);
}

TEST_F(FullMemory, ByMediumEffortEachMessageMayHaveSoManyWithdrawn) {
  start({.when_full = WhenFull::withdraw_some, .withdraw_at_most = 2});
  for (std::uint64_t number = 1; number <= 50; ++number) ASSERT_EQ(publish(number), PublishResult::published);
  int refused = 0;
  while (refused < 20 && publish_in_place(*publisher_, 1, 51, 5 * large) != PublishResult::published) ++refused;
  EXPECT_LT(refused, 20) << "what the refused ones made room for is there";
  const auto discarded = [&] {
    auto loan = publisher_->loan();
    loan.build([](Sample& sample) { fill(sample, 1, 52, 6 * large); });
  };
  const std::uint64_t before = publisher_->statistics().withdrawn;
  publish(53);
  discarded();
  discarded();
  EXPECT_GE(publisher_->statistics().withdrawn, before + 3) << "also those that were discarded";
}

TEST_F(FullMemory, EachMessageWaitsForRoom) {
  constexpr auto time = 20ms;
  start({.when_full = WhenFull::wait, .max_blocking = time});
  const std::uint64_t fitted = fill_up();
  const auto takes = [](const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::steady_clock::now() - begin;
  };
  for (int i = 0; i < 2; ++i) {
    EXPECT_GE(takes([&] { EXPECT_EQ(publish(fitted + 1), PublishResult::no_memory); }), time);
    EXPECT_GE(takes([&] {
                auto loan = publisher_->loan();
                loan.build([](Sample& sample) { fill(sample, 1, 1, large); });
              }),
              time)
        << "after a refused one";
    EXPECT_GE(takes([&] { EXPECT_EQ(publish(fitted + 1), PublishResult::no_memory); }), time) << "after a discarded one";
  }
}

TEST_F(FullMemory, WaitingEndsWhenASubscriberMakesRoomOrTheTimeIsOver) {
  start({.when_full = WhenFull::wait, .max_blocking = 20ms});
  const std::uint64_t fitted = fill_up();
  ASSERT_LT(fitted, 100U);

  for (const std::chrono::nanoseconds time : {std::chrono::nanoseconds(1h), std::chrono::nanoseconds::max()}) {
    subscriber_.reset();
    publisher_.reset();
    node_.reset();
    start({.when_full = WhenFull::wait, .max_blocking = time});
    std::thread taker([&] {
      eventually([&] { return publisher_->statistics().published >= fitted; });
      for (std::uint64_t number = 1; number <= 30; ++number) EXPECT_EQ(take_soon(*subscriber_)->number, number);
    });
    for (std::uint64_t number = 1; number <= 30; ++number) EXPECT_EQ(publish(number), PublishResult::published);
    taker.join();
    EXPECT_EQ(subscriber_->statistics().missed, 0U);
  }
}

}  // namespace
}  // namespace sinew::system
