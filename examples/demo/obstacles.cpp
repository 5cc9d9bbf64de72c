#include "obstacles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "components.hpp"

namespace demo {
namespace {

constexpr float reach = 20.0F;          // m
constexpr float near = 0.5F;            // m
constexpr float cell = 0.2F;            // m
constexpr std::uint32_t columns = 200;  // 2 * reach / cell
constexpr int ground_radius = 5;        // cells
constexpr float lowest = 0.3F;          // m above ground
constexpr float highest = 2.5F;
constexpr int dense = 4;                // points that make a cell part of an obstacle
constexpr std::uint32_t smallest = 30;  // points of an obstacle
constexpr auto nowhere = std::numeric_limits<std::uint32_t>::max();

/// The cell a point falls into, or nowhere.
std::uint32_t cell_of(const Point& p) {
  if (!(std::abs(p.x) < reach && std::abs(p.y) < reach) || p.x * p.x + p.y * p.y + p.z * p.z < near * near) return nowhere;
  const auto index = [](float at) { return std::min(static_cast<std::uint32_t>((at + reach) / cell), columns - 1); };
  return index(p.y) * columns + index(p.x);
}

/// The least value within `ground_radius` of each cell: along rows, then along columns, which is the same as over the square.
std::vector<float> minimum_around(std::vector<float> values) {
  std::vector<float> result(values.size());
  for (const std::uint32_t stride : {1U, columns}) {
    const std::uint32_t other = stride == 1 ? columns : 1;
    for (std::uint32_t line = 0; line < columns; ++line) {
      for (int i = 0; i < static_cast<int>(columns); ++i) {
        float least = std::numeric_limits<float>::infinity();
        for (int j = std::max(i - ground_radius, 0); j <= std::min(i + ground_radius, static_cast<int>(columns) - 1); ++j) {
          least = std::min(least, values[line * other + static_cast<std::uint32_t>(j) * stride]);
        }
        result[line * other + static_cast<std::uint32_t>(i) * stride] = least;
      }
    }
    std::swap(values, result);
  }
  return values;
}

void add(const Point& p, Obstacle& obstacle) {
  const std::array at{p.x, p.y, p.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    obstacle.low[axis] = obstacle.points == 0 ? at[axis] : std::min(obstacle.low[axis], at[axis]);
    obstacle.high[axis] = obstacle.points == 0 ? at[axis] : std::max(obstacle.high[axis], at[axis]);
  }
  ++obstacle.points;
}

}  // namespace

std::vector<Obstacle> find_obstacles(std::span<const Point> points) {
  std::vector<float> floor(std::size_t{columns} * columns, std::numeric_limits<float>::infinity());
  for (const Point& p : points) {
    if (const std::uint32_t at = cell_of(p); at != nowhere) floor[at] = std::min(floor[at], p.z);
  }
  floor = minimum_around(std::move(floor));

  const auto stands_in = [&](const Point& p) {
    const std::uint32_t at = cell_of(p);
    if (at == nowhere) return nowhere;
    const float above = p.z - floor[at];
    return above > lowest && above <= highest ? at : nowhere;
  };
  std::vector<std::uint8_t> counts(std::size_t{columns} * columns, 0), marked(std::size_t{columns} * columns, 0);
  for (const Point& p : points) {
    const std::uint32_t at = stands_in(p);
    if (at == nowhere || counts[at] == dense) continue;
    if (++counts[at] == dense) marked[at] = 1;
  }

  std::vector<std::uint32_t> owner(std::size_t{columns} * columns, nowhere);
  std::vector<Obstacle> clusters;
  for (const Component& component : connected_components(std::move(marked), columns)) {
    for (const std::uint32_t at : component.cells) owner[at] = static_cast<std::uint32_t>(clusters.size());
    clusters.emplace_back();
  }
  for (const Point& p : points) {
    const std::uint32_t at = stands_in(p);
    if (at != nowhere && owner[at] != nowhere) add(p, clusters[owner[at]]);
  }

  std::erase_if(clusters, [](const Obstacle& cluster) { return cluster.points < smallest; });
  std::sort(clusters.begin(), clusters.end(), [](const Obstacle& a, const Obstacle& b) { return a.points > b.points; });
  return clusters;
}

}  // namespace demo
