// Pairs that are not introduced: those whose qualities do not fit, and those that find each other inside their process.
#include <gtest/gtest.h>

#include <algorithm>

#include "manager/state/tests/world.hpp"

namespace sinew::manager {
namespace {

using namespace wire;

const Qos best_effort{8, false}, reliable{4, true};

void expect_told(const Actions& actions, std::size_t n, Session session, const Incompatible& expected) {
  const auto told = sent<Incompatible>(actions, n, session);
  EXPECT_EQ(told.id, expected.id);
  EXPECT_EQ(told.you_publish, expected.you_publish);
  EXPECT_EQ(told.peer, expected.peer);
  EXPECT_EQ(told.qos, expected.qos);
}

std::size_t told(const Actions& actions, Session session) {
  return static_cast<std::size_t>(std::ranges::count_if(actions, [&](const Action& action) {
    const auto* const send = std::get_if<Send>(&action);
    return send != nullptr && send->session == session && std::holds_alternative<Incompatible>(send->message);
  }));
}

TEST(Misfits, W61_a_pair_that_does_not_fit_is_not_introduced_and_each_side_is_told_once_whoever_came_first) {
  World world;
  const Session camera = world.node("camera"), early = world.node("early"), late = world.node("late");
  world.subscribe(early, 3, "image", type_of(32), reliable);
  const Actions first = world.publish(camera, 7, "image", type_of(32), best_effort);
  ASSERT_EQ(first.size(), 3u);
  sent<PublisherRegistered>(first, 0, camera);
  expect_told(first, 1, camera, {7, true, "early", reliable});
  expect_told(first, 2, early, {3, false, "camera", best_effort});
  const Actions then = world.subscribe(late, 4, "image", type_of(32), reliable);
  ASSERT_EQ(then.size(), 3u);
  sent<SubscriberRegistered>(then, 0, late);
  expect_told(then, 1, camera, {7, true, "late", reliable});
  expect_told(then, 2, late, {4, false, "camera", best_effort});
}

TEST(Histories, W64_a_transient_local_subscriber_is_told_of_how_many_publishers_it_will_get_what_they_have_kept) {
  World world;
  const Qos kept{8, false, Durability::transient_local};
  const Session camera = world.node("camera"), viewer = world.node("viewer");
  world.publish(camera, 1, "image", type_of(32), kept);
  world.publish(camera, 2, "image", type_of(32), kept);
  world.publish(camera, 3, "image", type_of(32), best_effort);
  EXPECT_EQ(sent<SubscriberRegistered>(world.subscribe(viewer, 1, "image", type_of(32), kept), 0, viewer).histories, 2U);
  EXPECT_EQ(sent<SubscriberRegistered>(world.subscribe(viewer, 2, "image", type_of(32), best_effort), 0, viewer).histories, 0U);
  EXPECT_EQ(sent<SubscriberRegistered>(world.subscribe(viewer, 3, "other", type_of(32), kept), 0, viewer).histories, 0U);
}

TEST(Misfits, W61_a_pair_within_one_node_is_told_of_both_its_sides) {
  World world;
  const Session node = world.node("both");
  world.publish(node, 1, "image", type_of(32), best_effort);
  const Actions actions = world.subscribe(node, 1, "image", type_of(32), reliable);
  ASSERT_EQ(actions.size(), 3u);
  expect_told(actions, 1, node, {1, true, "both", reliable});
  expect_told(actions, 2, node, {1, false, "both", best_effort});
}

TEST(Misfits, W61_every_policy_can_keep_a_pair_apart) {
  for (const Qos& asked : {Qos{.reliable = true}, Qos{.durability = Durability::transient_local}, Qos{.deadline = 1},
                           Qos{.liveliness = Liveliness::manual_by_topic}, Qos{.lease = 1}}) {
    World world;
    const Session node = world.node("both");
    world.publish(node, 1, "image", type_of(32), {});
    EXPECT_EQ(told(world.subscribe(node, 1, "image", type_of(32), asked), node), 2u);
    at<Introduce>(world.subscribe(node, 2, "image", type_of(32), {}), 1);
  }
}

TEST(Misfits, W61_a_pair_that_does_not_fit_holds_no_window_owes_no_answer_and_is_in_nobodys_way) {
  World world;
  world.nodes_answer = false;
  const Session camera = world.node("camera"), viewer = world.node("viewer");
  for (std::uint64_t id = 1; id <= 5; ++id) world.subscribe(viewer, id, "image", type_of(32), reliable);
  world.subscribe(viewer, 6, "image", type_of(32), best_effort);
  const Actions actions = world.publish(camera, 1, "image", type_of(32), best_effort);
  ASSERT_EQ(actions.size(), 12u);
  const Introduce meet = at<Introduce>(actions, 11);
  EXPECT_EQ(meet.to_subscriber.id, 6u);
  EXPECT_TRUE(world.answer(camera, meet).empty());
  EXPECT_TRUE(world.answer(viewer, meet).empty());
  EXPECT_TRUE(world.say(viewer, WindowReleased{meet.to_subscriber.window}).empty());
  world.domain.closed(0, camera);
  EXPECT_EQ(world.domain.free_windows(), 4u);
}

TEST(Misfits, W62_one_event_tells_no_session_of_more_than_256_of_them) {
  World world;
  const Session camera = world.node("camera"), viewer = world.node("viewer"), other = world.node("other");
  for (std::uint64_t id = 1; id <= 1000; ++id) world.subscribe(viewer, id, "image", type_of(32), reliable);
  world.subscribe(other, 1, "image", type_of(32), reliable);
  world.subscribe(other, 2, "image", type_of(32), best_effort);
  const Actions actions = world.publish(camera, 1, "image", type_of(32), best_effort);
  EXPECT_EQ(told(actions, camera), 256u);
  EXPECT_EQ(told(actions, viewer), 256u);
  EXPECT_EQ(told(actions, other), 1u) << "a session is told, however many pairs others have";
  EXPECT_TRUE(std::holds_alternative<Introduce>(actions.at(1 + 256 + 256 + 1))) << "pairs that fit come after them";
  EXPECT_EQ(told(world.publish(camera, 2, "image", type_of(32), best_effort), camera), 256u) << "another event counts anew";
}

// --- endpoints of services ---------------------------------------------------------------------------------------------------------

TEST(Endpoints, W68_both_sides_of_an_introduction_are_told_the_others_endpoint) {
  World world;
  const Session client = world.node("client"), provider = world.node("provider");
  world.say(client, wire::RegisterPublisher{1, "sum@request", type_of(32), {0, true}, 0, 77});
  const auto meet = at<Introduce>(world.say(provider, wire::RegisterSubscriber{1, "sum@request", type_of(32), {0, true}, 0, 99}), 1);
  EXPECT_EQ(meet.to_publisher.endpoint, 99u);
  EXPECT_EQ(meet.to_subscriber.endpoint, 77u);
}

TEST(Endpoints, W69_an_endpoint_belongs_to_one_session_in_both_topics_of_its_service) {
  World world;
  const Session provider = world.node("provider"), thief = world.node("thief"), stranger = world.node("stranger");
  world.say(provider, wire::RegisterPublisher{1, "sum@response", type_of(32), {0, true}, 0, 77});
  // It has heard the number in an introduction, and would get the requests of all who read the provider's responses.
  sent<wire::SubscriberRefused>(world.say(thief, wire::RegisterSubscriber{1, "sum@request", type_of(32), {0, true}, 0, 77}), 0, thief);
  sent<wire::PublisherRefused>(world.say(thief, wire::RegisterPublisher{1, "sum@request", type_of(32), {0, true}, 0, 77}), 0, thief);
  sent<wire::SubscriberRefused>(world.say(thief, wire::RegisterSubscriber{2, "sum@response", type_of(32), {0, true}, 0, 77}), 0, thief);
  sent<wire::SubscriberRegistered>(world.say(provider, wire::RegisterSubscriber{1, "sum@request", type_of(32), {0, true}, 0, 77}), 0,
                                   provider);
  sent<wire::SubscriberRegistered>(world.say(stranger, wire::RegisterSubscriber{1, "other@request", type_of(32), {0, true}, 0, 77}), 0,
                                   stranger);
}

TEST(Endpoints, W69_an_endpoint_that_another_session_has_in_the_topic_is_refused) {
  World world;
  const Session client = world.node("client"), thief = world.node("thief");
  world.say(client, wire::RegisterSubscriber{1, "sum@response", type_of(32), {0, true}, 0, 77});
  const auto refused =
      sent<wire::SubscriberRefused>(world.say(thief, wire::RegisterSubscriber{1, "sum@response", type_of(32), {0, true}, 0, 77}), 0, thief);
  EXPECT_EQ(refused.kind, static_cast<std::uint32_t>(ErrorKind::invalid_argument));
  EXPECT_NE(refused.text.find("another node has this endpoint number"), std::string::npos) << refused.text;
  sent<wire::SubscriberRegistered>(world.say(thief, wire::RegisterSubscriber{2, "sum@response", type_of(32), {0, true}, 0, 78}), 0, thief);
  sent<wire::SubscriberRegistered>(world.say(client, wire::RegisterSubscriber{2, "sum@response", type_of(32), {0, true}, 0, 77}), 0,
                                   client);
}

// --- one process -------------------------------------------------------------------------------------------------------------------

constexpr std::uint64_t ours = 0x1234;

TEST(OneProcess, W63_ends_with_one_process_and_layout_are_left_to_find_each_other_also_those_of_two_nodes) {
  World world;
  const Session one = world.node("one"), other = world.node("other");
  EXPECT_EQ(world.subscribe(one, 1, "image", type_of(32), best_effort, ours).size(), 1u);
  EXPECT_EQ(world.publish(one, 1, "image", type_of(32), best_effort, ours).size(), 1u);
  EXPECT_EQ(world.subscribe(other, 1, "image", type_of(32), best_effort, ours).size(), 1u);
  EXPECT_EQ(world.subscribe(other, 2).size(), 2u) << "others are introduced";
  world.domain.closed(0, other);
  world.say(one, DeletePublisher{1});
  EXPECT_TRUE(world.say(one, WindowReleased{{four_windows.base, four_windows.window_size}}).empty());
  EXPECT_EQ(world.domain.free_windows(), 4u) << "its own subscriber was given no window";
}

TEST(OneProcess, W63_ends_with_another_process_or_none_or_another_layout_are_introduced) {
  struct Ends {
    std::uint64_t publisher, subscriber, layout;
  };
  for (const Ends& ends : {Ends{ours, ours + 1, 1}, Ends{ours, 0, 1}, Ends{0, ours, 1}, Ends{0, 0, 1}, Ends{ours, ours, 2}}) {
    World world;
    const Session node = world.node("both");
    world.publish(node, 1, "image", type_of(32, 1), best_effort, ends.publisher);
    at<Introduce>(world.subscribe(node, 1, "image", type_of(32, ends.layout), best_effort, ends.subscriber), 1);
  }
}

TEST(OneProcess, W63_ends_of_different_users_are_introduced_whatever_process_they_say) {
  AccessRules open;
  open.join.emplace().all = true;  // GCC 12 with sanitizers sees uninitialised memory in an assignment
  World world(four_windows, std::nullopt, open);
  const Session camera = world.node("camera"), spy = world.open(1234);
  sent<NodeRegistered>(world.say(spy, RegisterNode{protocol_version, "spy"}), 0, spy);
  world.publish(camera, 1, "image", type_of(32), best_effort, ours);
  EXPECT_FALSE(at<Introduce>(world.subscribe(spy, 1, "image", type_of(32), best_effort, ours), 1).to_publisher.same_user);
}

TEST(OneProcess, W63_ends_of_one_process_that_do_not_fit_are_told) {
  World world;
  const Session node = world.node("both");
  world.publish(node, 1, "image", type_of(32), best_effort, ours);
  const Actions actions = world.subscribe(node, 1, "image", type_of(32), reliable, ours);
  ASSERT_EQ(actions.size(), 3u);
  expect_told(actions, 1, node, {1, true, "both", reliable});
  expect_told(actions, 2, node, {1, false, "both", best_effort});
}

}  // namespace
}  // namespace sinew::manager
