// Judges the runs of the demo and sets them side by side.
#pragma once

#include <string>
#include <vector>

#include "pipeline.hpp"

namespace demo {

/// What is wrong with a run, in sentences; empty when nothing is: topics that were silent, inputs that got nothing, messages that were refused, and, over sinew, payload bytes copied on
/// the camera's or the lidar's topic.
std::vector<std::string> complaints(const Outcome& outcome, const std::string& transport);

/// Both runs, topic by topic: rates, latencies, losses, bytes copied per message, and the processor time of all processes.
std::string side_by_side(const Outcome& sinew, const Outcome& tcp);

}  // namespace demo
