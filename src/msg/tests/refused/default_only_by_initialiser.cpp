// expects: cannot be initialised from {}
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Angle {
  Angle(double radians);
};
struct Outer {
  int b;
  Angle angle = 1.0;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
