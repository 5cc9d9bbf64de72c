// expects: a pointer cannot be in a message
#include <sinew/msg/reflect.hpp>
#include <variant>
namespace robot {
struct Outer {
  std::variant<int, std::vector<float*>> either;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
