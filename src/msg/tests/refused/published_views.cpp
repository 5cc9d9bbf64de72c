// expects: this message has views (std::span or std::string_view), which only subscribers can use: publish the type with std::vector and std::string in their places
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Line {
  std::string_view text;
};
struct Outer {
  std::vector<Line> lines;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::published_message_of<robot::Outer>();
