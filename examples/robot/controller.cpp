// Follows the newest `plan` by `cmd_vel`: at half the speed with little in the `battery`, and not at all while `scan` sees something close in front, or after a call of the service `stop`.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <geometry_msgs/msg/twist.hpp>
#include <memory>
#include <nav_msgs/msg/odometry.hpp>
#include <nav_msgs/msg/path.hpp>
#include <numbers>
#include <sensor_msgs/msg/battery_state.hpp>
#include <sensor_msgs/msg/laser_scan.hpp>
#include <sinew/sinew.hpp>
#include <std_srvs/srv/set_bool.hpp>

#include "odometry.hpp"
#include "world.hpp"

using namespace std::chrono_literals;
using geometry_msgs::msg::Twist;
using nav_msgs::msg::Odometry;
using nav_msgs::msg::Path;
using sensor_msgs::msg::BatteryState;
using sensor_msgs::msg::LaserScan;
using std_srvs::srv::SetBool;
using Clock = std::chrono::steady_clock;

namespace {

constexpr double look_ahead = 0.7;  // metres
constexpr double arrived = 0.25;

/// The newest message of a topic, and when it came.
template <class T>
struct Newest {
  std::shared_ptr<const T> message;
  Clock::time_point at{};

  void operator()(std::shared_ptr<const T> newest) {
    message = std::move(newest);
    at = Clock::now();
  }
  bool is_fresh() const { return message && Clock::now() - at < 500ms; }
};

double nearest_in_front(const LaserScan& scan) {
  double nearest = scan.range_max;
  for (std::size_t ray = 0; ray < scan.ranges.size(); ++ray) {
    const double angle = scan.angle_min + static_cast<double>(ray) * scan.angle_increment;
    if (std::abs(angle) < 0.4) nearest = std::min<double>(nearest, scan.ranges[ray]);
  }
  return nearest;
}

/// What leads from a place to the point of the plan that is `look_ahead` away from where the plan comes nearest to it (pure pursuit).
Twist pursue(const Path& plan, const Place& place, double speed) {
  const auto away = [&](std::size_t at) {
    const auto& point = plan.poses[at].pose.position;
    return std::hypot(point.x - place.x, point.y - place.y);
  };
  std::size_t target = 0;
  for (std::size_t at = 1; at < plan.poses.size(); ++at) {
    if (away(at) < away(target)) target = at;
  }
  while (target + 1 < plan.poses.size() && away(target) < look_ahead) ++target;
  if (away(target) < arrived) return {};
  const auto& point = plan.poses[target].pose.position;
  const double turn = std::remainder(std::atan2(point.y - place.y, point.x - place.x) - place.heading, 2 * std::numbers::pi);
  Twist twist;
  twist.linear.x = std::abs(turn) > 1 ? 0 : speed * std::cos(turn);
  twist.angular.z = std::clamp(2 * turn, -1.5, 1.5);
  return twist;
}

int run(double speed) {
  Newest<Path> plan;
  Newest<Odometry> odometry;
  Newest<LaserScan> scan;
  Newest<BatteryState> battery;
  bool is_stopped = false;

  // Callbacks of a node run one at a time, so that what they share needs no lock.
  auto node = sinew::Node::create("controller");
  auto commands = node->create_publisher<Twist>("cmd_vel");
  auto plans = node->create_subscriber<Path>("plan", std::ref(plan), sinew::Qos{}.keep_last(1).reliable().transient_local());
  auto positions = node->create_subscriber<Odometry>("odom", std::ref(odometry), sinew::Qos{}.keep_last(1));
  auto scans = node->create_subscriber<LaserScan>("scan", std::ref(scan), sinew::Qos{}.keep_last(1));
  auto batteries = node->create_subscriber<BatteryState>("battery", std::ref(battery), sinew::Qos{}.keep_last(1));
  auto stop = node->create_service_provider<SetBool::Request, SetBool::Response>("stop", [&](const SetBool::Request& request) {
    is_stopped = request.data;
    std::puts(is_stopped ? "stopped" : "going on");
    return SetBool::Response{true, is_stopped ? "stopped" : "going on"};
  });
  auto timer = node->create_timer(50ms, [&] {
    Twist twist;
    if (!is_stopped && plan.message && !plan.message->poses.empty() && odometry.is_fresh() && scan.is_fresh()) {
      const bool is_low = battery.message && battery.message->percentage < 0.2F;
      twist = pursue(*plan.message, place_of(*odometry.message), is_low ? speed / 2 : speed);
      if (nearest_in_front(*scan.message) < 0.35) twist.linear.x = 0;
    }
    commands->publish(twist);
  });
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  const double speed = argc == 2 ? std::atof(argv[1]) : 0;
  if (speed <= 0) {
    std::fputs("usage: controller SPEED (m/s)\n", stderr);
    return 2;
  }
  try {
    return run(speed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "controller: %s\n", error.what());
    return 1;
  }
}
