// expects: SINEW_MESSAGE must list every data member
#include <sinew/message.hpp>
#include <sinew/msg/reflect.hpp>
namespace robot {
class Outer {
 public:
  SINEW_MESSAGE(Outer, number_);

 private:
  int number_ = 0;
  [[maybe_unused]] int* cache_ = nullptr;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
