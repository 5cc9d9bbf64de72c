// expects: must be able to make an empty message of this type
#include <sinew/msg/reflect.hpp>
#include <variant>
namespace robot {
struct Angle {
  explicit Angle(double radians);
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<std::variant<robot::Angle, int>>();
