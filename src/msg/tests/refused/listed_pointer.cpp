// expects: a pointer cannot be in a message
#include <sinew/message.hpp>
#include <sinew/msg/reflect.hpp>
namespace robot {
class Outer {
 public:
  SINEW_MESSAGE(Outer, text_);

 private:
  const char* text_ = nullptr;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
