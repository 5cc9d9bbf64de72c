// expects: a member of this structure cannot be initialised from {}
#include <sinew/msg/reflect.hpp>
namespace robot {
inline int zero = 0;
struct Outer {
  int other;
  int& number = zero;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
