// Messages of the shape that those of ROS 2 have in C++.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace builtin_interfaces::msg {
struct Time {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
};
struct Duration {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
};
}  // namespace builtin_interfaces::msg

namespace std_msgs::msg {
struct Header {
  builtin_interfaces::msg::Time stamp;
  std::string frame_id;
};
struct String {
  std::string data;
};
struct Int32 {
  std::int32_t data = 0;
};
}  // namespace std_msgs::msg

namespace sensor_msgs::msg {
struct Image {
  std_msgs::msg::Header header;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::string encoding;
  std::uint8_t is_bigendian = 0;
  std::uint32_t step = 0;
  std::vector<std::uint8_t> data;
};
}  // namespace sensor_msgs::msg

namespace example_interfaces::srv {
struct AddTwoInts {
  struct Request {
    std::int64_t a = 0;
    std::int64_t b = 0;
  };
  struct Response {
    std::int64_t sum = 0;
  };
};
}  // namespace example_interfaces::srv
