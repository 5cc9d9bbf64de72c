#include "world.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <numbers>
#include <stdexcept>

namespace {

constexpr double square = 0.5;

}  // namespace

World::World(const std::string& file) {
  std::ifstream map(file);
  if (!map) throw std::runtime_error("there is no map " + file);
  for (std::string row; std::getline(map, row);) rows_.push_back(row);
  std::reverse(rows_.begin(), rows_.end());
  for (std::size_t y = 0; y < rows_.size(); ++y) {
    if (const std::size_t x = rows_[y].find('S'); x != std::string::npos) {
      start_ = {(static_cast<double>(x) + 0.5) * square, (static_cast<double>(y) + 0.5) * square, 0};
      return;
    }
  }
  throw std::runtime_error("no 'S' in the map " + file + " says where to start");
}

bool World::collides(const Place& place, double radius) const noexcept {
  for (int eighth = 0; eighth < 8; ++eighth) {
    const double angle = eighth * std::numbers::pi / 4;
    if (is_wall(place.x + radius * std::cos(angle), place.y + radius * std::sin(angle))) return true;
  }
  return false;
}

double World::distance(const Place& from, double farthest) const noexcept {
  // From one line of the grid to the next, whichever comes first.
  const double dx = std::cos(from.heading), dy = std::sin(from.heading);
  const auto to_next = [](double at, double step) {
    if (step == 0) return std::numeric_limits<double>::infinity();
    const double line = step > 0 ? std::floor(at / square) * square + square : std::ceil(at / square) * square - square;
    return (line - at) / step;
  };
  double walked = 0;
  while (walked < farthest) {
    walked += std::min(to_next(from.x + walked * dx, dx), to_next(from.y + walked * dy, dy)) + 1e-6;
    if (is_wall(from.x + walked * dx, from.y + walked * dy)) return std::min(walked, farthest);
  }
  return farthest;
}

bool World::is_wall(double x, double y) const noexcept {
  if (x < 0 || y < 0) return true;
  const auto column = static_cast<std::size_t>(x / square), row = static_cast<std::size_t>(y / square);
  return row >= rows_.size() || column >= rows_[row].size() || rows_[row][column] == '#';
}
