// expects: this number type differs between machines
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  long double number;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
