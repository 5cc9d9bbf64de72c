// expects: a packed structure cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  char a;
  int b __attribute__((packed));
  char large[1 << 20];
  double c;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
