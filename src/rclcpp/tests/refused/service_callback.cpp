// expects: std::shared_ptr<rmw_request_id_t> before them or not
#include <sinew/rclcpp.hpp>
struct Add {
  struct Request {
    int a = 0;
  };
  struct Response {
    int sum = 0;
  };
};
auto provide(sinew::rclcpp::Node& node) {
  return node.create_service<Add>("add", [](std::shared_ptr<int>, std::shared_ptr<Add::Request>, std::shared_ptr<Add::Response>) {});
}
