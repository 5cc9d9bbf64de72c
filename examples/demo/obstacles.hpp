// Finds what stands on the ground in a lidar scan.
#pragma once

#include <span>
#include <vector>

#include "messages.hpp"

namespace demo {

/// Boxes around clusters of points more than 0.3 m above the ground beneath them and at most 2.5 m, within 20 m of the sensor, largest cluster first.
/// The ground may slope: it is the lowest point within about a metre. Points within 0.5 m of the sensor are taken for returns from the carrier, or none.
std::vector<Obstacle> find_obstacles(std::span<const Point> points);

}  // namespace demo
