// expects: a handler returns its response
#include <sinew/sinew.hpp>
auto provide(sinew::Node& node) {
  return node.create_service_provider<int, int>(
      "double", [](std::shared_ptr<const int> request, std::shared_ptr<int> response) { *response = 2 * *request; });
}
