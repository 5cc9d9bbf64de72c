// The service of the system tests, and a provider of it in a process of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sinew/sinew.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/paths.hpp"
#include "tests/system/pattern.hpp"

namespace sinew::system {

struct Work {
  struct Request {
    std::uint64_t caller = 0;
    std::uint64_t number = 0;
    std::uint64_t size = 0;  ///< of the response's data
    std::string
        what;  ///< "add", "throw TEXT", "wait" (until cancelled), "say" (says the number and the client, then waits for the order to go on)
    std::vector<std::int64_t> terms;
  };
  struct Response {
    std::uint64_t caller = 0;
    std::uint64_t number = 0;
    std::int64_t total = 0;
    std::string provider;
    std::vector<std::uint8_t> data;
  };
};
/// The request of Work for providers that read it where it lies.
struct WorkView {
  std::uint64_t caller = 0;
  std::uint64_t number = 0;
  std::uint64_t size = 0;
  std::string_view what;
  std::span<const std::int64_t> terms;
};
/// Types that no other process can read in place.
struct Lookup {
  struct Request {
    std::map<std::string, std::int64_t> known;
  };
  struct Response {
    std::map<std::int64_t, std::string> by_value;
  };
};
/// Not the request of Work.
struct OtherWork {
  std::uint64_t caller = 0;
  std::uint32_t number = 0;
};
using WorkClient = ServiceClient<Work::Request, Work::Response>;
using WorkLoan = RequestLoan<Work::Request>;
using WorkProvider = ServiceProvider<Work::Request, Work::Response>;

inline Work::Request addition(std::uint64_t number, std::uint64_t caller = 1, std::uint64_t size = 0) {
  const auto signed_number = static_cast<std::int64_t>(number);
  return {.caller = caller, .number = number, .size = size, .what = "add", .terms = {signed_number, signed_number, 1}};
}

/// One of so many terms, which are all needed to add up to 0.
inline std::int64_t term_of_none(std::size_t place, std::size_t count) {
  const auto number = static_cast<std::int64_t>(place), last = static_cast<std::int64_t>(count) - 1;
  return number < last ? number + 1 : -last * (last + 1) / 2;
}

/// addition() in shared memory, with so many terms more that are 0 together.
inline WorkLoan loaned_addition(WorkClient& client, std::uint64_t number, std::size_t more = 0) {
  WorkLoan loan = client.loan();
  loan.build([&](Work::Request& request) {
    const auto term = static_cast<std::int64_t>(number);
    request.caller = 1;
    request.number = number;
    request.what = "add";
    request.terms = {term, term, 1};
    request.terms.resize(3 + more);
    for (std::size_t i = 0; i < more; ++i) request.terms[3 + i] = term_of_none(i, more);
  });
  return loan;
}

inline Work::Response result_of(const Work::Request& request, const std::string& provider) {
  Work::Response response{.caller = request.caller, .number = request.number, .provider = provider, .data = {}};
  for (const std::int64_t term : request.terms) response.total += term;
  fill_with_pattern(response.data, request.number, request.size);
  return response;
}

/// What addition() with these numbers is to be answered with.
inline bool is_right(const Work::Response& response, std::uint64_t number, std::uint64_t caller = 1, std::uint64_t size = 0) {
  return response.caller == caller && response.number == number && response.total == static_cast<std::int64_t>(2 * number + 1) &&
         response.data.size() == size && has_pattern(response.data, number);
}

/// Each test has a client of "work".
class WithClient : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    node = Node::create("client");
    client = node->create_service_client<Work::Request, Work::Response>("work");
  }
  void TearDown() override {
    client.reset();
    node.reset();
    Domain::TearDown();
  }

  std::shared_ptr<Node> node;
  std::shared_ptr<WorkClient> client;
};

/// A provider of "work" in a process of its own, which is ready. Options: "parallel=N", "once", "stranger" (another user's). The order "quit" destroys the provider, which then says "gone"; "go on" lets
/// one handler of "say" go on.
Child worker(const std::string& name, const std::string& options = "", const Child::Environment& environment = {});

/// A provider of "work" where the path says, which is ready.
struct ProviderOn {
  explicit ProviderOn(const Path& path) {
    if (path.where == Where::this_process) {
      here = Node::create("provider");
      provider = here->create_service_provider<Work::Request, Work::Response>(
          "work", [](const Work::Request& request) { return result_of(request, "provider"); });
    } else {
      child.emplace(worker("provider", path.where == Where::other_user ? "stranger" : ""));
    }
  }
  std::optional<Child> child;  ///< none on a path within this process
  std::shared_ptr<Node> here;
  std::shared_ptr<WorkProvider> provider;
};

template <class Client>
void await_providers(const Client& client, std::uint64_t count) {
  require(eventually([&] { return client.statistics().providers == count; }), "the providers do not come, or do not go");
}
template <class Provider>
void await_clients(const Provider& provider, std::uint64_t count) {
  require(eventually([&] { return provider.statistics().clients == count; }), "the clients do not come, or do not go");
}

/// The text of the error that the call ends with; "" when it is answered.
template <class Call>
std::string error_of(Call call) {
  try {
    call.get();
    return "";
  } catch (const ServiceError& error) {
    return error.what();
  }
}
template <class Call>
std::optional<ServiceError::Kind> kind_of_error(Call call) {
  try {
    call.get();
    return std::nullopt;
  } catch (const ServiceError& error) {
    return error.kind();
  }
}

}  // namespace sinew::system
