// expects: parameters are given on the command line and do not change
#include <sinew/rclcpp.hpp>
void listen(sinew::rclcpp::Node& node) {
  node.add_on_set_parameters_callback([] {});
}
