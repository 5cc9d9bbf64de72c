// The domain of the storm.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/storm/graph.hpp"
#include "tests/system/harness.hpp"

namespace sinew::system {

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
    Domain::TearDown();
  }
  std::string config() const { return folder() + "/rules.json"; }
};

/// What was done so often, for `make soak`: appended to the file that $SINEW_STORM_REPORT names.
inline void report_struck(const std::map<std::string, int>& struck) {
  const char* const report = std::getenv("SINEW_STORM_REPORT");
  if (!report) return;
  std::ofstream lines(report, std::ios::app);
  for (const auto& [how, times] : struck) lines << times << "\t" << how << "\n";
}

}  // namespace sinew::system
