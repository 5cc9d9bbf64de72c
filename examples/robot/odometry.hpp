// Between the messages of ROS and what this robot calculates with.
#pragma once

#include <builtin_interfaces/msg/time.hpp>
#include <chrono>
#include <cmath>
#include <nav_msgs/msg/odometry.hpp>

#include "world.hpp"

inline Place place_of(const nav_msgs::msg::Odometry& odometry) {
  const auto& pose = odometry.pose.pose;
  return {pose.position.x, pose.position.y, 2 * std::atan2(pose.orientation.z, pose.orientation.w)};  // it only turns around z
}

inline builtin_interfaces::msg::Time stamp_of_now() {
  using namespace std::chrono;
  const auto now = system_clock::now().time_since_epoch();
  const auto whole = duration_cast<seconds>(now);
  return {static_cast<std::int32_t>(whole.count()), static_cast<std::uint32_t>(nanoseconds(now - whole).count())};
}
