// Qos::liveliness: who is silent for its lease, and who is back.
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/system/events.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

/// A subscriber that notes who is alive.
struct Watcher {
  Watcher(Node& node, const Qos& qos, SubscriberOptions options) {
    options.events.liveliness_changed = told.handler();
    subscriber = node.create_subscriber<Sample>("topic", qos, options);
  }
  /// Waits until so many are alive and so many are not, and statistics() says so, too.
  void await(std::uint64_t alive, std::uint64_t not_alive) {
    const auto is_so = [&](const auto& each) { return each.alive_count == alive && each.not_alive_count == not_alive; };
    require(told.soon(is_so).has_value(),
            "not told that " + std::to_string(alive) + " are alive and " + std::to_string(not_alive) + " not");
    require(eventually([&] {
              const SubscriberStatistics statistics = subscriber->statistics();
              return statistics.publishers_alive == alive && statistics.publishers_not_alive == not_alive;
            }),
            "statistics() says otherwise");
  }

  Told<LivelinessChangedEvent> told;
  std::shared_ptr<Subscriber<Sample>> subscriber;
};

class LivelinessOf : public Paths {};
class LivelinessBetweenProcesses : public Paths {};

TEST_P(LivelinessBetweenProcesses, AStoppedProcessIsNotAliveAfterItsLeaseAndAliveAgainWhenItGoesOn) {
  auto node = Node::create("viewer");
  Watcher watcher(*node, Qos{}.liveliness(Liveliness::automatic, 10s), by(GetParam()));
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create lease=2000");  // long enough for a loaded machine not to miss its signs
  watcher.await(1, 0);
  publisher.process().stop();
  watcher.await(0, 1);
  const LivelinessChangedEvent event = watcher.told.last();
  EXPECT_EQ(event.alive_count_change, -1);
  EXPECT_EQ(event.not_alive_count_change, 1);
  EXPECT_EQ(event.node, "camera");
  EXPECT_EQ(watcher.subscriber->statistics().publishers_not_alive, 1U);
  EXPECT_EQ(watcher.subscriber->statistics().publishers, 1U) << "still connected";
  publisher.process().go_on();
  watcher.await(1, 0);
  publisher.process().stop();
  watcher.await(0, 1);
  publisher.process().kill();
  watcher.await(0, 0);
}

TEST_P(LivelinessOf, AnAutomaticPublisherThatPublishesNothingStaysAliveAndOneThatIsDestroyedIsGone) {
  auto node = Node::create("viewer");
  Watcher watcher(*node, Qos{}, by(GetParam()));
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create lease=6000");  // whose signs may come four seconds late
  watcher.await(1, 0);
  // On a machine that has stood still meanwhile it is tried again.
  EXPECT_TRUE(eventually([&] {
    const std::size_t before = watcher.told.all().size();
    std::this_thread::sleep_for(8s);
    return watcher.told.all().size() == before && watcher.subscriber->statistics().publishers_alive == 1;
  })) << "it does not stay alive";
  publisher.obey("destroy");
  watcher.await(0, 0);
  EXPECT_EQ(watcher.told.last().alive_count_change, -1);
  publisher.end();
}

TEST_P(LivelinessOf, ByTopicASilentPublisherIsNotAliveUntilItPublishesOrAssertsAndIsToldSoItself) {
  auto node = Node::create("viewer");
  Watcher watcher(*node, Qos{}.liveliness(Liveliness::manual_by_topic, 10s), by(GetParam()));
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create lease=100 manual_by_topic");
  publisher.obey("subscribers 1 1");
  watcher.await(0, 1);
  EXPECT_EQ(watcher.told.last().node, "camera");
  publisher.obey("lost 1");
  int lost = 1;
  for (const char* const sign : {"publish", "assert"}) {
    const std::size_t before = watcher.told.all().size();
    // It is alive for a tenth of a second only: what was told counts, not what holds now.
    const auto was_alive = [&] {
      const auto all = watcher.told.all();
      return std::any_of(all.begin() + static_cast<std::ptrdiff_t>(before), all.end(),
                         [](const auto& each) { return each.alive_count == 1; });
    };
    EXPECT_TRUE(eventually([&] {
      publisher.obey(sign);
      return was_alive();
    })) << sign;
    watcher.await(0, 1);
    publisher.obey("lost " + std::to_string(++lost) + " " + sign);
  }
  publisher.obey("destroy");
  watcher.await(0, 0);
  publisher.end();
}

SINEW_ON_ALL_PATHS(LivelinessOf);
SINEW_ON_PATHS_BETWEEN_PROCESSES(LivelinessBetweenProcesses);

// --- what it costs ---------------------------------------------------------------------------------------------------------------------------

/// How often threads of this process of that name have gone to sleep.
std::uint64_t sleeps_of(const std::string& name) {
  std::uint64_t sleeps = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    bool is_it = false;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Name:")) is_it = line.ends_with(name);
      if (is_it && line.starts_with("voluntary_ctxt_switches:")) sleeps += std::stoull(line.substr(line.find(':') + 1));
    }
  }
  return sleeps;
}

class IdleNode : public Domain {};

TEST_F(IdleNode, WithoutDeadlineAndLeaseIsNeverWoken) {
  auto node = Node::create("node");
  Told<MatchedEvent> matched;
  SubscriberOptions options = as_from_elsewhere();
  options.events.matched = matched.handler();
  auto publisher = node->create_publisher<Sample>("topic");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, options);
  ASSERT_TRUE(matched.soon([](const auto& each) { return each.current_count == 1; }));
  publish_in_place(*publisher, 1, 1, 1000);
  ASSERT_TRUE(take_soon(*subscriber));
  // What was begun comes to rest at some time, and stays so for longer than a timer would.
  EXPECT_TRUE(eventually([&] {
    const std::uint64_t before = sleeps_of("sinew-io") + sleeps_of("sinew-run");
    std::this_thread::sleep_for(5s);
    return sleeps_of("sinew-io") + sleeps_of("sinew-run") == before;
  }));
}

}  // namespace
}  // namespace sinew::system
