// spec/wire.md, "The state of the domain".
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <vector>

#include "manager/state/tests/world.hpp"

namespace sinew::manager {
namespace {

using namespace wire;

/// What a watch knows, from what it was told alone.
struct Picture {
  /// Takes what is for the session; true when a batch was among it.
  bool take(const Actions& actions, Session session) {
    bool batch = false;
    for (const Action& action : actions) {
      const auto* const send = std::get_if<Send>(&action);
      if (send && send->session == session) batch |= take(send->message);
    }
    return batch;
  }
  void forget_pairs(std::uint64_t number) {
    std::erase_if(pairs, [&](const auto& each) { return each.first.first == number || each.first.second == number; });
  }
  bool take(const Message& message) {
    if (const auto* const node = std::get_if<DomainNode>(&message)) nodes[node->number] = *node;
    if (const auto* const topic = std::get_if<DomainTopic>(&message)) topics[topic->number] = *topic;
    if (const auto* const interface = std::get_if<DomainInterface>(&message)) {
      EXPECT_TRUE(nodes.contains(interface->node)) << "it refers to what was told before";
      EXPECT_TRUE(interface->topic == 0 || topics.contains(interface->topic));
      interfaces[interface->number] = *interface;
      if (interface->topic == 0) forget_pairs(interface->number);
    }
    if (const auto* const pair = std::get_if<DomainPair>(&message)) {
      EXPECT_TRUE(interfaces.contains(pair->publisher) && interfaces.contains(pair->subscriber));
      pairs[{pair->publisher, pair->subscriber}] = *pair;
    }
    if (const auto* const gone = std::get_if<DomainGone>(&message)) {
      nodes.erase(gone->number);
      topics.erase(gone->number);
      interfaces.erase(gone->number);
      forget_pairs(gone->number);
    }
    if (const auto* const batch = std::get_if<DomainBatch>(&message)) {
      complete = batch->complete;
      ++batches;
      return true;
    }
    return false;
  }
  std::string names() const {
    std::string all;
    for (const auto& [number, node] : nodes) all += node.name + " ";
    for (const auto& [number, topic] : topics) all += topic.name + " ";
    return all;
  }

