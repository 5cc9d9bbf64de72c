// Connected regions of marked cells in a grid: what both the images and the lidar scans come down to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace demo {

/// One region: its bounds, inclusive, and its cells as indices row * columns + column.
struct Component {
  std::uint32_t left = 0, top = 0, right = 0, bottom = 0;
  std::vector<std::uint32_t> cells;
};

/// The regions of cells that are not zero and touch at an edge or a corner. `marked` has columns times some rows of cells.
inline std::vector<Component> connected_components(std::vector<std::uint8_t> marked, std::uint32_t columns) {
  std::vector<Component> components;
  const auto rows = static_cast<std::uint32_t>(marked.size() / columns);
  for (std::uint32_t start = 0; start < marked.size(); ++start) {
    if (marked[start] == 0) continue;
    Component found{start % columns, start / columns, start % columns, start / columns, {start}};
    marked[start] = 0;
    // The list of cells is its own queue: cells behind `next` are still to be looked around.
    for (std::size_t next = 0; next < found.cells.size(); ++next) {
      const std::uint32_t column = found.cells[next] % columns, row = found.cells[next] / columns;
      found.left = std::min(found.left, column);
      found.right = std::max(found.right, column);
      found.bottom = std::max(found.bottom, row);
      for (std::uint32_t y = row - (row > 0); y <= std::min(row + 1, rows - 1); ++y) {
        for (std::uint32_t x = column - (column > 0); x <= std::min(column + 1, columns - 1); ++x) {
          std::uint8_t& mark = marked[y * columns + x];
          if (mark == 0) continue;
          mark = 0;
          found.cells.push_back(y * columns + x);
        }
      }
    }
    components.push_back(std::move(found));
  }
  return components;
}

}  // namespace demo
