#include "motion.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "components.hpp"

namespace demo {
namespace {

constexpr std::uint32_t cell = 6;            // pixels per cell, both ways
constexpr int threshold = 18;                // of 255: above the noise of a compressed video
constexpr std::size_t reach = 2;             // cells around a changed one that count as changed too
constexpr std::size_t smallest_region = 80;  // cells

}  // namespace

void MotionDetector::shrink(const Image& image, std::vector<std::uint8_t>& grey) const {
  grey.resize(std::size_t{columns_} * rows_);
  for (std::uint32_t row = 0; row < rows_; ++row) {
    // Two pixels of the middle line stand for the cell: reading one line in six keeps the detector off the memory bus.
    const std::uint8_t* line = image.data.data() + (std::size_t{row} * cell + cell / 2) * image.width * 3;
    for (std::uint32_t column = 0; column < columns_; ++column) {
      const std::uint8_t* p = line + std::size_t{column} * cell * 3;
      const int two = 2 * (p[3] + p[12]) + 5 * (p[4] + p[13]) + p[5] + p[14];  // red, green and blue weigh 2 : 5 : 1
      grey[std::size_t{row} * columns_ + column] = static_cast<std::uint8_t>(two / 16);
    }
  }
}

std::vector<std::uint8_t> MotionDetector::changed_cells(const std::vector<std::uint8_t>& grey) const {
  std::vector<std::uint8_t> changed(grey.size(), 0);
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::size_t column = 0; column < columns_; ++column) {
      const std::size_t at = row * columns_ + column;
      if (std::abs(grey[at] - before_[at]) <= threshold) continue;
      // An evenly coloured body only changes along its outline, and should still be one region.
      for (std::size_t y = row - std::min(row, reach); y <= std::min<std::size_t>(row + reach, rows_ - 1); ++y) {
        for (std::size_t x = column - std::min(column, reach); x <= std::min<std::size_t>(column + reach, columns_ - 1); ++x) {
          changed[y * columns_ + x] = 1;
        }
      }
    }
  }
  return changed;
}

std::vector<Box> MotionDetector::find(const Image& image) {
  if (image.encoding != "rgb8" || image.data.size() != std::size_t{image.width} * image.height * 3) {
    throw std::invalid_argument("the motion detector needs rgb8 images of width * height * 3 bytes");
  }
  const bool first = image.width / cell != columns_ || image.height / cell != rows_;
  columns_ = image.width / cell;
  rows_ = image.height / cell;
  shrink(image, now_);
  std::vector<Box> boxes;
  if (!first) {
    std::vector<std::uint8_t> changed = changed_cells(now_);
    const auto count = static_cast<std::size_t>(std::count(changed.begin(), changed.end(), 1));
    if (count <= changed.size() / 2) {
      for (const Component& region : connected_components(std::move(changed), columns_)) {
        if (region.cells.size() < smallest_region) continue;
        boxes.push_back(
            {region.left * cell, region.top * cell, (region.right - region.left + 1) * cell, (region.bottom - region.top + 1) * cell});
      }
    }
  }
  std::swap(before_, now_);
  std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.width * a.height > b.width * b.height; });
  return boxes;
}

}  // namespace demo
