// expects: a pointer cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  char* a;
  long double b;
  Outer* c;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
