// expects: a structure with a base class cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Base {
  int a;
};
struct Outer : Base {};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
