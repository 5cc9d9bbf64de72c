// expects: a std::span in a message has elements without storage of their own
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  std::span<const std::string> words;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
