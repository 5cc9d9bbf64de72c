// expects: a union cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
union Either {
  int number;
  float real;
};
struct Outer {
  Either either;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
