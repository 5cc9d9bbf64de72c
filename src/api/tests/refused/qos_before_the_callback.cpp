// expects: the callback comes before the Qos
#include <sinew/sinew.hpp>
auto subscribe(sinew::Node& node) {
  return node.create_subscriber<int>("topic", sinew::Qos{}.keep_last(10).reliable(), [](std::shared_ptr<const int>) {});
}
