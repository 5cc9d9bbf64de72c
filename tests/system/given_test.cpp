// Messages that are given to publish() as they are, while other processes read as well.
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Given : public Domain {};

TEST_F(Given, MessagesThatNobodyNeedsAnyMoreMakeRoomForThoseThatAreGiven) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(2));
  auto elsewhere = node->create_subscriber<Sample>("topic", Qos{}.keep_last(2), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  std::uint64_t after_some = 0;
  for (std::uint64_t number = 1; number <= 500; ++number) {
    ASSERT_EQ(number % 2 == 0 ? publisher->publish(std::make_unique<Sample>(sample_of(1, number, 50'000)))
                              : publisher->publish(std::make_shared<const Sample>(sample_of(1, number, 50'000))),
              PublishResult::published);
    if (number == 50) after_some = publisher->statistics().memory_mapped;
  }
  EXPECT_LE(publisher->statistics().memory_mapped, after_some);  // less where a chunk was idle for so long that it has gone
}

TEST_F(Given, OneThatIsRefusedDoesNotCostSubscribersOfTheProcessTheNext) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}, {.memory_budget = 1 << 20});
  SubscriberOptions second = {};
  second.every = 2;
  auto here = node->create_subscriber<Sample>("topic"), every_second = node->create_subscriber<Sample>("topic", Qos{}, second);
  auto elsewhere = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 3);
  for (std::uint64_t number = 1; number <= 4; ++number) {
    EXPECT_EQ(publisher->publish(std::make_unique<Sample>(sample_of(1, number, 2'000'000))), PublishResult::no_memory);
    EXPECT_EQ(publisher->publish(std::make_unique<Sample>(sample_of(1, number, 1000))), PublishResult::published);
    const auto sample = here->take(), other = every_second->take();
    ASSERT_TRUE(sample) << number;
    EXPECT_EQ(sample->number, number);
    EXPECT_EQ(other != nullptr, number % 2 == 1) << number;
  }
  EXPECT_EQ(here->statistics().skipped, 0U);
  EXPECT_EQ(every_second->statistics().skipped, 2U);
}

}  // namespace
}  // namespace sinew::system
