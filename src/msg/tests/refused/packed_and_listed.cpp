// expects: a packed structure cannot be in a message
#include <sinew/message.hpp>
#include <sinew/msg/reflect.hpp>
namespace robot {
#pragma pack(push, 1)
class Outer {
 public:
  Outer() {}
  SINEW_MESSAGE(Outer, a_, b_, c_);

 private:
  char a_ = 0;
  int b_ = 0;
  double c_ = 0;
};
#pragma pack(pop)
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
