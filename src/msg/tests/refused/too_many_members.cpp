// expects: a structure in a message has at most 128 members
#include <sinew/msg/reflect.hpp>
namespace robot {
#define TEN(m) int m##0, m##1, m##2, m##3, m##4, m##5, m##6, m##7, m##8, m##9
struct Outer {
  TEN(a);
  TEN(b);
  TEN(c);
  TEN(d);
  TEN(e);
  TEN(f);
  TEN(g);
  TEN(h);
  TEN(i);
  TEN(j);
  TEN(k);
  TEN(l);
  int m0, m1, m2, m3, m4, m5, m6, m7, m8;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
