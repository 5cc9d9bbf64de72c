// expects: lists two members of one name, or one member twice
#include <sinew/message.hpp>
#include <sinew/msg/reflect.hpp>
namespace robot {
class Outer {
 public:
  SINEW_MESSAGE(Outer, x_, y_, y_);

 private:
  float x_ = 0, y_ = 0, z_ = 0;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
