// expects: the callback of a timer takes nothing
#include <sinew/rclcpp.hpp>
auto make(sinew::rclcpp::Node& node) {
  return node.create_wall_timer(std::chrono::seconds(1), [](int) {});
}
