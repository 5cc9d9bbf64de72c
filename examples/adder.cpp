// A service, and who calls it, here in one program: in two it would look just the same.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "sinew/sinew.hpp"

struct Sum {
  struct Request {
    std::vector<std::int64_t> terms;
  };
  struct Response {
    std::int64_t total = 0;
  };
};

int main() {
  using namespace std::chrono_literals;
  auto node = sinew::Node::create("adder");
  auto provider = node->create_service_provider<Sum::Request, Sum::Response>("sum", [](const Sum::Request& request) {
    if (request.terms.empty()) throw std::invalid_argument("nothing to add");
    Sum::Response response;
    for (const auto term : request.terms) response.total += term;
    return response;
  });
  auto client = node->create_service_client<Sum::Request, Sum::Response>("sum");
  std::printf("%lld\n", static_cast<long long>(client->call({{1, 2, 3}}).get().total));
  try {
    client->call({{}}, 10s).get();  // waits at most ten seconds
  } catch (const sinew::ServiceError& error) {
    std::printf("%s\n", error.what());  // what the provider's handler threw
  }
}
