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
  EXPECT_EQ(publisher->statistics().memory_mapped, after_some);
}

}  // namespace
}  // namespace sinew::system
