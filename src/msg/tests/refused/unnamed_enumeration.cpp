// expects: or name it with SINEW_NAME
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  enum { red, green } color;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
