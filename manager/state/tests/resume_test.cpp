// Nodes that come from another manager.
#include "world.hpp"

namespace sinew::manager {
namespace {

using wire::ConnectSubscriber;
using wire::DeletePublisher;
using wire::Incompatible;
using wire::PublisherRefused;
using wire::PublisherRegistered;
using wire::RegisterPublisher;
using wire::RegisterSubscriber;
using wire::Window;
using wire::WindowReleased;

constexpr std::uint64_t lot = 0x1234'5678'9abc'def0;

RegisterPublisher with_window(std::uint64_t id, const Window& window, const wire::Qos& offered = {8, true}) {
  return {id, "image", type_of(32), offered, 0, 0, wire::Ghost::no, lot, window};
}

Window window_number(std::uint64_t number) {
  return {four_windows.base + number * four_windows.window_size, four_windows.window_size};
}

TEST(Resuming, W87_WhoIsDisconnectedIsDroppedAndNothingElseHappens) {
  World world;
  const Session asks = world.node("asks"), other = world.node("other");
  world.publish(other, 1);
  const Actions actions = world.say(asks, wire::DisconnectNode{"other"});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(at<Drop>(actions, 0).session, other);
  EXPECT_EQ(at<Drop>(actions, 0).why, "node 'asks' asked for it");
  EXPECT_EQ(world.domain.topics(), 0u);
  const Session again = world.open();
  sent<wire::NodeRegistered>(world.say(again, wire::RegisterNode{wire::protocol_version, "other"}), 0, again);
}

TEST(Resuming, W87_ANodeMayDisconnectItself) {
  World world;
  const Session asks = world.node("asks");
  const Actions actions = world.say(asks, wire::DisconnectNode{"asks"});
  ASSERT_EQ(actions.size(), 1u);
  EXPECT_EQ(at<Drop>(actions, 0).session, asks);
}

TEST(Resuming, W87_ANameThatNoNodeHasMeansNothing) {
  World world;
  const Session asks = world.node("asks");
  EXPECT_TRUE(world.say(asks, wire::DisconnectNode{"nobody"}).empty());
}

TEST(Resuming, W87_OnlyItsUserTheManagersAndRootMayDisconnectANode) {
  const AccessRules rules{.file = "rules", .join = Principals{.all = true, .users = {}, .groups = {}}, .rules = {}};
  World world(four_windows, std::nullopt, rules);
  const auto join = [&](const std::string& name, uid_t user) {
    const Session session = world.open(user);
    sent<wire::NodeRegistered>(world.say(session, wire::RegisterNode{wire::protocol_version, name}), 0, session);
    return session;
  };
  constexpr uid_t lidar = our_user + 1, camera = our_user + 2;
  Session target = join("target", lidar);
  const Session stranger = join("stranger", camera);
  world.expect_dropped(world.say(stranger, wire::DisconnectNode{"target"}), stranger, "which is another user's");
  for (const uid_t user : {uid_t{0}, our_user, lidar}) {
    const Session asks = join("asks", user);
    EXPECT_EQ(at<Drop>(world.say(asks, wire::DisconnectNode{"target"}), 0).session, target);
    target = join("target", lidar);
    world.domain.closed(0, asks);
  }
}

TEST(Resume, W81_a_publisher_keeps_its_window_which_nobody_else_gets) {
  World world;
  const Session camera = world.node("camera"), viewer = world.node("viewer"), other = world.node("other");
  EXPECT_EQ(sent<PublisherRegistered>(world.say(camera, with_window(7, window_number(2))), 0, camera).window, window_number(2));
  const Introduce meet = at<Introduce>(world.subscribe(viewer, 1), 1);
  EXPECT_EQ(meet.to_subscriber.window, window_number(2));
  EXPECT_EQ(meet.to_subscriber.identity, lot);
  for (std::uint64_t id = 1; id <= 3; ++id) EXPECT_NE(world.window_of_new_publisher(other, id, "other"), window_number(2));
  sent<PublisherRefused>(world.publish(other, 4, "other"), 0, other);

  world.say(camera, DeletePublisher{7});
  EXPECT_TRUE(world.say(camera, WindowReleased{window_number(2)}).empty());
  sent<PublisherRefused>(world.publish(other, 5, "other"), 0, other);  // the viewer holds it
  EXPECT_TRUE(world.say(viewer, WindowReleased{window_number(2)}).empty());
  EXPECT_EQ(world.window_of_new_publisher(other, 6, "other"), window_number(2));
}

TEST(Resume, W81_a_window_that_somebody_got_before_is_held_by_both_until_both_let_go) {
  World world;
  const Session early = world.node("early"), late = world.node("late");
  const Window window = world.window_of_new_publisher(early, 1);
  EXPECT_EQ(sent<PublisherRegistered>(world.say(late, with_window(1, window)), 0, late).window, window);
  world.say(early, DeletePublisher{1});
  EXPECT_TRUE(world.say(early, WindowReleased{window}).empty());
  EXPECT_EQ(world.domain.free_windows(), 3u);
  world.say(late, DeletePublisher{1});
  EXPECT_TRUE(world.say(late, WindowReleased{window}).empty());
  EXPECT_EQ(world.domain.free_windows(), 4u);
}

TEST(Resume, W34_W81_a_node_holds_a_window_as_long_as_any_publisher_of_it_is_there) {
  World world;
  const Session camera = world.node("camera"), viewer = world.node("viewer");
  const Window window = world.window_of_new_publisher(camera, 1);
  world.say(camera, with_window(2, window));
  world.say(camera, DeletePublisher{1});
  EXPECT_TRUE(world.say(camera, WindowReleased{window}).empty());
  EXPECT_EQ(world.domain.free_windows(), 3u);
  EXPECT_EQ(at<Introduce>(world.subscribe(viewer, 1), 1).to_subscriber.window, window);
  world.expect_dropped(world.say(camera, WindowReleased{window}), camera, "only its own publisher still uses");
}

TEST(Resume, W81_who_dies_with_a_window_that_it_shares_takes_it_from_nobody) {
  World world;
  const Session early = world.node("early");
  Session late = world.node("late");
  const Window window = world.window_of_new_publisher(early, 1);
  world.say(late, with_window(1, window));
  world.domain.closed(0, late);
  EXPECT_EQ(world.domain.free_windows(), 3u);
  late = world.node("late");
  world.say(late, with_window(1, window));
  world.domain.closed(0, early);
  EXPECT_EQ(world.domain.free_windows(), 3u);
  world.domain.closed(0, late);
  EXPECT_EQ(world.domain.free_windows(), 4u);
}

TEST(Resume, W81_a_window_that_is_none_of_the_domain_is_refused) {
  World world;
  const Session camera = world.node("camera");
  std::uint64_t id = 0;
  for (const Window& window : {window_number(4), Window{four_windows.base + 1, four_windows.window_size}, Window{four_windows.base, 1}}) {
    const auto refused = sent<PublisherRefused>(world.say(camera, with_window(++id, window)), 0, camera);
    EXPECT_EQ(refused.kind, static_cast<std::uint32_t>(ErrorKind::exhausted));
    EXPECT_NE(refused.text.find("from another manager"), std::string::npos) << refused.text;
  }
  EXPECT_EQ(world.domain.free_windows(), 4u);
}

TEST(Resume, W82_each_side_of_a_pair_that_does_not_fit_is_told_which_one_it_is) {
  World world;
  const Session camera = world.node("camera"), viewer = world.node("viewer");
  RegisterSubscriber asks{1, "image", type_of(32), {0, true}};
  asks.identity = lot + 1;
  world.say(viewer, asks);
  const Actions actions = world.say(camera, with_window(1, window_number(0), {8, false}));
  EXPECT_EQ(sent<Incompatible>(actions, 1, camera).identity, lot + 1);
  EXPECT_EQ(sent<Incompatible>(actions, 2, viewer).identity, lot);
}

TEST(Resume, W27_connections_of_a_manager_that_starts_later_have_greater_numbers) {
  const auto first_of = [](Time start) {
    Domain domain(four_windows, our_user, {}, std::nullopt, start);
    for (const Session session : {Session{1}, Session{2}}) {
      domain.opened(start, session, {100, our_user, our_user});
      domain.message(start, session, wire::RegisterNode{wire::protocol_version, "node" + std::to_string(session)});
    }
    domain.message(start, 1, with_window(1, window_number(0)));
    const Actions actions = domain.message(start, 2, RegisterSubscriber{1, "image", type_of(32), {4, false}});
    return at<Introduce>(actions, 1).to_subscriber.connection;
  };
  EXPECT_GT(first_of(8 * second), first_of(7 * second));
  EXPECT_GT(first_of(7 * second), static_cast<std::uint64_t>(7 * second)) << "so a path told of an older one means nothing";
}

}  // namespace
}  // namespace sinew::manager
