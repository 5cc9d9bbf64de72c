// spec/wire.md, W72: interfaces that are only there as long as others are.
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "manager/state/tests/world.hpp"

namespace sinew::manager {
namespace {

using namespace wire;

constexpr std::array kinds{Ghost::carrier, Ghost::observer};

Actions ghostly_publish(World& world, Session session, std::uint64_t id, Ghost ghost) {
  return world.say(session, RegisterPublisher{id, "image", type_of(32), {8, true}, 0, 0, ghost});
}
Actions ghostly_subscribe(World& world, Session session, std::uint64_t id, Ghost ghost, const Qos& asked = {4, false}) {
  return world.say(session, RegisterSubscriber{id, "image", type_of(32), asked, 0, 0, ghost});
}

TEST(Ghosts, W72_cannot_make_a_topic) {
  for (const Ghost kind : kinds) {
    World world;
    const Session tool = world.node("tool");
    const auto publisher = sent<PublisherRefused>(ghostly_publish(world, tool, 1, kind), 0, tool);
    EXPECT_EQ(publisher.kind, static_cast<std::uint32_t>(ErrorKind::unavailable));
    EXPECT_EQ(publisher.text,
              "topic 'image' does not exist, and a ghost does not make it: wait until the domain's state shows it, or create the publisher "
              "without the option ghost.");
    const auto subscriber = sent<SubscriberRefused>(ghostly_subscribe(world, tool, 1, kind), 0, tool);
    EXPECT_EQ(subscriber.kind, static_cast<std::uint32_t>(ErrorKind::unavailable));
    EXPECT_EQ(world.domain.topics(), 0u);
  }
}

TEST(Ghosts, W26_are_introduced_as_others_are) {
  for (const Ghost kind : kinds) {
    World world;
    const Session camera = world.node("camera"), tool = world.node("tool");
    world.publish(camera, 1);
    const Actions actions = ghostly_subscribe(world, tool, 1, kind);
    sent<SubscriberRegistered>(actions, 0, tool);
    EXPECT_EQ(at<Introduce>(actions, 1).publisher, camera);
  }
}

TEST(Ghosts, W72_two_carriers_are_not_introduced_to_each_other) {
  World world;
  const Session camera = world.node("camera"), gateway = world.node("gateway"), bridge = world.node("bridge");
  world.publish(camera, 1);
  ghostly_publish(world, gateway, 1, Ghost::carrier);
  const Actions actions = ghostly_subscribe(world, bridge, 1, Ghost::carrier);
  ASSERT_EQ(actions.size(), 2u) << "one introduction, to the camera";
  EXPECT_EQ(at<Introduce>(actions, 1).publisher, camera);
  EXPECT_EQ(sent<PublisherRegistered>(ghostly_publish(world, bridge, 2, Ghost::carrier), 0, bridge).id, 2u);
}

TEST(Ghosts, W72_two_carriers_are_not_told_that_they_do_not_fit_nor_wait_for_what_was_kept) {
  const Qos wants{4, true, Durability::transient_local};
  World world;
  const Session viewer = world.node("viewer"), gateway = world.node("gateway");
  world.subscribe(viewer, 1);
  world.say(gateway, RegisterPublisher{1, "image", type_of(32), {8, true, Durability::transient_local}, 0, 0, Ghost::carrier});
  ghostly_publish(world, gateway, 2, Ghost::carrier);
  const Actions asked = ghostly_subscribe(world, gateway, 1, Ghost::carrier, wants);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(sent<SubscriberRegistered>(asked, 0, gateway).histories, 0u);
}

// Or tools would see nothing of what gateways bring.
TEST(Ghosts, W72_an_observer_and_a_ghost_of_either_kind_are_introduced_to_each_other) {
  for (const auto& [published, subscribed] : {std::pair{Ghost::carrier, Ghost::observer}, std::pair{Ghost::observer, Ghost::carrier},
                                              std::pair{Ghost::observer, Ghost::observer}}) {
    World world;
    const Session viewer = world.node("viewer"), one = world.node("one"), other = world.node("other");
    world.subscribe(viewer, 1);
    ghostly_publish(world, one, 1, published);
    const Actions actions = ghostly_subscribe(world, other, 1, subscribed);
    ASSERT_EQ(actions.size(), 2u);
    sent<SubscriberRegistered>(actions, 0, other);
    EXPECT_EQ(at<Introduce>(actions, 1).publisher, one);
    EXPECT_EQ(at<Introduce>(actions, 1).subscriber, other);
  }
}

TEST(Ghosts, W64_an_observer_waits_for_what_a_carrier_has_kept) {
  World world;
  const Session viewer = world.node("viewer"), gateway = world.node("gateway"), tool = world.node("tool");
  world.subscribe(viewer, 1);
  const Qos kept{8, true, Durability::transient_local};
  world.say(gateway, RegisterPublisher{1, "image", type_of(32), kept, 0, 0, Ghost::carrier});
  EXPECT_EQ(sent<SubscriberRegistered>(ghostly_subscribe(world, tool, 1, Ghost::observer, kept), 0, tool).histories, 1u);
}

TEST(Ghosts, W61_an_observer_is_told_that_it_does_not_fit_a_carrier) {
  World world;
  const Session viewer = world.node("viewer"), gateway = world.node("gateway"), tool = world.node("tool");
  world.subscribe(viewer, 1);
  ghostly_publish(world, gateway, 1, Ghost::carrier);
  const Actions asked = ghostly_subscribe(world, tool, 1, Ghost::observer, {4, true, Durability::transient_local});
  ASSERT_EQ(asked.size(), 3u);
  EXPECT_EQ(sent<Incompatible>(asked, 1, gateway).peer, "tool");
  EXPECT_EQ(sent<Incompatible>(asked, 2, tool).peer, "gateway");
}

// An observer and a carrier, which meet, do not keep the topic for each other either.
TEST(Ghosts, W72_are_detached_when_the_last_other_goes) {
  World world;
  const Session camera = world.node("camera"), viewer = world.node("viewer"), tool = world.node("tool");
  world.publish(camera, 1);
  world.subscribe(viewer, 1);
  ghostly_publish(world, tool, 3, Ghost::carrier);
  ghostly_subscribe(world, tool, 4, Ghost::observer);
  EXPECT_TRUE(world.say(camera, DeletePublisher{1}).empty()) << "the viewer keeps the topic";
  const Actions actions = world.say(viewer, DeleteSubscriber{1});
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(sent<Detached>(actions, 0, tool).id, 3u);
  EXPECT_TRUE(sent<Detached>(actions, 0, tool).you_publish);
  EXPECT_EQ(sent<Detached>(actions, 1, tool).id, 4u);
  EXPECT_FALSE(sent<Detached>(actions, 1, tool).you_publish);
  EXPECT_EQ(world.domain.topics(), 0u);
}

// An observer and a carrier, which go on without their topic, are no pair any more.
TEST(Ghosts, W75_what_is_said_of_a_pair_that_has_lost_its_topic_means_nothing) {
  World world;
  const Session viewer = world.node("viewer"), gateway = world.node("gateway"), tool = world.node("tool");
  world.subscribe(viewer, 1);
  ghostly_publish(world, gateway, 1, Ghost::carrier);
  const auto connection = at<Introduce>(ghostly_subscribe(world, tool, 1, Ghost::observer), 1).to_subscriber.connection;
  world.say(viewer, DeleteSubscriber{1});
  EXPECT_TRUE(world.say(tool, PathChosen{connection, Path::view, "another layout"}).empty());
  EXPECT_TRUE(world.say(tool, DeleteSubscriber{1}).empty());
  EXPECT_TRUE(world.say(gateway, DeletePublisher{1}).empty());
  EXPECT_TRUE(world.say(tool, PathChosen{connection, Path::copy, "as it says itself"}).empty());
}

TEST(Ghosts, W72_that_wait_to_be_introduced_are_not_when_their_topic_has_gone) {
  World world;
  const Session viewer = world.node("viewer"), gateway = world.node("gateway"), tool = world.node("tool");
  world.subscribe(viewer, 1);
  for (std::uint64_t id = 1; id <= 3; ++id) ghostly_publish(world, gateway, id, Ghost::carrier);
  world.nodes_answer = false;
  std::vector<std::uint64_t> unanswered;
  const Actions actions = ghostly_subscribe(world, tool, 1, Ghost::observer);
  for (const Action& action : actions) {
    if (const auto* const introduced = std::get_if<Introduce>(&action)) unanswered.push_back(introduced->to_subscriber.connection);
  }
  ASSERT_EQ(unanswered.size(), 2u) << "of three";
  world.say(viewer, DeleteSubscriber{1});
  for (const std::uint64_t connection : unanswered) {
    for (const Session side : {gateway, tool}) EXPECT_TRUE(world.say(side, ConnectTaken{connection}).empty());
  }
}

TEST(Ghosts, W72_do_not_keep_the_type) {
  World world;
  const Session camera = world.node("camera"), tool = world.node("tool");
  world.publish(camera, 1);
  ghostly_subscribe(world, tool, 1, Ghost::observer);
  world.say(camera, DeletePublisher{1});
  const Actions actions = world.publish(camera, 2, "image", type_of(64));
  sent<PublisherRegistered>(actions, 0, camera);
  EXPECT_EQ(actions.size(), 1u) << "the ghost of before is no part of the new topic";
}

TEST(Ghosts, W72_are_deleted_after_they_were_detached) {
  World world;
  const Session camera = world.node("camera"), tool = world.node("tool");
  world.publish(camera, 1);
  ghostly_publish(world, tool, 1, Ghost::observer);
  ghostly_subscribe(world, tool, 1, Ghost::observer);
  const std::size_t free = world.domain.free_windows();
  world.domain.closed(0, camera);
  EXPECT_TRUE(world.say(tool, DeletePublisher{1}).empty());
  EXPECT_TRUE(world.say(tool, DeleteSubscriber{1}).empty());
  world.domain.closed(0, tool);
  EXPECT_EQ(world.domain.free_windows(), free + 2);
}

TEST(Ghosts, W72_of_a_node_that_leaves_are_forgotten_with_it) {
  World world;
  const Session camera = world.node("camera"), tool = world.node("tool");
  world.publish(camera, 1);
  ghostly_subscribe(world, camera, 1, Ghost::observer);
  ghostly_subscribe(world, tool, 1, Ghost::observer);
  const Actions actions = world.say(camera, Goodbye{});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(sent<Detached>(actions, 0, tool).id, 1u);
  EXPECT_TRUE(world.say(tool, Goodbye{}).empty());
}

/// Ghosts of one node, with nothing to do with them half a million pairs of it that wait for silent readers, and the anchor of their topics, `topic_of` each, goes. Meanwhile nobody else is served: where the pairs
/// are looked at for each ghost, or for each topic, that takes minutes, and CTest ends it (TIMEOUT).
template <class TopicOf>
void expect_that_many_are_detached_at_once(TopicOf topic_of) {
  constexpr std::uint64_t ghosts = 100'000, publishers = 1000, readers = 8, subscribers = 60;
  World world({0x2000'0000'0000, 0x10'0000, publishers + 2 * ghosts});
  world.nodes_answer = false;
  const Session camera = world.node("camera"), gateway = world.node("gateway");
  Session reader = 0;
  for (std::uint64_t n = 1; n <= readers; ++n) {
    reader = world.node("reader" + std::to_string(n));
    for (std::uint64_t id = 1; id <= subscribers; ++id) world.subscribe(reader, id, "kept");
  }
  std::optional<Introduce> introduced;  // one of the last reader's
  for (std::uint64_t id = 1; id <= publishers; ++id) {
    Actions actions = world.publish(gateway, id, "kept");
    for (std::size_t n = 0; n < actions.size(); ++n) {
      const auto* const meet = std::get_if<Introduce>(&actions[n]);
      if (!meet) continue;
      if (meet->subscriber == reader) introduced = *meet;
      const Actions more = world.answer(gateway, *meet);
      actions.insert(actions.end(), more.begin(), more.end());
    }
  }
  ASSERT_TRUE(introduced);
  for (std::uint64_t n = 1; n <= ghosts; ++n) {
    const std::string topic = topic_of(n);
    world.publish(camera, n, topic);
    world.say(gateway, RegisterPublisher{publishers + n, topic, type_of(32), {8, true}, 0, 0, Ghost::observer});
  }
  EXPECT_EQ(world.say(camera, Goodbye{}).size(), ghosts) << "each is told";
  EXPECT_EQ(world.domain.topics(), 1u);
  EXPECT_EQ(at<Introduce>(world.answer(reader, *introduced), 0).publisher, gateway) << "the others go on waiting";
}

TEST(Ghosts, W72_of_one_topic_are_detached_at_once_however_many_pairs_wait) {
  expect_that_many_are_detached_at_once([](std::uint64_t) { return std::string("image"); });
}

TEST(Ghosts, W72_of_many_topics_that_go_with_one_node_are_detached_at_once_however_many_pairs_wait) {
  expect_that_many_are_detached_at_once([](std::uint64_t n) { return "image/" + std::to_string(n); });
}

}  // namespace
}  // namespace sinew::manager
