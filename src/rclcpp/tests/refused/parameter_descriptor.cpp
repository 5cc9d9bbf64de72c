// expects: there are no descriptors
#include <sinew/rclcpp.hpp>
struct ParameterDescriptor {};
auto declare(sinew::rclcpp::Node& node) {
  return node.declare_parameter("gain", 1.0, ParameterDescriptor());
}
