// expects: or name it with SINEW_NAME
#include <sinew/msg/reflect.hpp>
namespace {
struct Hidden {
  int a;
};
}  // namespace
namespace robot {
struct Outer {
  Hidden hidden;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
