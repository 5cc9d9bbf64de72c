// expects: a parameter is a bool, an integer, a floating-point number, a string
#include <sinew/rclcpp.hpp>
struct Gains {
  double p = 0;
};
auto declare(sinew::rclcpp::Node& node) {
  return node.declare_parameter("gains", Gains());
}
