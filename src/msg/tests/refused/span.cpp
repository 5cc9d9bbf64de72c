// expects: for a view or span a std::string or std::vector (subscribers may have std::string_view and std::span<const T>),
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  std::span<int> span;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
