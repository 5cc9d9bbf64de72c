// A moving pattern in full HD, thirty times a second, drawn straight into shared memory: publishing costs the same as for one pixel.
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "sinew/sinew.hpp"

struct Picture {
  std::uint32_t width = 0, height = 0;
  std::string encoding;
  std::vector<std::uint8_t> pixels;
};

int main() {
  constexpr std::uint32_t width = 1920, height = 1080;
  auto node = sinew::Node::create("pattern_camera");
  auto publisher = node->create_publisher<Picture>("pattern/image", sinew::Qos{}.keep_last(4));
  for (std::uint32_t shift = 0;; shift += 8) {
    auto loan = publisher->loan();
    // What is allocated inside build() lies where the subscribers will read it.
    loan.build([&](Picture& picture) {
      picture.width = width;
      picture.height = height;
      picture.encoding = "mono8";
      picture.pixels.resize(std::size_t{width} * height);
      for (std::uint32_t y = 0; y < height; ++y) {
        for (std::uint32_t x = 0; x < width; ++x) picture.pixels[std::size_t{y} * width + x] = static_cast<std::uint8_t>((x + shift) ^ y);
      }
    });
    publisher->publish(std::move(loan));
    std::this_thread::sleep_for(std::chrono::milliseconds(33));
  }
}
