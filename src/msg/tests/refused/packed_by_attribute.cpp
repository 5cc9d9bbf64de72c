// expects: a packed structure cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct __attribute__((packed)) Outer {
  char a;
  int b;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
