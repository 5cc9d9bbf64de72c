// expects: callbacks of a node never overlap
#include <sinew/rclcpp.hpp>
void group(sinew::rclcpp::Node& node) {
  node.create_callback_group(1);
}
