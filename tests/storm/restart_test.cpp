// The manager of a busy graph is killed again and again. Nobody notices, but that for a moment nobody new is introduced.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <set>
#include <thread>

#include "sinew/sinew.hpp"
#include "tests/storm/storm.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The state of a domain without what is another after each restart: its numbers, and those of workers that were replaced.
class Picture {
 public:
  explicit Picture(const DomainState& state) {
    std::map<std::uint64_t, std::string> names;
    for (const auto& node : state.nodes) lines_.insert("node " + (names[node.id] = without_number(node.name)));
    for (const auto& topic : state.topics) names[topic.id] = topic.name;
    for (const auto& end : state.endpoints) {
      names[end.id] = names[end.node] + (end.publishes ? " publishes " : " subscribes to ") + names[end.topic];
      lines_.insert(names[end.id]);
    }
    for (const auto& pair : state.pairs) {
      const std::string way = pair.connected ? "way " + std::to_string(static_cast<int>(pair.delivery)) : pair.why;
      lines_.insert(names[pair.publisher] + ", " + names[pair.subscriber] + ": " + way);
      all_are_connected_ = all_are_connected_ && pair.connected;
    }
  }
  bool is_empty() const { return lines_.empty(); }
  bool all_are_connected() const { return all_are_connected_; }
  bool operator==(const Picture&) const = default;
  /// What is in one of them only.
  std::string differs_from(const Picture& other) const {
    std::string text;
    for (const auto& [mine, theirs, sign] :
         {std::tuple(lines_, other.lines_, "only now: "), std::tuple(other.lines_, lines_, "no more: ")}) {
      std::vector<std::string> more;
      std::ranges::set_difference(mine, theirs, std::back_inserter(more));
      for (const auto& line : more) text += sign + line + "\n";
    }
    return text;
  }

 private:
  static std::string without_number(const std::string& name) { return name.substr(0, name.rfind('_')); }

  std::multiset<std::string> lines_;
  bool all_are_connected_ = true;
};

class Restart : public StormDomain {
 protected:
  /// Without an answer it has nothing in it.
  static Picture look(Node& node) {
    try {
      return Picture(node.domain_state());
    } catch (const Error&) {
      return Picture({});
    }
  }
  static Picture steady(Node& node) {
    Picture picture({});
    EXPECT_TRUE(eventually([&] { return !(picture = look(node)).is_empty() && picture.all_are_connected(); }));
    return picture;
  }
};

TEST_F(Restart, NobodyNoticesThatTheManagerIsKilledAHundredTimes) {
  auto node = Node::create("judge_1");
  Graph graph;
  ASSERT_EQ(graph.trouble(), "");
  const std::vector<Place*> mortals = graph.mortals();
  std::mt19937_64 random(1);
  std::map<std::string, Graph::Belongings> before;
  std::vector<double> milliseconds;
  const int restarts = rounds(100);
  for (int restart = 1; restart <= restarts && !HasFailure(); ++restart) {
    const Picture wanted = steady(*node);
    const pid_t manager = this->manager().value_or(0);
    ASSERT_GT(manager, 0);
    const bool somebody_comes = restart % 4 == 0;
    Place& replaced = *mortals[random() % mortals.size()];
    if (somebody_comes) replaced.child->kill();
    ASSERT_EQ(::kill(manager, SIGKILL), 0);
    const auto killed_at = Clock::now();
    const auto is_back = [&] { return this->manager().value_or(manager) != manager; };
    if (somebody_comes) {
      // Another user starts none in our folder, and gets in when it has read its rules.
      if (replaced.option == "stranger") eventually([&] { return is_back() && !look(*node).is_empty(); });
      graph.start(replaced);
    }
    Picture now = wanted;
    tally_.did("the manager killed");
    if (!eventually([&] { return (now = look(*node)) == wanted && is_back(); })) {
      tally_.look(false);
      FAIL() << "after restart " << restart << ":\n" << now.differs_from(wanted);
    }
    if (!somebody_comes) milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - killed_at).count());
    await_end(manager);
    ASSERT_EQ(trouble_of(graph), "") << "after restart " << restart;
    if (restart == restarts / 5 + 1) before = graph.belongings(this->manager().value_or(0));
  }
  end(graph, *node, before);
  std::ranges::sort(milliseconds);
  std::cout << restarts
            << " restarts; from the kill until the state of the domain was right again: " << milliseconds[milliseconds.size() / 2]
            << " ms, of nine in ten at most " << milliseconds[milliseconds.size() * 9 / 10] << " ms, at most " << milliseconds.back()
            << " ms\n";
}

}  // namespace
}  // namespace sinew::system
