// The manager of a busy graph is killed again and again. Nobody notices, but that for a moment nobody new is introduced.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <variant>

#include "manager/server/tests/talk.hpp"
#include "os/file.hpp"
#include "os/process.hpp"
#include "os/socket.hpp"
#include "sinew/sinew.hpp"
#include "tests/storm/storm.hpp"
#include "wire/messages.hpp"

namespace sinew::system {
namespace {

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

/// The next manager instead of one that a node starts, as a node would start it: with $SINEW_AT, which no node must have. Nobody starts one as long as it has the folder's lock.
ROLE(next_manager) {
  const std::string& socket = arguments.at(0);
  const os::Fd lock = os::lock_folder(std::filesystem::path(socket).parent_path());
  say("locked");
  next_order();
  os::remove_file(socket);
  const os::Fd listener = os::listen_at(socket);
  require(::dup2(listener.get(), 3) == 3, "no descriptor");
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sinewd";
  ::execl(program.c_str(), "sinewd", "--socket", socket.c_str(), "--listening-on-3", nullptr);
  fail("sinewd does not start");
}

/// When whoever listens at `socket` answers somebody who would be a node. It is somebody whom each manager refuses, so that nobody comes or goes: what is right is that without it.
std::optional<Clock::time_point> await_answer(const std::string& socket) {
  const auto is_answered = [&] {
    try {
      auto connection = os::connect_to(socket);
      if (!connection) return false;
      manager::Talk talk(std::move(*connection));
      if (!talk.send(wire::RegisterNode{wire::protocol_version + 1, "of_another_version"})) return false;
      const auto answer = talk.receive();
      return answer && std::holds_alternative<wire::NodeRefused>(*answer);
    } catch (const std::exception&) {
      return false;  // the one that was killed has not answered any more
    }
  };
  if (!eventually(is_answered)) return std::nullopt;
  return Clock::now();
}

/// How long it took.
std::string within(std::vector<double> milliseconds) {
  std::ranges::sort(milliseconds);
  std::ostringstream text;
  text << std::fixed << std::setprecision(0) << "within " << milliseconds[milliseconds.size() / 2] << " ms in half of them, within "
       << milliseconds[milliseconds.size() * 9 / 10] << " ms in nine of ten, and always within " << milliseconds.back() << " ms";
  return text.str();
}

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

  void kill_manager();
  bool is_back() const { return manager().value_or(killed_) != killed_; }
  /// While somebody is replaced, who is then introduced by the next one.
  void restart_while_somebody_comes(Graph& graph, Node& node);
  /// A worker has told the next manager of itself, and dies before it has told of what it has.
  void restart_while_somebody_dies(Graph& graph);
  /// The next manager dies, too, at one of its points, while it gets to know everybody.
  void restart_twice();

  std::mt19937_64 random_{1};
  pid_t killed_ = 0;
  std::size_t next_label_ = 0;
};

void Restart::kill_manager() {
  killed_ = manager().value_or(0);
  ASSERT_GT(killed_, 0);
  ASSERT_EQ(::kill(killed_, SIGKILL), 0);
  tally_.did("the manager killed");
}

void Restart::restart_while_somebody_comes(Graph& graph, Node& node) {
  const std::vector<Place*> mortals = graph.mortals();
  Place& replaced = *mortals[random_() % mortals.size()];
  replaced.child->kill();
  kill_manager();
  // Another user starts none in our folder, and gets in when it has read its rules.
  if (replaced.option == "stranger") eventually([&] { return is_back() && !look(node).is_empty(); });
  graph.start(replaced);
}

void Restart::restart_while_somebody_dies(Graph& graph) {
  const std::vector<Place*> mortals = graph.mortals();
  const auto doomed = graph.start_doomed(*mortals[random_() % mortals.size()], "manager_link.registered:1:kill");
  doomed->expect("ready");
  kill_manager();
  EXPECT_EQ(doomed->wait(), -SIGKILL) << doomed->errors();
  tally_.did("killed at manager_link.registered, while the manager is killed");
}

void Restart::restart_twice() {
  constexpr std::array labels{"manager.answered", "manager.pair_made", "manager.publisher_introduced", "manager.descriptor_sent"};
  constexpr std::array passes{1, 2, 5, 20};
  const std::string label = labels[next_label_++ % labels.size()];
  Child next("next_manager", {socket()}, {{"SINEW_AT", label + ":" + std::to_string(passes[random_() % passes.size()]) + ":kill"}});
  next.expect("locked");
  kill_manager();
  next.order("listen");
  EXPECT_EQ(next.wait(), -SIGKILL) << next.errors();
  tally_.did("the manager killed at " + label);
}

TEST_F(Restart, NobodyNoticesThatTheManagerIsKilledAHundredTimes) {
  auto node = Node::create("judge_1");
  Graph graph;
  ASSERT_EQ(graph.trouble(), "");
  std::map<std::string, Graph::Belongings> before;
  std::vector<double> from_kill, from_answer;
  const int restarts = rounds(100);
  for (int restart = 1; restart <= restarts && !HasFailure(); ++restart) {
    const Picture wanted = steady(*node);
    const auto begun_at = Clock::now();
    std::future<std::optional<Clock::time_point>> answer;
    if (restart % 4 == 0) {
      restart_while_somebody_comes(graph, *node);
    } else if (restart % 8 == 2) {
      restart_while_somebody_dies(graph);
    } else if (restart % 8 == 6) {
      restart_twice();
    } else {
      kill_manager();
      answer = std::async(std::launch::async, await_answer, socket());
    }
    Picture now = wanted;
    if (!eventually([&] { return (now = look(*node)) == wanted && is_back(); })) {
      tally_.look(false);
      FAIL() << "after restart " << restart << ":\n" << now.differs_from(wanted);
    }
    if (answer.valid()) {
      using Milliseconds = std::chrono::duration<double, std::milli>;
      const auto right_at = Clock::now();
      const auto answered_at = answer.get();
      ASSERT_TRUE(answered_at) << "after restart " << restart;
      from_kill.push_back(Milliseconds(right_at - begun_at).count());
      // Who asks may be the last to be answered.
      from_answer.push_back(std::max(Milliseconds(right_at - *answered_at).count(), 0.0));
    }
    await_end(killed_);
    ASSERT_EQ(trouble_of(graph), "") << "after restart " << restart;
    if (restart == restarts / 5 + 1) before = graph.belongings(manager().value_or(0));
  }
  end(graph, *node, before);
  if (from_kill.empty()) return;
  const std::string times = "After a manager was killed, and nobody else (" + std::to_string(from_kill.size()) +
                            " times) the state of the domain was right again " + within(from_kill) +
                            "; counted from the first answer of the next manager, " + within(from_answer) + ".";
  std::cout << times << "\n";
  report(times);
}

}  // namespace
}  // namespace sinew::system
