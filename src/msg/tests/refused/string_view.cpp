// expects: for a view or span a std::string or std::vector
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  std::string_view view;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
