// expects: a pointer cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  int ok;
  const char* text;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
