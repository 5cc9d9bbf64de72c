// expects: a class with virtual functions cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  virtual ~Outer() = default;
  int a;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
