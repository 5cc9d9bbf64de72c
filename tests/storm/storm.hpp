// The domain of the storm.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include "sinew/sinew.hpp"
#include "tests/storm/graph.hpp"
#include "tests/system/harness.hpp"

namespace sinew::system {

/// What was done to the graph, how often, and what came of it.
class Tally {
 public:
  void did(const std::string& fault, int times = 1) {
    all_[fault].times += times;
    since_.insert(fault);
  }
  /// Whether everybody else is well. If not, whatever was done since the last time may be the reason.
  void look(bool is_well) {
    for (const std::string& fault : since_) all_[fault].noticed += is_well ? 0 : 1;
    since_.clear();
  }
  /// Something was left behind, by whatever it was.
  void left_behind() {
    for (auto& [fault, count] : all_) ++count.left;
  }
  void report() const {
    for (const auto& [fault, count] : all_) system::report({fault, count.times, count.noticed, count.left});
  }
  void print() const {
    for (const auto& [fault, count] : all_) std::cout << "  " << count.times << " " << fault << "\n";
  }

 private:
  struct Count {
    int times = 0, noticed = 0, left = 0;
  };
  std::map<std::string, Count> all_;
  std::set<std::string> since_;
};

/// Its rules let another user join. As Foreign, but also for those who cannot become another user.
class StormDomain : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    std::ofstream(config()) << R"({"join": {"uid": [12345]}})";
    ::setenv("SINEW_CONFIG", config().c_str(), 1);
    std::filesystem::permissions(folder(), std::filesystem::perms::others_exec, std::filesystem::perm_options::add);
  }
  void TearDown() override {
    std::filesystem::remove(config());
    ::unsetenv("SINEW_CONFIG");
    const bool had_failed = HasFailure();
    Domain::TearDown();
    if (HasFailure() && !had_failed) tally_.left_behind();
    tally_.report();
  }
  std::string config() const { return folder() + "/rules.json"; }

  /// "" when everybody else is well, and the tally knows.
  std::string trouble_of(Graph& graph, const Place* but = nullptr) {
    const std::string trouble = graph.trouble(but);
    tally_.look(trouble.empty());
    return trouble;
  }
  /// All end by themselves, and nothing is left of them.
  void end(Graph& graph, Node& node, const std::map<std::string, Graph::Belongings>& before) {
    std::string left;
    eventually([&] { return (left = what_has_grown(before, graph.belongings(manager().value_or(0)))).empty(); });
    left += graph.end();
    if (!eventually([&] { return node.domain_state().topics.empty(); })) left += "topics of workers that are gone";
    if (!left.empty()) tally_.left_behind();
    EXPECT_EQ(left, "");
  }

  Tally tally_;
};

}  // namespace sinew::system
