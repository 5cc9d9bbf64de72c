// A camera at the front of the robot: what it sees in 640 x 480, fifteen times a second, as `camera/image`.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nav_msgs/msg/odometry.hpp>
#include <sensor_msgs/msg/image.hpp>
#include <sinew/sinew.hpp>

#include "odometry.hpp"
#include "program.hpp"
#include "world.hpp"

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t width = 640, height = 480;
constexpr double focal_length = 500;                                  // pixels
constexpr double wall_height = 1.2, eye_height = 0.4, farthest = 25;  // metres

void draw(const World& world, const Place& eye, sensor_msgs::msg::Image& image) {
  image.width = width;
  image.height = height;
  image.encoding = "rgb8";
  image.step = width * 3;
  image.data.resize(std::size_t{image.step} * height);
  for (std::uint32_t x = 0; x < width; ++x) {
    const double aside = std::atan2(width / 2.0 - x, focal_length);
    const double away = world.distance({eye.x, eye.y, eye.heading + aside}, farthest) * std::cos(aside);
    const double top = height / 2.0 - focal_length * (wall_height - eye_height) / away;
    const double bottom = height / 2.0 + focal_length * eye_height / away;
    const double light = std::clamp(1.6 / (1 + 0.25 * away), 0.15, 1.0);  // what is far is dark
    std::uint8_t* pixel = image.data.data() + std::size_t{x} * 3;
    for (std::uint32_t y = 0; y < height; ++y, pixel += image.step) {
      const double shade = y < top ? 0.9 : y < bottom ? light : 0.35;
      pixel[0] = static_cast<std::uint8_t>(shade * (y < top ? 120 : y < bottom ? 220 : 140));
      pixel[1] = static_cast<std::uint8_t>(shade * (y < top ? 170 : y < bottom ? 170 : 150));
      pixel[2] = static_cast<std::uint8_t>(shade * (y < top ? 220 : y < bottom ? 110 : 150));
    }
  }
}

int run(const World& world) {
  std::shared_ptr<const nav_msgs::msg::Odometry> odometry;

  auto node = sinew::Node::create("camera");
  auto images = node->create_publisher<sensor_msgs::msg::Image>("camera/image", sinew::Qos{}.keep_last(4));
  auto positions = node->create_subscriber<nav_msgs::msg::Odometry>(
      "odom", [&](std::shared_ptr<const nav_msgs::msg::Odometry> newest) { odometry = std::move(newest); }, sinew::Qos{}.keep_last(1));
  auto timer = node->create_timer(66ms, [&] {
    if (!odometry) return;
    auto loan = images->loan();
    loan.build([&](sensor_msgs::msg::Image& image) {
      image.header = odometry->header;
      image.header.frame_id = "camera";
      draw(world, place_of(*odometry), image);
    });
    images->publish(std::move(loan));
  });
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  return run_with_map(argc, argv, run);
}
