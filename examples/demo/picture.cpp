#include "picture.hpp"

#include <png.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

namespace demo {
namespace {

constexpr std::uint32_t line_width = 4;  // pixels

void draw_box(std::vector<std::uint8_t>& pixels, const Image& image, const Box& box) {
  const std::uint32_t right = std::min(box.left + box.width, image.width), bottom = std::min(box.top + box.height, image.height);
  for (std::uint32_t y = box.top; y < bottom; ++y) {
    const bool edge_row = y < box.top + line_width || y + line_width >= bottom;
    for (std::uint32_t x = box.left; x < right; ++x) {
      if (!edge_row && x >= box.left + line_width && x + line_width < right) continue;
      std::uint8_t* pixel = &pixels[(std::size_t{y} * image.width + x) * 3];
      pixel[0] = 255, pixel[1] = 64, pixel[2] = 32;
    }
  }
}

}  // namespace

void write_annotated(const std::filesystem::path& path, const Image& image, std::span<const Box> boxes) {
  std::vector<std::uint8_t> pixels = image.data;  // the message is shared, and read-only
  for (const Box& box : boxes) draw_box(pixels, image, box);
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = image.width;
  png.height = image.height;
  png.format = PNG_FORMAT_RGB;
  png.flags = PNG_IMAGE_FLAG_FAST;
  if (png_image_write_to_file(&png, path.c_str(), 0, pixels.data(), 0, nullptr) == 0) {
    throw std::runtime_error("the picture " + path.string() + " could not be written: " + png.message);
  }
}

}  // namespace demo
