// expects: this message has a std::map or std::unordered_map, which only subscribers can use
#include <map>
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  std::optional<std::map<int, int>> map;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::published_message_of<robot::Outer>();
