// expects: a reference cannot be in a message
#include <sinew/msg/reflect.hpp>
const sinew::msg::Message& message = sinew::msg::message_of<std::tuple<int, const int&>>();
