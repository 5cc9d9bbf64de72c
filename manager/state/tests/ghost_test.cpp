// spec/wire.md, W72: interfaces that are only there as long as others are.
#include <gtest/gtest.h>

#include "manager/state/tests/world.hpp"

namespace sinew::manager {
namespace {

using namespace wire;

Actions ghostly_publish(World& world, Session session, std::uint64_t id, std::uint8_t structure = 32) {
  return world.say(session, RegisterPublisher{id, "image", type_of(structure), {8, true}, 0, 0, true});
}
Actions ghostly_subscribe(World& world, Session session, std::uint64_t id, const Qos& asked = {4, false}) {
  return world.say(session, RegisterSubscriber{id, "image", type_of(32), asked, 0, 0, true});
}

TEST(Ghosts, CannotMakeATopic) {
  World world;
  const Session tool = world.node("tool");
  const auto publisher = sent<PublisherRefused>(ghostly_publish(world, tool, 1), 0, tool);
  EXPECT_EQ(publisher.kind, static_cast<std::uint32_t>(ErrorKind::unavailable));
  EXPECT_EQ(publisher.text,
            "topic 'image' does not exist, and a ghost does not make it: wait until the domain's state shows it, or create the publisher "
            "without the option ghost.");
  const auto subscriber = sent<SubscriberRefused>(ghostly_subscribe(world, tool, 1), 0, tool);
  EXPECT_EQ(subscriber.kind, static_cast<std::uint32_t>(ErrorKind::unavailable));
  EXPECT_EQ(world.domain.topics(), 0u);
}

TEST(Ghosts, AreIntroducedAsOthersAre) {
  World world;
  const Session camera = world.node("camera"), tool = world.node("tool");
  world.publish(camera, 1);
  const Actions actions = ghostly_subscribe(world, tool, 1);
  sent<SubscriberRegistered>(actions, 0, tool);
  EXPECT_EQ(at<Introduce>(actions, 1).publisher, camera);
}

TEST(Ghosts, AreNotIntroducedToEachOther) {
  World world;
  const Session camera = world.node("camera"), tool = world.node("tool");
  world.publish(camera, 1);
  ghostly_publish(world, tool, 1);
  const Actions actions = ghostly_subscribe(world, tool, 1);
  ASSERT_EQ(actions.size(), 2u) << "one introduction, to the camera";
  EXPECT_EQ(at<Introduce>(actions, 1).publisher, camera);
  // Nor are they told that they would not fit, nor wait for each other's history.
  const Qos wants{4, true, Durability::transient_local};
  World other;
  const Session viewer = other.node("viewer"), ghost = other.node("ghost");
  other.subscribe(viewer, 1);
  ghostly_publish(other, ghost, 1);
  const Actions asked = ghostly_subscribe(other, ghost, 1, wants);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(sent<SubscriberRegistered>(asked, 0, ghost).histories, 0u);
}

TEST(Ghosts, AreDetachedWhenTheLastOtherGoes) {
  World world;
  const Session camera = world.node("camera"), viewer = world.node("viewer"), tool = world.node("tool");
  world.publish(camera, 1);
  world.subscribe(viewer, 1);
  ghostly_publish(world, tool, 3);
  ghostly_subscribe(world, tool, 4);
  EXPECT_TRUE(world.say(camera, DeletePublisher{1}).empty()) << "the viewer keeps the topic";
  const Actions actions = world.say(viewer, DeleteSubscriber{1});
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(sent<Detached>(actions, 0, tool).id, 3u);
  EXPECT_TRUE(sent<Detached>(actions, 0, tool).you_publish);
  EXPECT_EQ(sent<Detached>(actions, 1, tool).id, 4u);
  EXPECT_FALSE(sent<Detached>(actions, 1, tool).you_publish);
  EXPECT_EQ(world.domain.topics(), 0u);
}

TEST(Ghosts, DoNotKeepTheType) {
  World world;
  const Session camera = world.node("camera"), tool = world.node("tool");
  world.publish(camera, 1);
  ghostly_subscribe(world, tool, 1);
  world.say(camera, DeletePublisher{1});
  const Actions actions = world.publish(camera, 2, "image", type_of(64));
  sent<PublisherRegistered>(actions, 0, camera);
  EXPECT_EQ(actions.size(), 1u) << "the ghost of before is no part of the new topic";
}

TEST(Ghosts, AreDeletedAfterTheyWereDetached) {
  World world;
  const Session camera = world.node("camera"), tool = world.node("tool");
  world.publish(camera, 1);
  ghostly_publish(world, tool, 1);
  ghostly_subscribe(world, tool, 1);
  const std::size_t free = world.domain.free_windows();
  world.domain.closed(0, camera);
  EXPECT_TRUE(world.say(tool, DeletePublisher{1}).empty());
  EXPECT_TRUE(world.say(tool, DeleteSubscriber{1}).empty());
  world.domain.closed(0, tool);
  EXPECT_EQ(world.domain.free_windows(), free + 2);
}

TEST(Ghosts, OfANodeThatLeavesAreForgottenWithIt) {
  World world;
  const Session camera = world.node("camera"), tool = world.node("tool");
  world.publish(camera, 1);
  ghostly_subscribe(world, camera, 1);
  ghostly_subscribe(world, tool, 1);
  const Actions actions = world.say(camera, Goodbye{});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(sent<Detached>(actions, 0, tool).id, 1u);
  EXPECT_TRUE(world.say(tool, Goodbye{}).empty());
}

}  // namespace
}  // namespace sinew::manager
