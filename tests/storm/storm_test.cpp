// Processes of a busy graph are killed, stopped, forked and replaced by other programs, one after the other, at random moments and at every labelled point of the protocols. Nobody else notices more than that they are gone.
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <thread>

#include "sinew/sinew.hpp"
#include "tests/storm/storm.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

/// So many processes are killed in `make test`; $SINEW_STORM_KILLS in `make soak`.
int kills_wanted() {
  const char* const wanted = std::getenv("SINEW_STORM_KILLS");
  return wanted ? std::atoi(wanted) : rounds(200);
}

std::uint64_t seed_wanted() {
  const char* const wanted = std::getenv("SINEW_STORM_SEED");
  return wanted ? std::stoull(wanted) : 1;
}

class Storm : public StormDomain {
 protected:
  /// Kills the worker of a place in some way, and has it replaced.
  void strike(Graph& graph, Place& place);
  /// One more such worker, which dies at the next of its points; or at some moment, when it does not come there in time.
  void doom(Graph& graph, Place& place);
  void stop_for_a_moment(Graph& graph, Place& place);
  /// At most so many seconds, and until it is dead.
  static bool dies(Child& child);

  std::mt19937_64 random_{seed_wanted()};
  std::map<std::string, int> not_reached_;
  std::map<const Place*, std::size_t> next_label_;
  int kills_ = 0;
};

bool Storm::dies(Child& child) {
  for (int i = 0; i < 300 && !child.has_ended(); ++i) std::this_thread::sleep_for(10ms);
  return child.has_ended();
}

void Storm::strike(Graph& graph, Place& place) {
  Child& child = *place.child;
  const std::uint64_t way = random_() % 6;
  pid_t orphan = 0;
  if (way == 0) {
    child.order("fork");
    orphan = std::stoi(child.line().value_or("0"));
    child.signal(SIGKILL);
    tally_.did("forks, and is killed while the child lives");
  } else if (way == 1) {
    child.order("exec");
    tally_.did("becomes another program (exec)");
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 5000));
    child.signal(SIGKILL);
    tally_.did("killed at a random moment");
  }
  EXPECT_EQ(child.wait(), way == 1 ? 0 : -SIGKILL) << place.name << ": " << child.errors();
  ++kills_;
  graph.start(place);
  if (orphan > 0) await_end(orphan);
}

void Storm::doom(Graph& graph, Place& place) {
  const std::string label = place.labels[next_label_[&place]++ % place.labels.size()];
  // A node is told of once, what belongs to registering and connecting once for each interface or peer, all else with every message.
  constexpr std::array rare{"manager_link.interface_told",
                            "publisher.attaching",
                            "publisher.listed",
                            "publisher.newcomer_told",
                            "publisher.history_copied",
                            "publisher.telling",
                            "publisher.all_told",
                            "subscriber.chunk_mapped",
                            "mappings.made",
                            "window.sealed"};
  constexpr std::array passes{1, 2, 3, 10, 50};
  const bool is_rare = std::ranges::count(rare, label) > 0;
  const int pass = passes[label == "manager_link.node_told" ? 0 : random_() % (is_rare ? 2 : passes.size())];
  const auto child = graph.start_doomed(place, label + ":" + std::to_string(pass) + ":kill");
  if (dies(*child)) {
    tally_.did("killed at " + label);
  } else {
    ++not_reached_[place.role + " " + label];
    child->signal(SIGKILL);
  }
  EXPECT_EQ(child->wait(), -SIGKILL) << place.role << " at " << label << ": " << child->errors();
  ++kills_;
}

void Storm::stop_for_a_moment(Graph& graph, Place& place) {
  place.child->stop();
  tally_.did("stopped until all others have got on (SIGSTOP)");
  EXPECT_EQ(trouble_of(graph, &place), "") << "while " << place.name << " was stopped";
  place.child->go_on();
}

TEST_F(Storm, NobodyNoticesThatProcessesVanishMoreThanThatTheyAreGone) {
  auto node = Node::create("judge");
  Graph graph;
  ASSERT_EQ(graph.trouble(), "");
  const auto manager = this->manager();
  ASSERT_TRUE(manager);
  const std::vector<Place*> mortals = graph.mortals();
  std::map<std::string, Graph::Belongings> before;
  const int wanted = kills_wanted();
  for (int next_look = 10; kills_ < wanted && !HasFailure();) {
    Place& place = *mortals[random_() % mortals.size()];
    if (random_() % 3 == 0) {
      strike(graph, place);
    } else {
      doom(graph, place);
    }
    if (kills_ < next_look) continue;
    next_look = kills_ + 10;
    ASSERT_EQ(trouble_of(graph), "") << "after " << kills_ << " kills, seed " << seed_wanted();
    if (random_() % 4 == 0) {
      Place& stopped = *mortals[random_() % mortals.size()];
      if (stopped.role != "server") stop_for_a_moment(graph, stopped);  // who has called it waits for it
    }
    if (before.empty() && kills_ >= 20) before = graph.belongings(*manager);
  }
  ASSERT_EQ(trouble_of(graph), "");
  end(graph, *node, before);
  std::cout << kills_ << " kills:\n";
  tally_.print();
  for (const auto& [label, times] : not_reached_) std::cout << "  " << times << " not reached in time: " << label << "\n";
}

}  // namespace
}  // namespace sinew::system
