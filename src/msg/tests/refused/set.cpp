// expects: this class of the standard library cannot be in a message
#include <set>
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  std::set<int> set;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
