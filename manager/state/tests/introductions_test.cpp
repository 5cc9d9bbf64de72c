// S6: a process that is stopped has at most two introductions under way and delays nobody else's.
#include "manager/state/introductions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "manager/state/tests/world.hpp"

namespace sinew::manager {
namespace {

using namespace wire;

/// Nodes that answer introductions only when the test says so.
struct SlowWorld : World {
  explicit SlowWorld(std::uint64_t windows = 16) : World({0x2000'0000'0000, 0x1000, windows}) { nodes_answer = false; }
};

std::size_t introductions(const Actions& actions) {
  return static_cast<std::size_t>(
      std::count_if(actions.begin(), actions.end(), [](const Action& a) { return std::holds_alternative<Introduce>(a); }));
}

TEST(Introducing, S6_a_node_that_does_not_answer_gets_two_introductions_and_then_one_for_each_answer) {
  SlowWorld world;
  const Session camera = world.node("camera"), stopped = world.node("stopped");
  for (std::uint64_t id = 1; id <= 5; ++id) world.subscribe(stopped, id);
  const Actions first = world.publish(camera, 1);
  EXPECT_EQ(introductions(first), 2u);
  for (std::size_t n = 1; n <= 2; ++n) EXPECT_TRUE(world.answer(camera, at<Introduce>(first, n)).empty());
  const Actions next = world.answer(stopped, at<Introduce>(first, 1));
  ASSERT_EQ(introductions(next), 1u);
  EXPECT_EQ(at<Introduce>(next, 0).to_subscriber.id, 3u) << "who waited longest comes first";
  EXPECT_GT(at<Introduce>(next, 0).to_subscriber.connection, at<Introduce>(first, 2).to_subscriber.connection);
}

TEST(Introducing, S6_a_pair_waits_for_both_of_its_nodes) {
  SlowWorld world;
  const Session camera = world.node("camera"), viewer = world.node("viewer");
  for (std::uint64_t id = 1; id <= 3; ++id) world.subscribe(viewer, id);
  const Actions first = world.publish(camera, 1);
  EXPECT_TRUE(world.answer(viewer, at<Introduce>(first, 1)).empty());
  EXPECT_EQ(introductions(world.answer(camera, at<Introduce>(first, 2))), 1u) << "which answers were given does not matter, there is room";
}

TEST(Introducing, S6_a_node_that_never_answers_delays_only_its_own_introductions) {
  SlowWorld world;
  const Session camera = world.node("camera"), stopped = world.node("stopped"), viewer = world.node("viewer");
  for (std::uint64_t id = 1; id <= 5; ++id) world.subscribe(stopped, id);
  const Actions first = world.publish(camera, 1);
  for (std::size_t n = 1; n <= 2; ++n) world.answer(camera, at<Introduce>(first, n));
  for (std::uint64_t id = 1; id <= 100; ++id) {
    const Actions actions = world.subscribe(viewer, id);
    ASSERT_EQ(introductions(actions), 1u) << id;
    for (const Session side : {camera, viewer}) EXPECT_TRUE(world.answer(side, at<Introduce>(actions, 1)).empty());
  }
}

TEST(Introducing, S6_a_publisher_that_never_answers_delays_only_its_own_introductions) {
  SlowWorld world;
  const Session stopped = world.node("stopped"), viewer = world.node("viewer"), camera = world.node("camera");
  for (std::uint64_t id = 1; id <= 3; ++id) world.publish(stopped, id);
  const Actions first = world.subscribe(viewer, 1);
  EXPECT_EQ(introductions(first), 2u);
  for (std::size_t n = 1; n <= 2; ++n) world.answer(viewer, at<Introduce>(first, n));
  EXPECT_EQ(introductions(world.publish(camera, 1)), 1u);
}

TEST(Introducing, S6_who_renews_its_pairs_as_soon_as_they_have_met_does_not_keep_a_newcomer_out) {
  SlowWorld world;
  const Session camera = world.node("camera");
  const std::vector<Session> busy{world.node("busy"), world.node("busier")};
  const Session newcomer = world.node("newcomer");
  std::map<Session, std::uint64_t> made, deleted;
  std::map<Session, std::deque<Introduce>> unanswered;
  bool is_met = false;
  const auto note = [&](const Actions& actions) {
    for (const Action& action : actions) {
      const auto* const meet = std::get_if<Introduce>(&action);
      if (!meet) continue;
      unanswered[meet->publisher].push_back(*meet);
      unanswered[meet->subscriber].push_back(*meet);
      is_met |= meet->subscriber == newcomer;
    }
  };
  const auto answer_first = [&](Session session) {
    const Introduce meet = unanswered[session].front();
    unanswered[session].pop_front();
    note(world.answer(session, meet));
  };
  note(world.publish(camera, 1));
  for (const Session session : busy) {
    while (made[session] < 6) note(world.subscribe(session, ++made[session]));
  }
  note(world.subscribe(newcomer, 1));
  for (int round = 0; round < 100 && !is_met; ++round) {
    for (const Session session : busy) {
      while (!unanswered[session].empty()) {
        answer_first(session);
        note(world.say(session, DeleteSubscriber{++deleted[session]}));
        note(world.subscribe(session, ++made[session]));
      }
    }
    if (!unanswered[camera].empty()) answer_first(camera);
  }
  EXPECT_TRUE(is_met);
}

TEST(Introducing, S6_a_pair_within_one_node_counts_twice_there) {
  SlowWorld world;
  const Session node = world.node("both");
  world.publish(node, 1);
  const Actions first = world.subscribe(node, 1);
  EXPECT_EQ(introductions(first), 1u);
  EXPECT_EQ(introductions(world.subscribe(node, 2)), 0u);
  EXPECT_TRUE(world.answer(node, at<Introduce>(first, 1)).empty());
  EXPECT_EQ(introductions(world.answer(node, at<Introduce>(first, 1))), 1u);
}

TEST(Introducing, who_is_gone_before_its_turn_is_introduced_to_nobody) {
  SlowWorld world;
  const Session camera = world.node("camera"), viewer = world.node("viewer"), other = world.node("other");
  for (std::uint64_t id = 1; id <= 4; ++id) world.subscribe(viewer, id);
  const Actions first = world.publish(camera, 1, "image");
  EXPECT_EQ(introductions(first), 2u);
  EXPECT_EQ(introductions(world.subscribe(other, 1)), 0u);
  world.say(viewer, DeleteSubscriber{3});
  world.domain.closed(0, other);
  const Actions next = world.answer(camera, at<Introduce>(first, 1));
  EXPECT_TRUE(next.empty());
  const Actions then = world.answer(viewer, at<Introduce>(first, 1));
  ASSERT_EQ(introductions(then), 1u);
  EXPECT_EQ(at<Introduce>(then, 0).to_subscriber.id, 4u);
  EXPECT_TRUE(world.answer(camera, at<Introduce>(first, 2)).empty());
  EXPECT_TRUE(world.answer(viewer, at<Introduce>(first, 2)).empty());
}

TEST(Introducing, F3_a_pair_that_waits_holds_no_window) {
  SlowWorld world;
  const Session camera = world.node("camera"), viewer = world.node("viewer");
  for (std::uint64_t id = 1; id <= 3; ++id) world.subscribe(viewer, id);
  const Window window = world.window_of_new_publisher(camera, 1);
  world.domain.closed(0, camera);
  EXPECT_TRUE(world.say(viewer, WindowReleased{window}).empty());
  EXPECT_EQ(world.domain.free_windows(), 15u);
  EXPECT_TRUE(world.say(viewer, WindowReleased{window}).empty());
  EXPECT_EQ(world.domain.free_windows(), 16u);
}

TEST(Introducing, S6_a_node_that_lets_too_many_introductions_wait_is_dropped_and_its_partner_is_not) {
  SlowWorld world;
  const Session camera = world.node("camera"), stopped = world.node("stopped");
  world.publish(camera, 1);
  std::uint64_t id = 0;
  for (; id < Domain::max_waiting + Introductions::room; ++id) {
    const Actions actions = world.subscribe(stopped, id);
    if (introductions(actions) == 1) world.answer(camera, at<Introduce>(actions, 1));
  }
  EXPECT_EQ(world.domain.sessions(), 2u);
  const Actions actions = world.subscribe(stopped, id);
  ASSERT_EQ(actions.size(), 3u);
  EXPECT_NE(sent<ErrorText>(actions, 1, stopped).text.find("more than 65536 introductions wait"), std::string::npos);
  EXPECT_EQ(at<Drop>(actions, 2).session, stopped);
  EXPECT_EQ(world.domain.sessions(), 1u);
  const Session viewer = world.node("viewer");
  EXPECT_EQ(introductions(world.subscribe(viewer, 1)), 1u);
}

TEST(Introducing, S6_a_node_that_answers_is_not_dropped_for_what_many_others_leave_unanswered) {
  SlowWorld world;
  const Session camera = world.node("camera");
  for (const char* topic : {"image", "depth"}) {
    world.publish(camera, world.last_session, topic);
    const Session deaf = world.node(std::string("deaf_to_") + topic);
    for (std::uint64_t id = 1; id <= 35'000; ++id) {
      const Actions actions = world.subscribe(deaf, id, topic);
      if (introductions(actions) == 1) world.answer(camera, at<Introduce>(actions, 1));
    }
  }
  const Session hasty = world.node("hasty");
  for (std::uint64_t id = 1; id <= 3; ++id) world.subscribe(hasty, id);  // the third comes before the camera has answered the first two
  EXPECT_EQ(world.domain.sessions(), 4u);
}

TEST(Introducing, S6_of_two_that_leave_the_same_introductions_unanswered_the_one_with_more_interfaces_is_dropped) {
  SlowWorld world;
  const Session greedy = world.node("greedy");
  for (std::uint64_t id = 1; id <= Domain::max_waiting / 2; ++id) world.subscribe(greedy, id);
  const Session camera = world.node("camera");
  for (std::uint64_t id = 1; id <= 2; ++id) world.publish(camera, id);  // none of their introductions is answered yet
  EXPECT_EQ(world.domain.sessions(), 2u);
  const Actions actions = world.publish(camera, 3);
  EXPECT_EQ(at<Drop>(actions, actions.size() - 1).session, greedy);
  EXPECT_EQ(world.domain.sessions(), 1u);
}

TEST(Introducing, S6_two_that_never_answer_each_other_do_not_make_pairs_without_end) {
  SlowWorld world(300);
  const Session one = world.node("one"), other = world.node("other");
  for (std::uint64_t id = 1; id <= 257; ++id) world.publish(one, id);
  EXPECT_EQ(world.domain.sessions(), 2u);
  for (std::uint64_t id = 1; id <= 258 && world.domain.sessions() == 2; ++id) world.subscribe(other, id);
  EXPECT_EQ(world.domain.sessions(), 1u);
}

/// The same, looked up in the plainest way.
struct PlainIntroductions {
  std::vector<Pair> waiting;
  std::vector<std::pair<Session, std::uint64_t>> unanswered;

