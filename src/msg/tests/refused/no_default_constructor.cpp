// expects: must be able to make an empty message of this type
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Angle {
  explicit Angle(double radians);
  int a;
};
struct Outer {
  int b;
  Angle angle;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
