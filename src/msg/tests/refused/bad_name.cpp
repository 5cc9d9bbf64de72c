// expects: a name of a type has letters
#include <sinew/message.hpp>
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  int a;
};
}  // namespace robot
SINEW_NAME(robot::Outer, "robot{Outer");
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
