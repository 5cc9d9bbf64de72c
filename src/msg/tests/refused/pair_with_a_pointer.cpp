// expects: a pointer cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  std::vector<std::pair<int, const char*>> entries;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