  std::map<std::uint64_t, DomainNode> nodes;
  std::map<std::uint64_t, DomainTopic> topics;
  std::map<std::uint64_t, DomainInterface> interfaces;
  std::map<std::pair<std::uint64_t, std::uint64_t>, DomainPair> pairs;
  bool complete = false;
  int batches = 0;
};

struct Watcher {
  explicit Watcher(World& in) : world(in), session(in.node("watcher")) { hear(in.say(session, WatchDomain{1})); }
  /// Answers every batch at once.
  void hear(Actions actions) {
    while (picture.take(actions, session)) actions = world.say(session, DomainTaken{1});
  }
  Session node(const std::string& name) {
    const Session other = world.open();
    hear(world.say(other, RegisterNode{protocol_version, name}));
    return other;
  }
  World& world;
  const Session session;
  Picture picture;
};

TEST(Watches, AreToldOfEverythingThereIs) {
  World world;
  const Session camera = world.open(our_user, 4711, 44);
  world.say(camera, RegisterNode{protocol_version, "camera"});
  world.publish(camera, 1, "image", type_of(32), {8, true});
  const Session viewer = world.node("viewer");
  world.subscribe(viewer, 1);
  Watcher watcher(world);
  const Picture& seen = watcher.picture;
  EXPECT_TRUE(seen.complete);
  EXPECT_EQ(seen.names(), "camera viewer watcher image ");
  EXPECT_EQ(seen.nodes.begin()->second.pid, 4711);
  EXPECT_EQ(seen.nodes.begin()->second.uid, our_user);
  EXPECT_EQ(seen.nodes.begin()->second.gid, 44u);
  EXPECT_EQ(seen.topics.begin()->second.type, type_of(32));
  ASSERT_EQ(seen.interfaces.size(), 2u);
  EXPECT_EQ(seen.interfaces.begin()->second.qos, (Qos{8, true}));
  EXPECT_TRUE(seen.interfaces.begin()->second.publishes);
  ASSERT_EQ(seen.pairs.size(), 1u);
  EXPECT_EQ(seen.pairs.begin()->second.path, Path::native);
}

TEST(Watches, AreToldOfWhatComesAndGoes) {
  World world;
  Watcher watcher(world);
  const Session camera = watcher.node("camera");
  watcher.hear(world.publish(camera, 1));
  EXPECT_EQ(watcher.picture.names(), "watcher camera image ");
  watcher.hear(world.say(camera, DeletePublisher{1}));
  EXPECT_EQ(watcher.picture.names(), "watcher camera ");
  EXPECT_TRUE(watcher.picture.interfaces.empty());
  watcher.hear(world.domain.closed(0, camera));
  EXPECT_EQ(watcher.picture.names(), "watcher ");
}

TEST(Watches, W74_AreToldWhetherANodeThatIsGoneHasSaidGoodbye) {
  World world;
  Watcher watcher(world);
  const auto numbers_lost = [&](const Actions& actions) {
    std::vector<std::pair<std::uint64_t, bool>> gone;
    for (const Action& action : actions) {
      const auto* const send = std::get_if<Send>(&action);
      const auto* const message = send ? std::get_if<DomainGone>(&send->message) : nullptr;
      if (message) gone.emplace_back(message->number, message->lost);
    }
    watcher.hear(actions);
    return gone;
  };
  using Gone = std::vector<std::pair<std::uint64_t, bool>>;
  const Session leaves = watcher.node("leaves"), dies = watcher.node("dies");
  watcher.hear(world.publish(dies, 1));
  ASSERT_EQ(watcher.picture.nodes.size(), 3u);
  const std::uint64_t leaving = std::next(watcher.picture.nodes.begin())->first, dying = watcher.picture.nodes.rbegin()->first;
  const std::uint64_t topic = watcher.picture.topics.begin()->first, publisher = watcher.picture.interfaces.begin()->first;
  EXPECT_EQ(numbers_lost(world.say(leaves, Goodbye{})), (Gone{{leaving, false}}));
  EXPECT_TRUE(numbers_lost(world.domain.closed(0, leaves)).empty());
  EXPECT_EQ(numbers_lost(world.domain.closed(0, dies)), (Gone{{dying, true}, {topic, false}, {publisher, false}}));
}

TEST(Watches, W74_AreToldNumbersOfNodesThatAreNeverUsedAgain) {
  World world;
  Watcher watcher(world);
  std::uint64_t last = watcher.picture.nodes.rbegin()->first;
  for (int i = 0; i < 10; ++i) {
    const Session session = watcher.node("camera");
    ASSERT_EQ(watcher.picture.nodes.size(), 2u);
    EXPECT_GT(watcher.picture.nodes.rbegin()->first, last);
    last = watcher.picture.nodes.rbegin()->first;
    watcher.hear(world.domain.closed(0, session));
  }
}

TEST(Watches, AreToldTheContainerOfANode) {
  World world;
  world.domain.opened(0, ++world.last_session, {1, our_user, 0}, "3f2504e04f89");
  world.say(world.last_session, RegisterNode{protocol_version, "boxed"});
  Watcher watcher(world);
  EXPECT_EQ(watcher.picture.nodes.begin()->second.container, "3f2504e04f89");
}

TEST(Watches, AreToldWhyAPairIsNotConnectedAndWhichWayItsMessagesCome) {
  World world;
  Watcher watcher(world);
  const Session camera = watcher.node("camera"), viewer = watcher.node("viewer");
  watcher.hear(world.publish(camera, 1, "image", type_of(32), {8, false}));
  watcher.hear(world.subscribe(viewer, 1, "image", type_of(32), {8, true}));
  ASSERT_EQ(watcher.picture.pairs.size(), 1u);
  EXPECT_EQ(watcher.picture.pairs.begin()->second.path, Path::none);
  EXPECT_EQ(watcher.picture.pairs.begin()->second.why, "reliability: the publisher offers best_effort, the subscriber asks for reliable");
  watcher.hear(world.say(viewer, DeleteSubscriber{1}));
  EXPECT_TRUE(watcher.picture.pairs.empty());

  watcher.hear(world.subscribe(viewer, 2, "image", type_of(32), {8, false}));
  EXPECT_EQ(watcher.picture.pairs.begin()->second.path, Path::native);
  watcher.hear(world.say(viewer, PathChosen{1, Path::view, "the subscriber\nasks\x1b for it"}));
  EXPECT_EQ(watcher.picture.pairs.begin()->second.path, Path::view);
  EXPECT_EQ(watcher.picture.pairs.begin()->second.why, "the subscriber?asks? for it");
  watcher.hear(world.say(viewer, DeleteSubscriber{2}));

  watcher.hear(world.subscribe(viewer, 3, "image", type_of(32, 2), {8, false}));
  EXPECT_EQ(watcher.picture.pairs.begin()->second.path, Path::none) << "another layout: the viewer has yet to say how it reads";
  watcher.hear(world.say(viewer, DeleteSubscriber{3}));

  watcher.hear(world.publish(viewer, 1, "own", type_of(32), {8, false}, 77));
  watcher.hear(world.subscribe(viewer, 4, "own", type_of(32), {8, false}, 77));
  EXPECT_EQ(watcher.picture.pairs.begin()->second.path, Path::pointer);
}

TEST(Watches, AreToldThatAPairWaitsForAProcessThatDoesNotAnswer) {
  World world;
  Watcher watcher(world);
  const Session camera = watcher.node("camera"), stopped = watcher.node("stopped");
  world.nodes_answer = false;
  watcher.hear(world.publish(camera, 1));
  for (std::uint64_t id = 1; id <= 3; ++id) watcher.hear(world.subscribe(stopped, id));
  ASSERT_EQ(watcher.picture.pairs.size(), 3u);
  EXPECT_EQ(watcher.picture.pairs.rbegin()->second.why, "they wait to be introduced");
}

TEST(Watches, AreToldTheMemoryOfAPublisher) {
  World world;
  Watcher watcher(world);
  const Session camera = watcher.node("camera");
  watcher.hear(world.publish(camera, 1));
  watcher.hear(world.say(camera, MemoryMapped{1, 0x800000}));
  EXPECT_EQ(watcher.picture.interfaces.begin()->second.memory, 0x800000u);
  EXPECT_TRUE(world.say(camera, MemoryMapped{2, 1}).empty()) << "one that is deleted by another thread meanwhile";
}

TEST(Watches, ShowGhostsAndWhenTheyAreDetached) {
  World world;
  Watcher watcher(world);
  const Session camera = watcher.node("camera"), tool = watcher.node("tool");
  watcher.hear(world.publish(camera, 1));
  watcher.hear(world.say(tool, RegisterPublisher{1, "image", type_of(32), {8, true}, 0, 0, Ghost::carrier}));
  watcher.hear(world.say(tool, RegisterSubscriber{1, "image", type_of(32), {4, false}, 0, 0, Ghost::carrier}));
  EXPECT_EQ(watcher.picture.pairs.size(), 1u) << "not with each other";
  watcher.hear(world.say(tool, RegisterSubscriber{2, "image", type_of(32), {4, false}, 0, 0, Ghost::observer}));
  EXPECT_EQ(watcher.picture.pairs.size(), 3u) << "with both";
  watcher.hear(world.say(camera, DeletePublisher{1}));
  EXPECT_TRUE(watcher.picture.pairs.empty());
  std::vector<Ghost> told;
  for (const auto& [number, interface] : watcher.picture.interfaces) {
    told.push_back(interface.ghost);
    EXPECT_EQ(interface.topic, 0u);
  }
  EXPECT_EQ(told, (std::vector{Ghost::carrier, Ghost::carrier, Ghost::observer}));
}

TEST(Watches, ThatDoNotAnswerAreToldInTheEndHowThingsStand) {
  World world;
  const Session watcher = world.node("watcher");
  Picture picture;
  picture.take(world.say(watcher, WatchDomain{1}), watcher);
  const Session camera = world.node("camera");
  for (std::uint64_t id = 1; id <= 1000; ++id) {
    for (const Actions& actions : {world.publish(camera, id), world.say(camera, DeletePublisher{id})}) {
      for (const Action& action : actions) EXPECT_NE(std::get<Send>(action).session, watcher) << "told although it has not answered";
    }
    world.say(camera, WindowReleased{{0x2000'0000'0000 + (id - 1) % 4 * 0x4000'0000, 0x4000'0000}});
  }
  world.publish(camera, 1001, "last");
  EXPECT_TRUE(picture.take(world.say(watcher, DomainTaken{1}), watcher));
  EXPECT_EQ(picture.names(), "watcher camera last ");
  EXPECT_TRUE(picture.complete);
}

TEST(Watches, AreToldMuchInBatchesThatTheyAnswer) {
  World world;
  const Session many = world.node("many");
  for (std::uint64_t id = 1; id <= 500; ++id) world.subscribe(many, id, "topic" + std::to_string(id % 100));
  Watcher watcher(world);
  EXPECT_EQ(watcher.picture.interfaces.size(), 500u);
  EXPECT_EQ(watcher.picture.topics.size(), 100u);
  EXPECT_GE(watcher.picture.batches, 602 / 64);
  EXPECT_TRUE(watcher.picture.complete);
}

TEST(Watches, AreToldThatAllWasToldAlsoWhenWhatWasLeftIsNothingToTell) {
  World world({0x2000'0000'0000, 0x4000'0000, 1000});
  const Session many = world.node("many");
  for (std::uint64_t id = 1; id <= 30; ++id) world.subscribe(many, id, "topic" + std::to_string(id));
  for (std::uint64_t id = 1; id <= 20; ++id) {
    world.say(many, RegisterPublisher{id, "topic1", type_of(32), {8, true}, 0, 0, Ghost::carrier});
    world.say(many, RegisterSubscriber{100 + id, "topic1", type_of(32), {4, false}, 0, 0, Ghost::carrier});
  }
  for (int more = 0; more < 70; ++more) {
    Watcher watcher(world);
    EXPECT_TRUE(watcher.picture.complete) << more;
    world.domain.closed(0, watcher.session);
    world.subscribe(many, 200 + static_cast<std::uint64_t>(more), "topic" + std::to_string(more));
  }
  const Session last = world.node("last"), watcher = world.node("watcher");
  Picture picture;
  picture.take(world.say(watcher, WatchDomain{1}), watcher);
  EXPECT_FALSE(picture.complete);
  std::uint64_t id = 0;
  do {
    world.subscribe(last, ++id, "passing");
    world.say(last, DeleteSubscriber{id});
  } while (picture.take(world.say(watcher, DomainTaken{1}), watcher));
  EXPECT_TRUE(picture.complete);
}

TEST(Watches, AreToldLongDescriptionsAFewAtATime) {
  World world;
  const Session talker = world.node("talker");
  for (std::uint64_t id = 1; id <= 100; ++id) {
    TypeDescription type = type_of(32);
    type.signature = std::string(max_signature, 's');
    world.subscribe(talker, id, "topic" + std::to_string(id), type);
  }
  const Session watcher = world.node("watcher");
  Picture picture;
  for (Actions actions = world.say(watcher, WatchDomain{1});; actions = world.say(watcher, DomainTaken{1})) {
    std::size_t bytes = 0;
    for (const Action& action : actions) bytes += encode(std::get<Send>(action).message).size();
    EXPECT_LT(bytes, 128u * 1024);
    if (!picture.take(actions, watcher)) break;
  }
  EXPECT_EQ(picture.topics.size(), 100u);
  EXPECT_TRUE(picture.complete);
}

TEST(Watches, KeepNoMoreOfAReasonThanPeopleRead) {
  World world;
  Watcher watcher(world);
  const Session camera = watcher.node("camera"), viewer = watcher.node("viewer");
  watcher.hear(world.publish(camera, 1));
  watcher.hear(world.subscribe(viewer, 1));
  watcher.hear(world.say(viewer, PathChosen{1, Path::copy, std::string(max_text, 'w')}));
  EXPECT_EQ(watcher.picture.pairs.begin()->second.why, std::string(255, 'w'));
}

TEST(Watches, EndWhenTheyAreToldTo) {
  World world;
  Watcher watcher(world);
  EXPECT_TRUE(world.say(watcher.session, UnwatchDomain{1}).empty());
  EXPECT_EQ(world.say(watcher.node("camera"), Goodbye{}).size(), 0u);
  EXPECT_TRUE(world.say(watcher.session, DomainTaken{1}).empty()) << "an answer that was on its way";
  world.expect_dropped(world.say(watcher.session, UnwatchDomain{1}), watcher.session, "which does not exist");
}

TEST(Watches, OfOneSessionAreLimited) {
  World world;
  const Session greedy = world.node("greedy");
  for (std::uint64_t id = 1; id <= Watches::most; ++id) EXPECT_FALSE(world.say(greedy, WatchDomain{id}).empty());
  world.expect_dropped(world.say(greedy, WatchDomain{Watches::most + 1}), greedy, "more than 16 times");
  World other;
  const Session node = other.node("node");
  other.say(node, WatchDomain{1});
  other.say(node, UnwatchDomain{1});
  other.expect_dropped(other.say(node, WatchDomain{1}), node, "came a second time");
}

/// The files of counters that a session is shown.
std::vector<Show> shown_to(Session session, const Actions& actions) {
  std::vector<Show> shown;
  for (const Action& action : actions) {
    const auto* const show = std::get_if<Show>(&action);
    if (show && show->session == session) shown.push_back(*show);
  }
  return shown;
}

TEST(Watches, W85_who_asks_is_shown_where_nodes_count_two_files_in_a_batch) {
  World world;
  const Session camera = world.node("camera"), tool = world.node("tool"), other = world.node("other");
  world.say(other, WatchDomain{1});
  world.say(camera, Counters{4096});
  world.say(camera, Counters{8192});
  world.say(camera, Counters{16384});
  Picture picture;
  Actions first = world.say(tool, WatchDomain{1, true});
  ASSERT_TRUE(picture.take(first, tool));
  const std::vector<Show> shown = shown_to(tool, first);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_FALSE(picture.complete);
  for (std::size_t n = 0; n < 2; ++n) {
    EXPECT_EQ(picture.nodes.at(shown[n].message.node).name, "camera");
    EXPECT_TRUE(shown[n].from == camera && shown[n].index == n && shown[n].message.size == 4096u << n && shown[n].message.id == 1);
  }
  const Actions second = world.say(tool, DomainTaken{1});
  EXPECT_EQ(shown_to(tool, second).size(), 1u);
  picture.take(second, tool);
  EXPECT_TRUE(picture.complete);
  world.say(tool, DomainTaken{1});
  const Actions later = world.say(camera, Counters{32768});
  EXPECT_EQ(shown_to(tool, later).size(), 1u);
  EXPECT_TRUE(shown_to(other, later).empty()) << "who has not asked";
}

TEST(Watches, W85_files_of_counters_go_with_their_node) {
  World world;
  const Session camera = world.node("camera"), tool = world.node("tool");
  world.say(camera, Counters{4096});
  const Actions first = world.say(tool, WatchDomain{1, true});
  ASSERT_EQ(shown_to(tool, first).size(), 1u);
  const std::uint64_t number = shown_to(tool, first)[0].message.number;
  world.say(tool, DomainTaken{1});
  bool is_told = false;
  for (const Action& action : world.say(camera, Goodbye{})) {
    const auto* const send = std::get_if<Send>(&action);
    const auto* const gone = send ? std::get_if<DomainGone>(&send->message) : nullptr;
    is_told |= gone && gone->number == number;
  }
  EXPECT_TRUE(is_told);
  EXPECT_TRUE(world.say(camera, Counters{8192}).empty()) << "one that was on its way";
}

TEST(Watches, W86_a_node_has_twelve_files_of_counters_at_most) {
  World world;
  const Session camera = world.node("camera");
  for (int n = 0; n < 12; ++n) EXPECT_TRUE(world.say(camera, Counters{4096}).empty());
  world.expect_dropped(world.say(camera, Counters{4096}), camera, "more than 12 files");
}

TEST(Watches, BelieveNobodyAboutTheIntroductionsOfOthers) {
  World world;
  const Session camera = world.node("camera"), viewer = world.node("viewer"), liar = world.node("liar");
  world.publish(camera, 1);
  world.subscribe(viewer, 1);
  world.expect_dropped(world.say(liar, PathChosen{1, Path::copy, "so there"}), liar, "whose subscriber is another node's");
  world.expect_dropped(world.say(camera, PathChosen{2, Path::copy, ""}), camera, "which was never made");
  EXPECT_TRUE(world.say(viewer, PathChosen{1, Path::copy, ""}).empty()) << "the camera has gone meanwhile";
}

// Whatever happens in whatever order, a watch that answers now and then ends up with what a new one is told.
TEST(Watches, EndUpWithWhatANewOneIsTold) {
  std::mt19937 random(5);
  const auto pick = [&](unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random); };
  for (int round = 0; round < 50; ++round) {
    World world({0x2000'0000'0000, 0x4000'0000, 1000});
    const Session session = world.node("watcher");
    Picture picture;
    bool owes = picture.take(world.say(session, WatchDomain{1}), session);
    std::vector<Session> nodes;
    std::map<Session, std::vector<std::pair<std::uint64_t, bool>>> interfaces;
    std::uint64_t id = 0;
    const auto hear = [&](const Actions& actions) { owes |= picture.take(actions, session); };
    for (int step = 0; step < 300; ++step) {
      const unsigned what = pick(10);
      if (what == 0 || nodes.empty()) {
        nodes.push_back(world.open());
        hear(world.say(nodes.back(), RegisterNode{protocol_version, "node" + std::to_string(step)}));
      } else if (what == 1) {
        const std::size_t which = pick(static_cast<unsigned>(nodes.size()));
        hear(world.domain.closed(0, nodes[which]));
        interfaces.erase(nodes[which]);
        nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(which));
      } else if (what < 7) {
        const Session node = nodes[pick(static_cast<unsigned>(nodes.size()))];
        const std::string topic = "topic" + std::to_string(pick(4));
        const bool publishes = pick(2) == 0;
        const auto ghost = std::array{Ghost::no, Ghost::no, Ghost::carrier, Ghost::observer}[pick(4)];
        const Qos qos{8, pick(2) == 0};
        const Actions actions = publishes ? world.say(node, RegisterPublisher{++id, topic, type_of(32), qos, pick(2), 0, ghost})
                                          : world.say(node, RegisterSubscriber{++id, topic, type_of(32), qos, pick(2), 0, ghost});
        hear(actions);
        const Message& answer = std::get<Send>(actions.front()).message;
        if (std::holds_alternative<PublisherRegistered>(answer) || std::holds_alternative<SubscriberRegistered>(answer))
          interfaces[node].emplace_back(id, publishes);
      } else if (what < 9) {
        const Session node = nodes[pick(static_cast<unsigned>(nodes.size()))];
        auto& its = interfaces[node];
        if (its.empty()) continue;
        const auto [one, publishes] = its.back();
        its.pop_back();
        hear(publishes ? world.say(node, DeletePublisher{one}) : world.say(node, DeleteSubscriber{one}));
      } else if (owes) {
        owes = false;
        hear(world.say(session, DomainTaken{1}));
      }
    }
    while (std::exchange(owes, false)) hear(world.say(session, DomainTaken{1}));
    EXPECT_TRUE(picture.complete);
    Picture fresh;
    Actions actions = world.say(session, WatchDomain{2});
    while (fresh.take(actions, session)) actions = world.say(session, DomainTaken{2});
    const auto numbers = [](const auto& things) {
      std::vector<std::uint64_t> all;
      for (const auto& [number, thing] : things) all.push_back(number);
      return all;
    };
    EXPECT_EQ(numbers(picture.nodes), numbers(fresh.nodes));
    EXPECT_EQ(numbers(picture.topics), numbers(fresh.topics));
    ASSERT_EQ(numbers(picture.interfaces), numbers(fresh.interfaces));
    for (const auto& [number, interface] : fresh.interfaces) EXPECT_EQ(picture.interfaces.at(number).topic, interface.topic);
    ASSERT_EQ(picture.pairs.size(), fresh.pairs.size());
    for (const auto& [numbers_of_pair, pair] : fresh.pairs) {
      EXPECT_EQ(picture.pairs.at(numbers_of_pair).path, pair.path);
      EXPECT_EQ(picture.pairs.at(numbers_of_pair).why, pair.why);
    }
  }
}

}  // namespace
}  // namespace sinew::manager
