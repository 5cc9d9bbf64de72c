// expects: must have a copy constructor
#include <sinew/message.hpp>
#include <sinew/msg/reflect.hpp>
namespace robot {
class Outer {
 public:
  Outer() = default;
  Outer(const Outer&) = default;
  Outer(Outer&&) = delete;
  SINEW_MESSAGE(Outer, number_);

 private:
  int number_ = 0;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
