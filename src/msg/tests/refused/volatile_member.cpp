// expects: this kind of type cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  volatile int a;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
