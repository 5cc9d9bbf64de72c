#include "fuse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace demo {
namespace {

using Vector = std::array<double, 3>;

/// v turned by the unit quaternion q.
Vector rotate(const std::array<double, 4>& q, const Vector& v) {
  const auto [w, x, y, z] = q;
  // t = 2 (q x v); the result is v + w t + q x t.
  const Vector t{2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])};
  return {v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2], v[2] + w * t[2] + x * t[1] - y * t[0]};
}

/// Whether the direction (forward, left) of the drone falls into a box of the picture.
bool lies_in_motion(double forward, double left, const Motion& motion) {
  if (forward <= 0) return false;
  const double half = motion.image_width / 2.0;  // a picture 90 degrees wide is as wide as twice its distance
  const double column = half - half * left / forward;
  return std::any_of(motion.boxes.begin(), motion.boxes.end(),
                     [&](const Box& box) { return column >= box.left && column < box.left + box.width; });
}

}  // namespace

void fuse(const State& state, const Obstacles& obstacles, const Motion& motion, World& world) {
  world.header.stamp_ns = obstacles.header.stamp_ns;
  world.position = state.position;
  world.obstacles.reserve(obstacles.obstacles.size());
  for (const Obstacle& obstacle : obstacles.obstacles) {
    Vector seen{};
    for (std::size_t axis = 0; axis < 3; ++axis) seen[axis] = (obstacle.low[axis] + obstacle.high[axis]) / 2.0;
    const Vector offset = rotate(state.orientation, seen);
    Tracked tracked;
    tracked.distance = std::sqrt(seen[0] * seen[0] + seen[1] * seen[1] + seen[2] * seen[2]);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      tracked.centre[axis] = state.position[axis] + offset[axis];
      if (tracked.distance > 0) tracked.closing_speed += state.velocity[axis] * offset[axis] / tracked.distance;
    }
    tracked.moving = lies_in_motion(seen[0], seen[1], motion);
    world.obstacles.push_back(tracked);
  }
  std::sort(world.obstacles.begin(), world.obstacles.end(), [](const Tracked& a, const Tracked& b) { return a.distance < b.distance; });
  if (world.obstacles.empty()) {
    world.advice = "clear";
    return;
  }
  const Tracked& nearest = world.obstacles.front();
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(), "%s: nearest obstacle at %.1f m, %s at %.1f m/s%s",
                nearest.closing_speed > 0.5 ? "slow down" : "go on", nearest.distance, nearest.closing_speed > 0 ? "closing" : "opening",
                std::abs(nearest.closing_speed), nearest.moving ? ", and it moves" : "");
  world.advice = text.data();
}

}  // namespace demo
