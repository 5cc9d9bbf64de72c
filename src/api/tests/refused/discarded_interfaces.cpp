// expects: ignoring return value
#pragma GCC diagnostic error "-Wunused-result"
#include <sinew/sinew.hpp>
void discard(sinew::Node& node) {
  sinew::Node::create("node");                              // refused
  sinew::Executor::create();                                // refused
  node.create_publisher<int>("topic");                      // refused
  node.create_subscriber<int>("topic");                     // refused
  node.create_subscriber<int>("topic", [](const int&) {});  // refused
  node.create_timer(std::chrono::seconds(1), [] {});        // refused
  node.watch_domain([](const sinew::DomainUpdate&) {});     // refused
}
