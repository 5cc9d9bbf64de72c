// expects: so let each node be spun by a thread of its own
#include <sinew/rclcpp.hpp>
void run(const std::shared_ptr<sinew::rclcpp::Node>& node) {
  sinew::rclcpp::executors::MultiThreadedExecutor executor;
  (void)node;
}
