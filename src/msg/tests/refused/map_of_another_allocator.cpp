// expects: this class of the standard library cannot be in a message
#include <map>
#include <memory_resource>
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  std::pmr::map<int, int> map;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
