#include "manager/state/domain.hpp"

#include <gtest/gtest.h>

#include "manager/state/tests/world.hpp"

namespace sinew::manager {
namespace {

using namespace wire;

std::uint32_t kind(ErrorKind k) {
  return static_cast<std::uint32_t>(k);
}

// --- nodes -------------------------------------------------------------------------------------------------------------------------

TEST(Nodes, a_node_is_told_the_range_of_windows) {
  World world;
  const Session camera = world.open();
  const auto told = sent<NodeRegistered>(world.say(camera, RegisterNode{protocol_version, "camera"}), 0, camera);
  EXPECT_EQ(told.range_base, four_windows.base);
  EXPECT_EQ(told.window_size, four_windows.window_size);
  EXPECT_EQ(told.window_count, four_windows.count);
}

TEST(Nodes, another_version_is_refused_with_both_versions) {
  World world;
  const Session session = world.open();
  const Actions actions = world.say(session, RegisterNode{7, "camera"});
  const auto refused = sent<NodeRefused>(actions, 0, session);
  EXPECT_EQ(refused.kind, kind(ErrorKind::incompatible));
  EXPECT_NE(refused.text.find("version 7 of the protocol and the running manager speaks version 1"), std::string::npos) << refused.text;
  EXPECT_EQ(at<Drop>(actions, 1).session, session);
  EXPECT_EQ(world.domain.sessions(), 0u);
}

TEST(Nodes, a_second_node_of_a_name_is_refused_and_told_who_has_it_and_what_to_do) {
  World world;
  const Session first = world.open(our_user, 4711), second_one = world.open();
  world.say(first, RegisterNode{protocol_version, "viewer"});
  const Actions actions = world.say(second_one, RegisterNode{protocol_version, "viewer"});
  const auto refused = sent<NodeRefused>(actions, 0, second_one);
  EXPECT_EQ(refused.kind, kind(ErrorKind::name_taken));
  EXPECT_EQ(refused.text,
            "node name 'viewer' is taken by process 4711: choose another name, or start this program with SINEW_NODE set to one.");
  EXPECT_EQ(at<Drop>(actions, 1).session, second_one);
  world.publish(first, 1);  // the holder is not touched
  EXPECT_EQ(world.domain.topics(), 1u);
}

TEST(Nodes, whose_name_is_taken_is_told_the_container_of_the_other_and_no_number_where_the_kernel_has_none) {
  World world;
  const auto refusal_behind = [&](pid_t pid, const std::string& container) {
    const Session holder = ++world.last_session;
    EXPECT_TRUE(world.domain.opened(world.now, holder, {pid, our_user, our_user}, container).empty());
    world.say(holder, RegisterNode{protocol_version, "viewer"});
    const Session late = world.open();
    const std::string text = sent<NodeRefused>(world.say(late, RegisterNode{protocol_version, "viewer"}), 0, late).text;
    world.domain.closed(world.now, holder);
    return text;
  };
  EXPECT_TRUE(
      refusal_behind(4711, "b1946ac92492").starts_with("node name 'viewer' is taken by process 4711 in container 'b1946ac92492': "));
  EXPECT_TRUE(refusal_behind(4711, "pid namespace 402").starts_with("node name 'viewer' is taken by process 4711 in pid namespace 402: "));
  EXPECT_TRUE(refusal_behind(0, "").starts_with("node name 'viewer' is taken by a process that the manager cannot see, "));
}

TEST(Nodes, a_name_is_free_again_when_its_node_says_goodbye_closes_or_is_dropped) {
  World world;
  Session session = world.node("viewer");
  world.say(session, Goodbye{});
  session = world.node("viewer");
  world.domain.closed(0, session);
  session = world.node("viewer");
  world.expect_dropped(world.say(session, NodeRegistered{}), session, "NodeRegistered");
  world.node("viewer");
}

TEST(Nodes, a_bad_name_is_refused_with_the_reason) {
  World world;
  const Session session = world.open();
  const auto refused = sent<NodeRefused>(world.say(session, RegisterNode{protocol_version, "my camera"}), 0, session);
  EXPECT_EQ(refused.kind, kind(ErrorKind::invalid_argument));
  EXPECT_NE(refused.text.find("character ' '"), std::string::npos);
}

TEST(Nodes, F8_another_user_is_refused_with_both_users) {
  World world;
  const Session session = world.open(1234);
  const Actions actions = world.say(session, RegisterNode{protocol_version, "spy"});
  const auto refused = sent<NodeRefused>(actions, 0, session);
  EXPECT_EQ(refused.kind, kind(ErrorKind::denied));
  EXPECT_NE(refused.text.find("runs as user 1234 and this domain belongs to user 1000"), std::string::npos) << refused.text;
  EXPECT_EQ(at<Drop>(actions, 1).session, session);
}

TEST(Nodes, F8_the_overflow_user_is_foreign_even_to_itself) {
  Domain domain(four_windows, 65534, {}, std::nullopt, 0);
  domain.opened(0, 1, {100, 65534, 0});
  EXPECT_EQ(sent<NodeRefused>(domain.message(0, 1, RegisterNode{protocol_version, "spy"}), 0, 1).kind, kind(ErrorKind::denied));
}

// --- topics and introductions ------------------------------------------------------------------------------------------------------

TEST(Introductions, a_publisher_meets_the_subscribers_that_are_there_and_those_that_come_later_once_each) {
  World world;
  const Session early = world.node("early"), camera = world.node("camera"), late = world.node("late");
  EXPECT_EQ(world.subscribe(early, 1).size(), 1u);
  const Actions first = world.publish(camera, 7);
  ASSERT_EQ(first.size(), 2u);
  sent<PublisherRegistered>(first, 0, camera);
  EXPECT_EQ(at<Introduce>(first, 1).publisher, camera);
  EXPECT_EQ(at<Introduce>(first, 1).subscriber, early);
  const Actions then = world.subscribe(late, 2);
  ASSERT_EQ(then.size(), 2u);
  sent<SubscriberRegistered>(then, 0, late);
  EXPECT_EQ(at<Introduce>(then, 1).subscriber, late);
  EXPECT_NE(at<Introduce>(first, 1).to_publisher.connection, at<Introduce>(then, 1).to_publisher.connection);
}

TEST(Introductions, each_side_is_told_about_the_other) {
  World world;
  const Session camera = world.node("camera"), viewer = world.node("viewer");
  const Window window = world.window_of_new_publisher(camera, 7);
  const Introduce meet = at<Introduce>(world.subscribe(viewer, 9), 1);
  EXPECT_EQ(meet.to_publisher.id, 7u);
  EXPECT_EQ(meet.to_publisher.peer, "viewer");
  EXPECT_EQ(meet.to_publisher.qos, (Qos{4, false}));  // what the subscriber asks for
  EXPECT_TRUE(meet.to_publisher.same_user);
  EXPECT_TRUE(meet.to_publisher.same_layout);
  EXPECT_EQ(meet.to_subscriber.id, 9u);
  EXPECT_EQ(meet.to_subscriber.peer, "camera");
  EXPECT_EQ(meet.to_subscriber.qos, (Qos{8, true}));  // what the publisher offers
  EXPECT_TRUE(meet.to_subscriber.same_user);
  EXPECT_TRUE(meet.to_subscriber.same_layout);
  EXPECT_EQ(meet.to_subscriber.window, window);
  EXPECT_EQ(meet.to_subscriber.connection, meet.to_publisher.connection);
}

TEST(Introductions, a_publisher_and_a_subscriber_of_one_node_meet_too) {
  World world;
  const Session node = world.node("both");
  world.publish(node, 1);
  const Introduce meet = at<Introduce>(world.subscribe(node, 1), 1);
  EXPECT_EQ(meet.publisher, node);
  EXPECT_EQ(meet.subscriber, node);
}

TEST(Introductions, W28_who_has_no_objects_has_no_layout_that_another_has) {
  World world;
  const Session node = world.node("both");
  world.publish(node, 1, "image", type_of(32, 0));
  const Introduce meet = at<Introduce>(world.subscribe(node, 1, "image", type_of(32, 0)), 1);
  EXPECT_FALSE(meet.to_publisher.same_layout);
  EXPECT_FALSE(meet.to_subscriber.same_layout);
}

TEST(Introductions, different_layouts_of_one_type_meet_and_are_told_so) {
  World world;
  const Session node = world.node("both");
  world.publish(node, 1, "image", type_of(32, 1));
  const Introduce meet = at<Introduce>(world.subscribe(node, 1, "image", type_of(32, 2)), 1);
  EXPECT_FALSE(meet.to_publisher.same_layout);
  EXPECT_FALSE(meet.to_subscriber.same_layout);
}

TEST(Introductions, who_is_gone_is_introduced_to_nobody) {
  World world;
  const Session a = world.node("a"), b = world.node("b"), c = world.node("c"), d = world.node("d");
  world.subscribe(a, 1);
  world.subscribe(b, 1);
  world.subscribe(c, 1);
  world.say(a, DeleteSubscriber{1});
  world.say(b, Goodbye{});
  world.domain.closed(0, c);
  EXPECT_EQ(world.publish(d, 1).size(), 1u);
}

TEST(Introductions, many_to_many_is_every_pair_once) {
  World world({0x2000'0000'0000, 0x1000, 16});
  std::set<std::pair<Session, Session>> met;
  for (int i = 0; i < 5; ++i) {
    const Session node = world.node("node" + std::to_string(i));
    for (const Actions& actions : {world.publish(node, 1), world.subscribe(node, 1)}) {
      for (std::size_t n = 1; n < actions.size(); ++n) {
        EXPECT_TRUE(met.insert({at<Introduce>(actions, n).publisher, at<Introduce>(actions, n).subscriber}).second);
      }
    }
  }
  EXPECT_EQ(met.size(), 25u);
}

TEST(Topics, a_leading_slash_means_the_same_topic) {
  World world;
  const Session node = world.node("both");
  world.publish(node, 1, "/camera/image");
  EXPECT_EQ(world.subscribe(node, 1, "camera/image").size(), 2u);
  EXPECT_EQ(world.domain.topics(), 1u);
}

TEST(Topics, a_bad_name_is_refused_with_the_reason_and_the_node_stays) {
  World world;
  const Session node = world.node("node");
  const auto publisher = sent<PublisherRefused>(world.publish(node, 1, "camera image"), 0, node);
  EXPECT_EQ(publisher.id, 1u);
  EXPECT_EQ(publisher.kind, kind(ErrorKind::invalid_argument));
  EXPECT_NE(publisher.text.find("character ' '"), std::string::npos);
  const auto subscriber = sent<SubscriberRefused>(world.subscribe(node, 2, ""), 0, node);
  EXPECT_EQ(subscriber.id, 2u);
  EXPECT_EQ(subscriber.kind, kind(ErrorKind::invalid_argument));
  EXPECT_EQ(world.domain.topics(), 0u);
  EXPECT_EQ(world.domain.free_windows(), 4u);
  sent<PublisherRegistered>(world.publish(node, 3), 0, node);
}

TEST(Topics, the_first_interface_fixes_the_type_and_another_one_is_refused_with_the_field_that_differs) {
  World world;
  const Session camera = world.node("camera"), viewer = world.node("viewer");
  world.publish(camera, 1, "/image", type_of(32));
  const auto refused = sent<SubscriberRefused>(world.subscribe(viewer, 5, "image", type_of(64)), 0, viewer);
  EXPECT_EQ(refused.id, 5u);
  EXPECT_EQ(refused.kind, kind(ErrorKind::type_mismatch));
  EXPECT_NE(refused.text.find("topic 'image'"), std::string::npos) << refused.text;
  EXPECT_NE(refused.text.find("step"), std::string::npos) << refused.text;
  const auto publisher = sent<PublisherRefused>(world.publish(viewer, 6, "image", type_of(64)), 0, viewer);
  EXPECT_EQ(publisher.kind, kind(ErrorKind::type_mismatch));
  EXPECT_EQ(world.domain.free_windows(), 3u);
}

TEST(Topics, a_topic_and_its_type_go_with_the_last_interface) {
  World world;
  const Session camera = world.node("camera"), viewer = world.node("viewer");
  world.publish(camera, 1, "image", type_of(32));
  world.subscribe(viewer, 1, "image", type_of(32));
  world.say(camera, DeletePublisher{1});
  sent<PublisherRefused>(world.publish(camera, 2, "image", type_of(64)), 0, camera);
  world.say(viewer, DeleteSubscriber{1});
  EXPECT_EQ(world.domain.topics(), 0u);
  sent<PublisherRegistered>(world.publish(camera, 3, "image", type_of(64)), 0, camera);
}

// --- windows -----------------------------------------------------------------------------------------------------------------------

TEST(WindowsOfADomain, F3_a_thousand_publisher_restarts_recycle_four_windows_in_order) {
  World world;
  const Session viewer = world.node("viewer");
  world.subscribe(viewer, 1);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Session camera = world.node("camera");
    const Actions actions = world.publish(camera, 1);
    const Window window = sent<PublisherRegistered>(actions, 0, camera).window;
    EXPECT_EQ(window.base, four_windows.base + (i % 4) * four_windows.window_size);
    world.domain.closed(0, camera);  // killed
    EXPECT_TRUE(world.say(viewer, WindowReleased{window}).empty());
  }
}

TEST(WindowsOfADomain, F3_while_somebody_holds_them_windows_run_dry_with_a_clear_refusal_and_come_back_when_released) {
  World world;
  const Session viewer = world.node("viewer"), camera = world.node("camera");
  world.subscribe(viewer, 1);
  std::vector<Window> held;
  for (std::uint64_t id = 1; id <= 4; ++id) {
    held.push_back(world.window_of_new_publisher(camera, id));
    world.say(camera, DeletePublisher{id});
    EXPECT_TRUE(world.say(camera, WindowReleased{held.back()}).empty());
  }
  const auto refused = sent<PublisherRefused>(world.publish(camera, 5), 0, camera);
  EXPECT_EQ(refused.kind, kind(ErrorKind::exhausted));
  EXPECT_NE(refused.text.find("all 4 of this domain"), std::string::npos) << refused.text;
  world.say(viewer, WindowReleased{held[2]});
  EXPECT_EQ(world.window_of_new_publisher(camera, 6), held[2]);
}

TEST(WindowsOfADomain, F3_a_window_whose_holder_dies_comes_back) {
  World world;
  const Session viewer = world.node("viewer"), camera = world.node("camera");
  world.subscribe(viewer, 1);
  world.publish(camera, 1);
  world.domain.closed(0, camera);
  EXPECT_EQ(world.domain.free_windows(), 3u);
  world.domain.closed(0, viewer);
  EXPECT_EQ(world.domain.free_windows(), 4u);
}

TEST(WindowsOfADomain, F3_a_publishers_own_node_holds_the_window_until_it_says_otherwise) {
  World world;
  const Session camera = world.node("camera");
  const Window window = world.window_of_new_publisher(camera, 1);
  world.say(camera, DeletePublisher{1});
  EXPECT_EQ(world.domain.free_windows(), 3u);  // storage moved out of a message may live on there (F5)
  world.say(camera, WindowReleased{window});
  EXPECT_EQ(world.domain.free_windows(), 4u);
}

TEST(WindowsOfADomain, F3_goodbye_keeps_what_is_held_until_it_is_released_or_closed) {
  World world;
  const Session viewer = world.node("viewer"), camera = world.node("camera");
  world.subscribe(viewer, 1);
  const Window first = world.window_of_new_publisher(camera, 1);
  world.publish(camera, 2);
  for (const Session session : {viewer, camera}) world.say(session, Goodbye{});
  EXPECT_EQ(world.domain.topics(), 0u);
  world.domain.closed(0, camera);
  EXPECT_EQ(world.domain.free_windows(), 2u);
  world.say(viewer, WindowReleased{first});
  EXPECT_EQ(world.domain.free_windows(), 3u);
  world.domain.closed(0, viewer);
  EXPECT_EQ(world.domain.free_windows(), 4u);
}

TEST(WindowsOfADomain, F3_two_introductions_need_two_releases) {
  World world;
  const Session viewer = world.node("viewer"), camera = world.node("camera");
  const Window window = world.window_of_new_publisher(camera, 1);
  world.subscribe(viewer, 1);
  world.say(viewer, DeleteSubscriber{1});
  world.subscribe(viewer, 2);
  EXPECT_TRUE(world.say(viewer, WindowReleased{window}).empty());  // for the first, after the second was under way
  world.domain.closed(0, camera);
  EXPECT_EQ(world.domain.free_windows(), 3u);
  EXPECT_TRUE(world.say(viewer, WindowReleased{window}).empty());
  EXPECT_EQ(world.domain.free_windows(), 4u);
}

TEST(WindowsOfADomain, F3_a_node_that_reads_its_own_publisher_owes_a_release_for_each) {
  World world;
  const Session node = world.node("both");
  const Window window = world.window_of_new_publisher(node, 1);
  world.subscribe(node, 1);
  EXPECT_TRUE(world.say(node, WindowReleased{window}).empty());  // for the subscriber
  world.say(node, DeletePublisher{1});
  EXPECT_EQ(world.domain.free_windows(), 3u);
  EXPECT_TRUE(world.say(node, WindowReleased{window}).empty());
  EXPECT_EQ(world.domain.free_windows(), 4u);
}

// --- violations --------------------------------------------------------------------------------------------------------------------

TEST(Violations, anything_before_registration_ends_the_session) {
  World world;
  for (const Message& message : {Message(Goodbye{}), Message(RegisterPublisher{}), Message(WindowReleased{}), Message(Unsubscribe{})}) {
    const Session session = world.open();
    world.expect_dropped(world.say(session, message), session, "before RegisterNode");
  }
}

TEST(Violations, a_message_that_nodes_do_not_send_to_the_manager_ends_the_session) {
  World world;
  for (const Message& message :
       {Message(NodeRegistered{}), Message(ConnectSubscriber{}), Message(Doorbell{}), Message(Ring{}), Message(Unsubscribe{})}) {
    const Session session = world.node("node");
    world.expect_dropped(world.say(session, message), session, std::string(name_of(message)) + " is not a message that nodes send");
  }
}

TEST(Violations, registering_twice_ends_the_session) {
  World world;
  const Session session = world.node("node");
  world.expect_dropped(world.say(session, RegisterNode{protocol_version, "other"}), session, "second time");
}

TEST(Violations, an_id_used_twice_ends_the_session_even_when_its_first_interface_is_gone_or_was_refused) {
  World world;
  Session session = world.node("node");
  world.publish(session, 1);
  world.subscribe(session, 1);  // ids of publishers and of subscribers do not meet
  world.expect_dropped(world.publish(session, 1), session, "publisher id 1");
  session = world.node("node");
  world.subscribe(session, 1);
  world.say(session, DeleteSubscriber{1});
  world.expect_dropped(world.subscribe(session, 1), session, "subscriber id 1");
  session = world.node("node");
  world.publish(session, 1, "bad name");
  world.expect_dropped(world.publish(session, 1), session, "publisher id 1");
}

TEST(Violations, deleting_what_does_not_exist_ends_the_session) {
  World world;
  const Session owner = world.node("owner");
  world.publish(owner, 1);
  world.subscribe(owner, 2);
  for (const Message& message : {Message(DeletePublisher{1}), Message(DeleteSubscriber{2})}) {
    const Session session = world.node("node");  // the ids exist, but are another node's
    world.expect_dropped(world.say(session, message), session, "does not exist");
  }
  world.expect_dropped(world.say(owner, DeletePublisher{2}), owner, "does not exist");
}

TEST(Violations, releasing_a_window_that_is_not_held_ends_the_session) {
  World world;
  const Session stranger = world.node("stranger"), viewer = world.node("viewer"), owner = world.node("owner");
  const Window window = world.window_of_new_publisher(owner, 1);
  world.subscribe(viewer, 1);
  world.say(viewer, WindowReleased{window});
  world.expect_dropped(world.say(stranger, WindowReleased{window}), stranger, "does not hold");
  world.expect_dropped(world.say(viewer, WindowReleased{window}), viewer, "any more");
  world.expect_dropped(world.say(owner, WindowReleased{window}), owner, "still uses");
}

TEST(Violations, answering_an_introduction_that_was_answered_or_never_made_ends_the_session) {
  World world;
  const Session camera = world.node("camera"), viewer = world.node("viewer");
  world.publish(camera, 1);
  const Introduce meet = at<Introduce>(world.subscribe(viewer, 1), 1);
  world.expect_dropped(world.answer(viewer, meet), viewer, "not unanswered");
  world.expect_dropped(world.say(camera, ConnectTaken{99}), camera, "introduction 99");
}

TEST(Violations, nothing_but_releases_and_answers_may_follow_goodbye) {
  World world;
  world.nodes_answer = false;
  const Session camera = world.node("camera"), viewer = world.node("viewer");
  const Window window = world.window_of_new_publisher(camera, 1);
  const Introduce meet = at<Introduce>(world.subscribe(viewer, 1), 1);
  world.say(viewer, Goodbye{});
  EXPECT_TRUE(world.answer(viewer, meet).empty());
  EXPECT_TRUE(world.say(viewer, WindowReleased{window}).empty());
  for (const Message& message : {Message(Goodbye{}), Message(RegisterNode{protocol_version, "x"}), Message(RegisterSubscriber{})}) {
    const Session session = world.node("node");
    EXPECT_TRUE(world.say(session, Goodbye{}).empty());
    world.expect_dropped(world.say(session, message), session, "after Goodbye");
  }
}

TEST(Violations, bad_bytes_end_that_session_and_nothing_else) {
  World world;
  const Session good = world.node("good"), bad = world.node("bad");
  world.publish(good, 1);
  world.subscribe(bad, 1);
  world.expect_dropped(world.domain.violated(0, bad, "message type 200 does not exist."), bad, "message type 200 does not exist.");
  EXPECT_EQ(world.domain.sessions(), 1u);
  EXPECT_EQ(world.subscribe(good, 1).size(), 2u);
}

TEST(Violations, a_node_that_says_why_it_leaves_is_dropped_without_an_answer) {
  World world;
  const Session session = world.node("node");
  const Actions actions = world.say(session, ErrorText{0, "I have\nmy reasons"});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_NE(at<Drop>(actions, 0).why.find("I have?my reasons"), std::string::npos);
}

// --- time --------------------------------------------------------------------------------------------------------------------------

TEST(Linger, the_manager_finishes_when_nobody_came_or_stayed_for_that_long) {
  World world(four_windows, 5 * second);
  EXPECT_EQ(world.domain.deadline(), 5 * second);
  EXPECT_TRUE(world.domain.tick(5 * second - 1).empty());
  at<Finish>(world.domain.tick(5 * second), 0);
  world.now = 6 * second;
  const Session session = world.open();
  EXPECT_EQ(world.domain.deadline(), std::nullopt);
  world.now = 100 * second;
  world.say(session, Goodbye{});  // too early: dropped
  EXPECT_EQ(world.domain.deadline(), 105 * second);
  world.now = 101 * second;
  const Session other = world.open();
  EXPECT_TRUE(world.domain.tick(1000 * second).empty());
  world.domain.closed(1001 * second, other);
  EXPECT_EQ(world.domain.deadline(), 1006 * second);
  at<Finish>(world.domain.tick(1006 * second), 0);
}

TEST(Linger, without_it_the_manager_never_wants_to_be_woken) {
  World world;
  EXPECT_EQ(world.domain.deadline(), std::nullopt);
  EXPECT_TRUE(world.domain.tick(1'000'000 * second).empty());
}

}  // namespace
}  // namespace sinew::manager
