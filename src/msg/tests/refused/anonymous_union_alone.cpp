// expects: a union cannot be in a message
#include <sinew/msg/reflect.hpp>
#include <string>
#include <vector>
namespace robot {
struct Inner {
  union {
    int number;
    float real;
  };
};
struct Outer {
  std::string name;
  std::vector<Inner> all;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
