// expects: a handler returns its response
#include <sinew/sinew.hpp>
auto provide(sinew::Node& node) {
  return node.create_service_provider<int, int>("double", [](const int& request, int& response) { response = 2 * request; });
}
