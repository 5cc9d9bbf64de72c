// expects: the callback of async_send_request takes rclcpp::Client<S>::SharedFuture
#include <sinew/rclcpp.hpp>
struct Add {
  struct Request {
    int a = 0;
  };
  struct Response {
    int sum = 0;
  };
};
void ask(sinew::rclcpp::Client<Add>& client) {
  client.async_send_request(std::make_shared<Add::Request>(), [](int) {});
}
