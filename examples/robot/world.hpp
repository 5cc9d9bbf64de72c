// The world that the robot is in, and what a sensor at some place of it meets.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

struct Place {
  double x = 0, y = 0;  // metres from the lower left corner of the map
  double heading = 0;   // radians, anticlockwise from the x axis
};

/// A map of characters: '#' is wall, 'S' is where the robot starts, everything else is floor. A character is a square of 0.5 m.
class World {
 public:
  /// Throws std::runtime_error when there is no such file, or no 'S' in it.
  explicit World(const std::string& file);

  Place start() const noexcept { return start_; }
  /// Whether something round of that radius does not fit there.
  bool collides(const Place& place, double radius) const noexcept;
  /// How far it is to the next wall from a place, in the direction of its heading; at most `farthest`.
  double distance(const Place& from, double farthest) const noexcept;

 private:
  bool is_wall(double x, double y) const noexcept;

  std::vector<std::string> rows_;  // the first is the lowest
  Place start_;
};
