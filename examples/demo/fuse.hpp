// Puts what the sensors found into one picture of the world.
#pragma once

#include "messages.hpp"

namespace demo {

/// Fills `world` (but for what the link sets) from the latest of each. The lidar looks along the drone's own axes; the camera looks forward (x), 90 degrees wide. An
/// obstacle counts as moving when its direction lies within a box of motion.
void fuse(const State& state, const Obstacles& obstacles, const Motion& motion, World& world);

}  // namespace demo
