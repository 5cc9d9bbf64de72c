// expects: this class of the standard library cannot be in a message
#include <atomic>
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  std::atomic<int> a;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
