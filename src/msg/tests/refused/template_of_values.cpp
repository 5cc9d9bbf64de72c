// expects: or name it with SINEW_NAME
#include <sinew/msg/reflect.hpp>
namespace robot {
template <char>
struct Lettered {
  int a;
};
struct Outer {
  Lettered<65> lettered;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
