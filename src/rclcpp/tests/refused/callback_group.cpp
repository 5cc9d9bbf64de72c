// expects: callbacks of a node never overlap
#include <sinew/rclcpp.hpp>
sinew::rclcpp::CallbackGroup::SharedPtr group(sinew::rclcpp::Node& node) {
  return node.create_callback_group(sinew::rclcpp::CallbackGroupType::Reentrant);
}
