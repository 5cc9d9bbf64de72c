// expects: for a smart pointer the value itself
#include <memory>
#include <sinew/msg/reflect.hpp>
namespace robot {
struct Outer {
  std::unique_ptr<int> pointer;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
