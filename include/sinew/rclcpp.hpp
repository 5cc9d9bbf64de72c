// What programs that are written for ROS 2's rclcpp include in its place: the names that they know, on sinew's nodes. docs/rclcpp.md is the guide.
//
//   #include <sinew/rclcpp.hpp>
//   namespace rclcpp = sinew::rclcpp;
#pragma once

#include "sinew/rclcpp/context.hpp"       // IWYU pragma: export
#include "sinew/rclcpp/executors.hpp"     // IWYU pragma: export
#include "sinew/rclcpp/logging.hpp"       // IWYU pragma: export
#include "sinew/rclcpp/node.hpp"          // IWYU pragma: export
#include "sinew/rclcpp/parameter.hpp"     // IWYU pragma: export
#include "sinew/rclcpp/publisher.hpp"     // IWYU pragma: export
#include "sinew/rclcpp/qos.hpp"           // IWYU pragma: export
#include "sinew/rclcpp/service.hpp"       // IWYU pragma: export
#include "sinew/rclcpp/subscription.hpp"  // IWYU pragma: export
#include "sinew/rclcpp/time.hpp"          // IWYU pragma: export
#include "sinew/rclcpp/timer.hpp"         // IWYU pragma: export
