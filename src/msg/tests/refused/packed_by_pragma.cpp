// expects: a packed structure cannot be in a message
#include <sinew/msg/reflect.hpp>
namespace robot {
#pragma pack(push, 1)
struct Point {
  float x, y, z;
  unsigned char ring;
  double time;
};
#pragma pack(pop)
struct Outer {
  std::vector<Point> points;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