  std::size_t owed(Session session) const {
    return static_cast<std::size_t>(std::ranges::count(unanswered, session, &std::pair<Session, std::uint64_t>::first));
  }
  bool can_meet(const Pair& pair) const {
    const Session one = pair.publisher.first, other = pair.subscriber.first;
    if (one == other) return owed(one) == 0;
    return owed(one) < Introductions::room && owed(other) < Introductions::room;
  }
  bool has_one_for(Session session) const {
    return std::ranges::any_of(
        waiting, [&](const Pair& pair) { return (pair.publisher.first == session || pair.subscriber.first == session) && can_meet(pair); });
  }
};

TEST(Introducing, S6_who_can_be_met_is_found_whether_few_or_many_wait_and_have_room) {
  std::mt19937 random(11);
  for (int run = 0; run < 20; ++run) {
    Introductions introductions;
    PlainIntroductions plain;
    const std::uint64_t sessions = 2 + random() % 20;
    const auto any_session = [&] { return 1 + random() % sessions; };
    std::uint64_t connection = 0;
    for (int step = 0; step < 400; ++step) {
      if (random() % 3 == 0) {
        const Pair pair{{any_session(), random() % 4}, {any_session(), random() % 4}};
        introductions.add(pair);
        plain.waiting.push_back(pair);
      } else if (random() % 3 == 0 && !plain.unanswered.empty()) {
        const auto answered = plain.unanswered.begin() + static_cast<std::ptrdiff_t>(random() % plain.unanswered.size());
        EXPECT_TRUE(introductions.answered(answered->first, answered->second));
        plain.unanswered.erase(answered);
      } else if (random() % 20 == 0) {
        const InterfaceKey gone{any_session(), random() % 4};
        introductions.forget_subscriber(gone);
        std::erase_if(plain.waiting, [&](const Pair& pair) { return pair.subscriber == gone; });
      } else if (random() % 20 == 0) {
        const Session owner = any_session();
        const auto are_gone = [](std::uint64_t id) { return id % 2 == 0; };
        introductions.forget_publishers(owner, are_gone);
        std::erase_if(plain.waiting, [&](const Pair& pair) { return pair.publisher.first == owner && are_gone(pair.publisher.second); });
      }
      const Session session = any_session();
      const bool expected = plain.has_one_for(session);
      const auto next = introductions.next(session);
      ASSERT_EQ(next.has_value(), expected) << "run " << run << ", step " << step;
      if (!next) continue;
      const auto met = std::ranges::find_if(
          plain.waiting, [&](const Pair& pair) { return pair.publisher == next->publisher && pair.subscriber == next->subscriber; });
      ASSERT_NE(met, plain.waiting.end());
      EXPECT_TRUE(plain.can_meet(*met));
      plain.waiting.erase(met);
      introductions.made(*next, ++connection);
      for (const Session side : {next->publisher.first, next->subscriber.first}) plain.unanswered.emplace_back(side, connection);
    }
  }
}

}  // namespace
}  // namespace sinew::manager
