// One run of a graph: what is measured, and what came out of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "worker.hpp"

namespace sinew::bench::graphs {

/// A way of carrying the messages.
struct Mode {
  std::string_view name, help;
  std::string_view program;  ///< lies beside this one
  enum class Beside {
    nobody,
    manager,
    rosmaster
  } beside;  ///< what has to run: a manager is started, rosmaster must be there (ROS_MASTER_URI)
  Nodes nodes;
};

std::span<const Mode> modes();

/// Runs all nodes for so many seconds in fresh processes, in a domain of their own, and returns the row (README.md says what is in it). Throws std::exception
/// when it cannot be measured.
nlohmann::json run(const std::string& graph, const Mode& mode, unsigned seconds, bool awake);

}  // namespace sinew::bench::graphs
