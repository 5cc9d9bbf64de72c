// expects: a type that contains itself cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer;
struct Inner {
  std::vector<Outer> outers;
};
struct Outer {
  int a;
  Inner inner;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
