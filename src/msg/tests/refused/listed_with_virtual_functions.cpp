// expects: a class with virtual functions cannot be in a message
#include <sinew/message.hpp>
#include <sinew/msg/reflect.hpp>
namespace robot {
class Outer {
 public:
  SINEW_MESSAGE(Outer, number_);
  virtual int number() const { return number_; }

 private:
  int number_ = 0;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
