// Finds what moves between the images of a camera that stands still, or nearly so.
#pragma once

#include <cstdint>
#include <vector>

#include "messages.hpp"

namespace demo {

/// Compares each image with the one before, at a sixth of its size. Not thread-safe.
class MotionDetector {
 public:
  /// Boxes around the regions that changed, largest first, in pixels of `image` ("rgb8"); none for the first image, after a change of size, and when
  /// most of the picture changed at once, since that is a cut or a turn of the camera and not motion.
  std::vector<Box> find(const Image& image);

 private:
  void shrink(const Image& image, std::vector<std::uint8_t>& grey) const;
  std::vector<std::uint8_t> changed_cells(const std::vector<std::uint8_t>& grey) const;

  std::uint32_t columns_ = 0, rows_ = 0;
  std::vector<std::uint8_t> before_, now_;
};

}  // namespace demo
