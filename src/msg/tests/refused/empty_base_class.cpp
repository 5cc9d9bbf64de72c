// expects: a structure with a base class cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Tag {};
struct Outer : Tag {
  int a;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
