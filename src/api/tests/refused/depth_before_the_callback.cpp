// expects: the callback comes before the Qos
#include <sinew/sinew.hpp>
auto subscribe(sinew::Node& node) {
  return node.create_subscriber<int>("topic", 10, [](const int&) {});
}
