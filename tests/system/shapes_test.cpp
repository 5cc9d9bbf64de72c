// Messages of unusual shapes, which every subscriber must get all the same.
#include <array>
#include <optional>
#include <vector>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace robot {
struct Object {
  float x = 0;
  std::optional<std::array<double, 36>> covariance;
};
struct Objects {
  std::vector<Object> objects;
};
}  // namespace robot

namespace sinew::system {
namespace {

class Shapes : public Domain {};

TEST_F(Shapes, ManyOptionalsWithoutAValueAreReadThoughTheyTakeLittleInTheStream) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<robot::Objects>("objects");
  SubscriberOptions options;
  options.delivery = Delivery::view;
  auto subscriber = node->create_subscriber<robot::Objects>("objects", Qos{}, options);
  await_subscribers(*publisher, 1);
  ASSERT_EQ(publisher->publish(robot::Objects{std::vector<robot::Object>(20'000)}), PublishResult::published);
  const auto message = take_soon(*subscriber);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->objects.size(), 20'000U);
  EXPECT_EQ(subscriber->statistics().rejected, 0U);
}

}  // namespace
}  // namespace sinew::system
