// The other recorded inputs of the demo, read once from files.
#pragma once

#include <filesystem>
#include <vector>

#include "messages.hpp"

namespace demo {

/// A lidar scan from a binary little-endian PLY file with float x, y, z and one more float, the intensity. Throws std::runtime_error, with the path, on
/// any other file.
std::vector<Point> read_scan(const std::filesystem::path& path);

/// A flight in EuRoC's ground-truth format: a line per state, comma-separated, time in nanoseconds first. Header::stamp_ns is the recorded time.
/// Throws std::runtime_error, with the path and the line, on any other file.
std::vector<State> read_flight(const std::filesystem::path& path);

}  // namespace demo
