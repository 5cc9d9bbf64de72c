// expects: a pointer cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Inner {
  std::vector<int*> pointers;
};
struct Outer {
  std::array<std::optional<Inner>, 3> inner;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
