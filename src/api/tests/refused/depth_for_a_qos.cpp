// expects: write sinew::Qos{}.keep_last(10)
#include <sinew/sinew.hpp>
auto publish(sinew::Node& node) {
  return node.create_publisher<int>("topic", 10);
}
