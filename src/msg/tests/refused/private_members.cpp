// expects: Write SINEW_MESSAGE(Class, member, member...) into its public part
#include <sinew/msg/reflect.hpp>
namespace robot {
class Outer {
  int a = 0;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
