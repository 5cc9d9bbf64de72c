// expects: must have a copy constructor
#include <sinew/message.hpp>
#include <sinew/msg/reflect.hpp>
namespace robot {
class Inner {
 public:
  Inner() = default;
  Inner(const Inner&) = delete;
  Inner& operator=(const Inner&) = delete;
  SINEW_MESSAGE(Inner, number_);

 private:
  int number_ = 0;
};
struct Outer {
  int kind;
  Inner inner;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
