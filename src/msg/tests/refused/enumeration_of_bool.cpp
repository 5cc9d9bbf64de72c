// expects: an enumeration in a message is of an integer
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  enum class Gripper : bool { open, closed } gripper;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
