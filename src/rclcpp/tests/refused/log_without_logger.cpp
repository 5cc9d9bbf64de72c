// expects: the first argument of RCLCPP_... is a logger
#include <sinew/rclcpp.hpp>
void log() {
  RCLCPP_INFO("hello", "%s", "world");
}
