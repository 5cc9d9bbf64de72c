// Messages of unusual shapes, which every subscriber must get all the same.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
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
struct alignas(64) Quaternion {
  double w = 1, x = 0, y = 0, z = 0;
};
struct Poses {
  std::vector<Quaternion> rotations;
};
struct PosesInView {
  std::span<const Quaternion> rotations;
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

TEST_F(Shapes, ViewsOfOverAlignedStructuresAreAligned) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<robot::Poses>("poses");
  auto subscriber = node->create_subscriber<robot::PosesInView>("poses");
  await_subscribers(*publisher, 1);
  for (const std::size_t count : {3U, 1000U}) {
    robot::Poses poses{std::vector<robot::Quaternion>(count)};
    poses.rotations.back().z = 7;
    ASSERT_EQ(publisher->publish(poses), PublishResult::published);
    const auto message = take_soon(*subscriber);
    ASSERT_TRUE(message);
    ASSERT_EQ(message->rotations.size(), count);
    EXPECT_EQ(message->rotations.back().z, 7);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message->rotations.data()) % alignof(robot::Quaternion), 0U);
  }
}

}  // namespace
}  // namespace sinew::system
