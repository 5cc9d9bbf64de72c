// expects: a union cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  int kind;
  union {
    int number;
    float real;
  };
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
