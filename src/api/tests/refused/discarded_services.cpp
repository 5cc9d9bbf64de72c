// expects: ignoring return value
#pragma GCC diagnostic error "-Wunused-result"
#include <sinew/sinew.hpp>
void discard(sinew::Node& node) {
  node.create_service_client<int, int>("sum");                                                                      // refused
  node.create_service_provider<int, int>("sum", [](const int& number) { return number; });                          // refused
  node.create_action_client<int, int, int>("dock");                                                                 // refused
  node.create_action_server<int, int, int>("dock", [](sinew::ServerGoal<int, int>& goal) { return goal.goal(); });  // refused
}
