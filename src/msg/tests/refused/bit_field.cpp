// expects: a bit-field cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  int whole;
  unsigned part : 3;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
