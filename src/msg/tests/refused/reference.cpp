// expects: a reference cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
inline int zero = 0;
struct Outer {
  const int& number = zero;
  int other;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
