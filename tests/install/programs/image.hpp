// What camera and viewer exchange: a full-HD colour image, as a struct of standard types that nothing describes to sinew. Every byte of it follows from its number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

struct Image {
  struct Header {
    std::uint64_t number = 0;
    std::string frame;
  } header;
  std::uint32_t height = 0, width = 0;
  std::string encoding;
  std::vector<std::uint8_t> data;
};

inline constexpr std::uint32_t height = 1080, width = 1920;
inline constexpr auto frame = "the optical frame of the left camera of the head",
                      encoding = "rgb8, which is too long to live inside of a string";

inline std::uint8_t byte_of(std::uint64_t number) {
  return static_cast<std::uint8_t>(number * 7 + 1);
}

inline bool is_right(const Image& image) {
  const auto& data = image.data;
  // Each byte as the one before it: that is compared at the speed of memory.
  const bool whole = data.size() == std::size_t{height} * width * 3 && data.front() == byte_of(image.header.number) &&
                     std::equal(data.begin() + 1, data.end(), data.begin());
  return whole && image.header.frame == frame && image.height == height && image.width == width && image.encoding == encoding;
}
