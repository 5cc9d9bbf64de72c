// expects: takes const T&, std::shared_ptr<const T>, std::shared_ptr<T> or std::unique_ptr<T>
#include <sinew/rclcpp.hpp>
struct Text {
  std::string data;
};
auto subscribe(sinew::rclcpp::Node& node) {
  return node.create_subscription<Text>("text", 10, [](int) {});
}
