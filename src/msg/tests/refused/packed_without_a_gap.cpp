// expects: a packed structure cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct __attribute__((packed)) Outer {  // its number is aligned in the first of a vector, and not in the second
  int a;
  char b;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
