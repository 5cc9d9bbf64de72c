// expects: write sinew::Qos{}.keep_last(10)
#include <sinew/sinew.hpp>
auto subscribe(sinew::Node& node) {
  return node.create_subscriber<int>("topic", [](const int&) {}, 10);
}
