#include <latch>
#include <semaphore>

#include "tests/system/orders.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {

// Provides "work" under the name arguments[0]. Options, in arguments[1]: "parallel=N", "once", "stranger".
ROLE(worker) {
  const std::string name = arguments[0], words = arguments.size() > 1 ? arguments[1] : "";
  if (words.find("stranger") != std::string::npos) become_stranger();
  ServiceProviderOptions options;
  options.at_most_once = words.find("once") != std::string::npos;
  if (const auto at = words.find("parallel="); at != std::string::npos) {
    options.parallel = static_cast<std::uint32_t>(std::stoul(words.substr(at + 9)));
  }
  std::counting_semaphore<> passes(0);  // orders are read by one thread
  std::latch ready(1);
  auto node = Node::create(name);
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work",
      [&](const Work::Request& request, ServiceCall<Work::Response>& call) {
        ready.wait();  // calls may have waited for a provider: "ready" is said first nevertheless
        if (request.what.starts_with("throw ")) throw std::runtime_error(request.what.substr(6));
        if (request.what == "say") {
          say(std::to_string(request.number) + " of " + call.client());
          passes.acquire();
        }
        if (request.what == "wait") {
          say("waits");
          if (!eventually([&] { return call.cancelled(); })) fail("it is not cancelled");
          say("cancelled");
        }
        return result_of(request, name);
      },
      options);
  say("ready");
  ready.count_down();
  obey_orders([&] { passes.release(); }, [&] { provider.reset(); });
}

Child worker(const std::string& name, const std::string& options, const Child::Environment& environment) {
  Child child("worker", {name, options}, environment);
  child.expect("ready");
  return child;
}

}  // namespace sinew::system
