// expects: a pointer cannot be in a message
#include <map>
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  std::map<int, int*> map;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
