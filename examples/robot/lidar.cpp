// A lidar on top of the robot: 720 distances around it, ten times a second, as `scan`.
#include <unistd.h>

#include <chrono>
#include <memory>
#include <nav_msgs/msg/odometry.hpp>
#include <numbers>
#include <sensor_msgs/msg/laser_scan.hpp>
#include <sinew/sinew.hpp>

#include "odometry.hpp"
#include "program.hpp"
#include "world.hpp"

using namespace std::chrono_literals;

namespace {

constexpr std::size_t rays = 720;
constexpr double farthest = 12;  // metres

int run(const World& world) {
  std::shared_ptr<const nav_msgs::msg::Odometry> odometry;

  auto node = sinew::Node::create("lidar");
  auto scans = node->create_publisher<sensor_msgs::msg::LaserScan>("scan");
  // Kept as long as it is the newest: nothing is copied for that.
  auto positions = node->create_subscriber<nav_msgs::msg::Odometry>(
      "odom", [&](std::shared_ptr<const nav_msgs::msg::Odometry> newest) { odometry = std::move(newest); }, sinew::Qos{}.keep_last(1));
  auto timer = node->create_timer(100ms, [&] {
    if (!odometry) return;
    auto loan = scans->loan();
    loan.build([&](sensor_msgs::msg::LaserScan& scan) {
      scan.header = odometry->header;
      scan.header.frame_id = "base_link";
      scan.angle_min = -std::numbers::pi_v<float>;
      scan.angle_max = std::numbers::pi_v<float>;
      scan.angle_increment = 2 * std::numbers::pi_v<float> / rays;
      scan.scan_time = 0.1F;
      scan.range_min = 0.05F;
      scan.range_max = farthest;
      scan.ranges.resize(rays);
      Place from = place_of(*odometry);
      from.heading += scan.angle_min;
      for (float& range : scan.ranges) {
        range = static_cast<float>(world.distance(from, farthest));
        from.heading += scan.angle_increment;
      }
    });
    scans->publish(std::move(loan));
  });
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  return run_with_map(argc, argv, run);
}
