// expects: std::unordered_map (with their own allocators)
#include <memory_resource>
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  std::pmr::vector<int> numbers;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
