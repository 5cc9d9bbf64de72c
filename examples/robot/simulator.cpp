// The wheels of the robot, and the world around them: drives as `cmd_vel` says, and tells by `odom` where that has led.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <geometry_msgs/msg/twist.hpp>
#include <nav_msgs/msg/odometry.hpp>
#include <sinew/sinew.hpp>

#include "odometry.hpp"
#include "program.hpp"
#include "world.hpp"

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr double robot_radius = 0.2;          // metres
constexpr Clock::duration obeys_for = 300ms;  // a controller that falls silent has the robot stand still

nav_msgs::msg::Odometry odometry_of(const Place& place, const geometry_msgs::msg::Twist& twist) {
  nav_msgs::msg::Odometry odometry;
  odometry.header.stamp = stamp_of_now();
  odometry.header.frame_id = "map";
  odometry.child_frame_id = "base_link";
  odometry.pose.pose.position = {place.x, place.y, 0};
  odometry.pose.pose.orientation = {0, 0, std::sin(place.heading / 2), std::cos(place.heading / 2)};
  odometry.twist.twist = twist;
  return odometry;
}

int run(const World& world) {
  Place place = world.start();
  geometry_msgs::msg::Twist wanted;
  Clock::time_point wanted_at{}, moved_at = Clock::now();

  auto node = sinew::Node::create("simulator");
  auto odometry = node->create_publisher<nav_msgs::msg::Odometry>("odom");
  auto commands = node->create_subscriber<geometry_msgs::msg::Twist>("cmd_vel", [&](const geometry_msgs::msg::Twist& twist) {
    wanted = twist;
    wanted_at = Clock::now();
  });
  auto timer = node->create_timer(20ms, [&] {
    const auto now = Clock::now();
    // Who was kept from it does not jump into walls.
    const double seconds = std::min(std::chrono::duration<double>(now - moved_at).count(), 0.1);
    moved_at = now;
    if (now - wanted_at > obeys_for) wanted = {};
    Place next = place;
    next.heading += wanted.angular.z * seconds;
    next.x += wanted.linear.x * seconds * std::cos(next.heading);
    next.y += wanted.linear.x * seconds * std::sin(next.heading);
    if (world.collides(next, robot_radius)) {
      std::puts("bumped into a wall");
      next = {place.x, place.y, next.heading};
    }
    place = next;
    odometry->publish(odometry_of(place, wanted));
  });
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  return run_with_map(argc, argv, run);
}
