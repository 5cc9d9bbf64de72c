// expects: a structure in a message has at most 128 members
#include <sinew/message.hpp>
#include <sinew/msg/reflect.hpp>
namespace robot {
#define TEN(m) m##0, m##1, m##2, m##3, m##4, m##5, m##6, m##7, m##8, m##9
#define HUNDRED(m) TEN(m##0), TEN(m##1), TEN(m##2), TEN(m##3), TEN(m##4), TEN(m##5), TEN(m##6), TEN(m##7), TEN(m##8), TEN(m##9)
#define ALL HUNDRED(a), HUNDRED(b), HUNDRED(c)
class Outer {
 public:
  SINEW_MESSAGE(Outer, ALL);

 private:
  int ALL;
};
}  // namespace robot
const sinew::msg::Message& message = sinew::msg::message_of<robot::Outer>();
