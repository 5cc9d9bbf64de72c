// Cameras and recognisers of lights, after TZC, section IV.E and figures 1 and 10.
#include <array>
#include <cstdlib>
#include <cstring>

#include "driver.hpp"
#include "work.hpp"

namespace sinew::bench::peers {

namespace {

constexpr std::size_t width = 1920, height = 1080, channels = 3;
constexpr std::size_t roi_width = 480, roi_height = 360, template_side = 24, stride = 6;
using Color = std::array<std::uint8_t, channels>;
constexpr std::array<Color, 3> lights{{{220, 30, 20}, {30, 210, 60}, {230, 200, 40}}};
constexpr Color street{90, 95, 100};

/// The image number n shows light n % 3, on a street.
std::size_t light_of(std::uint64_t number) {
  return number % lights.size();
}

class Light final : public Work {
 public:
  explicit Light(unsigned subscriber) : logs_(subscriber == 0), wanted_((subscriber + 2) % lights.size()) {
    for (std::size_t row = 0; row < height; ++row) {
      for (std::size_t column = 0; column < width; ++column)
        std::memcpy(&image_[(row * width + column) * channels], street.data(), channels);
    }
  }

  std::size_t prepare(std::uint64_t) override { return image_.size(); }

  using Work::fill;
  void fill(const Header& header, std::span<std::uint8_t> payload) override {
    std::memcpy(payload.data(), image_.data(), payload.size());
    for (std::size_t row = 0; row < template_side; ++row) {
      for (std::size_t column = 0; column < template_side; ++column) {
        std::memcpy(&payload[((height / 2 + row) * width + width / 2 + column) * channels], lights[light_of(header.number)].data(),
                    channels);
      }
    }
  }

  /// The first subscriber only takes down when the image was there. The others look for their light by the least sum of differences, as a template matcher does, where lights may be.
  bool use(const Header& header, std::span<const std::uint8_t> payload) override {
    if (payload.size() != image_.size()) return false;
    if (logs_) return true;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t row = (height - roi_height) / 2; row + template_side < (height + roi_height) / 2; row += stride) {
      for (std::size_t column = (width - roi_width) / 2; column + template_side < (width + roi_width) / 2; column += stride) {
        least = std::min(least, difference(payload, row, column));
      }
    }
    return (least == 0) == (light_of(header.number) == wanted_);
  }

 private:
  std::uint64_t difference(std::span<const std::uint8_t> image, std::size_t row, std::size_t column) const {
    std::uint64_t sum = 0;
    for (std::size_t y = 0; y < template_side; ++y) {
      const std::uint8_t* at = &image[((row + y) * width + column) * channels];
      for (std::size_t x = 0; x < template_side; ++x, at += channels) {
        for (std::size_t channel = 0; channel < channels; ++channel)
          sum += static_cast<std::uint64_t>(std::abs(at[channel] - lights[wanted_][channel]));
      }
    }
    return sum;
  }

  const bool logs_;
  const std::size_t wanted_;
  std::vector<std::uint8_t> image_ = std::vector<std::uint8_t>(width * height * channels);
};

}  // namespace

std::unique_ptr<Work> light_work(unsigned subscriber) {
  return std::make_unique<Light>(subscriber);
}

}  // namespace sinew::bench::peers
