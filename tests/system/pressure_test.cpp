// Publishers that are faster than their subscribers, and messages for which there is no memory.
#include <atomic>
#include <thread>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
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

}  // namespace
}  // namespace sinew::system
