// Tests of what is written for rclcpp.
#pragma once

#include <builtin_interfaces/msg/duration.hpp>
#include <builtin_interfaces/msg/time.hpp>
#include <example_interfaces/srv/add_two_ints.hpp>
#include <functional>
#include <initializer_list>
#include <memory>
#include <sensor_msgs/msg/image.hpp>
#include <std_msgs/msg/int32.hpp>
#include <std_msgs/msg/string.hpp>
#include <string>
#include <vector>

#include "sinew/rclcpp.hpp"
#include "tests/system/harness.hpp"

namespace rclcpp = sinew::rclcpp;

namespace sinew::system {

using builtin_interfaces::msg::Time;
using example_interfaces::srv::AddTwoInts;
using sensor_msgs::msg::Image;
using std_msgs::msg::Int32;
using std_msgs::msg::String;

/// init() with these arguments behind the program's name.
inline void begin(std::initializer_list<const char*> arguments = {},
                  rclcpp::SignalHandlerOptions signals = rclcpp::SignalHandlerOptions::None) {
  std::vector<const char*> all = {"program"};
  all.insert(all.end(), arguments);
  rclcpp::init(static_cast<int>(all.size()), all.data(), signals);
}

/// Each test is between init() and shutdown().
class Rclcpp : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    begin();
  }
  void TearDown() override {
    rclcpp::shutdown();
    Domain::TearDown();
  }
};

/// Spins the node until the condition holds.
inline bool spin_until(const std::shared_ptr<rclcpp::Node>& node, const std::function<bool()>& condition) {
  return eventually([&] {
    rclcpp::spin_some(node);
    return condition();
  });
}

template <class Publisher>
void await_subscriptions(const Publisher& publisher, std::size_t count) {
  require(eventually([&] { return publisher->get_subscription_count() == count; }), "the subscriptions do not come, or do not go");
}

/// The sentence of the sinew::Error that `what` throws; "" when it throws none.
template <class What>
std::string sentence_of(What what) {
  try {
    what();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace sinew::system
