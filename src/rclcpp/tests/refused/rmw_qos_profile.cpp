// expects: there is no rmw
#include <sinew/rclcpp.hpp>
auto profile() {
  return sinew::rclcpp::SensorDataQoS().get_rmw_qos_profile();
}
