// Whatever allocation of the ordinary heap fails, in a client or in a provider: every call ends once, with an answer or an error, and the next one is answered.
#include <atomic>
#include <functional>
#include <limits>
#include <new>
#include <system_error>
#include <thread>

#include "base/sanitized.hpp"
#include "base/tests/heap.hpp"
#include "tests/system/service.hpp"

#if !SINEW_SANITIZED

namespace sinew::system {
namespace {

using Kind = ServiceError::Kind;

// Not that somebody chose it.
bool is_of_shortage(const ServiceError& error) {
  return error.kind() == Kind::no_memory || error.kind() == Kind::lost || error.kind() == Kind::invalid;
}

/// The ways of calling. Each returns when the call has ended, with what it has come to: "right", "no memory", or what it should not.
using Way = std::function<std::string(WorkClient&, std::uint64_t size)>;

// An end that never comes; a client without a provider waits for one.
bool ends(const WorkClient& client, const std::function<bool()>& has_ended) {
  return eventually([&] { return has_ended() || client.statistics().providers == 0; }) && has_ended();
}

// What the last error said, for who reads a failure.
std::string last_error;

template <class Call>
std::string outcome_of(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return "no memory";
  } catch (const std::system_error&) {
    return "no memory";  // for a thread
  } catch (const ServiceError& error) {
    last_error = error.what();
    return is_of_shortage(error) ? "no memory" : error.what();
  }
}

std::string by_future(WorkClient& client, std::uint64_t size) {
  return outcome_of([&]() -> std::string {
    auto call = client.call(addition(7, 1, size));
    if (!ends(client, [&] { return call.wait_for(std::chrono::seconds(0)) == std::future_status::ready; })) return "no end";
    return is_right(call.get(), 7, 1, size) ? "right" : "wrong";
  });
}

std::string by_loan(WorkClient& client, std::uint64_t size) {
  return outcome_of([&]() -> std::string {
    WorkLoan loan = loaned_addition(client, 7, size);
    loan->size = size;
    (*loan).what = "something else, and so long that it has to be copied in";
    auto call = client.call(std::move(loan));
    if (!ends(client, [&] { return call.wait_for(std::chrono::seconds(0)) == std::future_status::ready; })) return "no end";
    return is_right(call.get(), 7, 1, size) ? "right" : "wrong";
  });
}

std::string by_shared(WorkClient& client, std::uint64_t size) {
  return outcome_of([&]() -> std::string {
    auto call = client.call_shared(addition(7, 1, size));
    if (!ends(client, [&] { return call.wait_for(std::chrono::seconds(0)) == std::future_status::ready; })) return "no end";
    return is_right(*call.get(), 7, 1, size) ? "right" : "wrong";
  });
}

std::string by_callback(WorkClient& client, std::uint64_t size) {
  struct State {
    std::atomic<int> called{0};
    std::atomic<bool> right{false}, is_short{false};
  };
  return outcome_of([&]() -> std::string {
    const auto state = std::make_shared<State>();  // a call that has not ended yet does with its client
    try {
      client.call(addition(7, 1, size), [state, size](std::shared_ptr<const Work::Response> response, const ServiceError* error) {
        state->right = response && response->number == 7 && response->data.size() == size;
        state->is_short = error && is_of_shortage(*error);
        ++state->called;
      });
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return state->called == 0 ? "no memory" : "called though it was not made";
    }
    if (!ends(client, [&] { return state->called > 0; })) return "no end";
    return state->called > 1 ? "called twice" : state->right ? "right" : state->is_short ? "no memory" : "wrong";
  });
}

/// Cancels what a client without a provider waits for: nobody else can, where the caller waits itself.
class Rescuer {
 public:
  explicit Rescuer(WorkClient& client) : client_(client), thread_([this] { watch(); }) {}
  ~Rescuer() {
    done_ = true;
    thread_.join();
  }
  Rescuer(const Rescuer&) = delete;
  Rescuer& operator=(const Rescuer&) = delete;

 private:
  void watch() {
    while (!done_) {
      if (client_.statistics().providers == 0) {
        for (WorkClient::CallId call = 1; call < 20'000; ++call) client_.cancel(call);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  WorkClient& client_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

std::string by_waiting(WorkClient& client, std::uint64_t size) {
  return outcome_of([&]() -> std::string {
    const Rescuer rescuer(client);
    try {
      return is_right(*client.call_and_wait(addition(7, 1, size)), 7, 1, size) ? "right" : "wrong";
    } catch (const ServiceError& error) {
      if (error.kind() != Kind::cancelled) throw;
      return "no end";
    }
  });
}

std::string by_cancelling(WorkClient& client, std::uint64_t size) {
  return outcome_of([&]() -> std::string {
    auto call = client.call({.number = 7, .size = size, .what = "wait", .terms = {}});
    call.cancel();
    try {
      if (!eventually([&] { return call.wait_for(std::chrono::seconds(0)) == std::future_status::ready; })) return "no end";
      call.get();
    } catch (const ServiceError& error) {
      if (error.kind() == Kind::cancelled) return "right";
      throw;
    }
    return "answered";
  });
}

std::string late(WorkClient& client, std::uint64_t size) {
  return outcome_of([&]() -> std::string {
    auto call = client.call({.number = 7, .size = size, .what = "wait", .terms = {}}, std::chrono::milliseconds(1));
    try {
      if (!eventually([&] { return call.wait_for(std::chrono::seconds(0)) == std::future_status::ready; })) return "no end";
      call.get();
    } catch (const ServiceError& error) {
      if (error.kind() == Kind::timeout) return "right";
      throw;
    }
    return "answered";
  });
}

const std::vector<std::pair<const char*, Way>> ways = {
    {"future", by_future},         {"loan", by_loan}, {"shared", by_shared}, {"callback", by_callback}, {"waiting", by_waiting},
    {"cancelling", by_cancelling}, {"late", late}};

class ServiceAllocations : public Domain, public ::testing::WithParamInterface<std::size_t> {
 protected:
  const char* name() const { return ways[GetParam()].first; }
  std::string call(WorkClient& client, std::uint64_t size) const { return ways[GetParam()].second(client, size); }
};

class AllocationsOfAProvider : public Domain {};

// A provider in this process or in one of its own.
class AllocationsOfACaller : public ServiceAllocations {
 protected:
  void walk(WorkClient& client) {
    EXPECT_EQ(call(client, 10), "right");  // what is made with the first call is there
    for (int nth = 0; nth < 10'000; ++nth) {
      fail_allocation(nth);
      const std::string end = call(client, 10);
      const bool reached = allocation_has_failed();
      fail_no_allocation();
      EXPECT_TRUE(end == "right" || end == "no memory") << end << " at " << nth;
      EXPECT_EQ(by_future(client, 10), "right") << nth;
      EXPECT_TRUE(eventually([&] { return client.statistics().pending == 0; })) << nth;
      if (!reached || HasFailure()) return;
    }
  }
};

TEST_P(AllocationsOfACaller, CostAtMostThatCall) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  Child provider = worker("provider", "parallel=2");
  await_providers(*client, 1);
  walk(*client);
  EXPECT_EQ(client->statistics().strays, 0u);
  provider.end();
}

TEST_P(AllocationsOfACaller, CostAtMostThatCallAlsoWhereSomebodyLooksOn) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  Child provider = worker("provider", "parallel=2");
  await_providers(*client, 1);
  Child observer("observing_tool", {"work@request"});
  observer.expect("ready");
  walk(*client);
  EXPECT_EQ(client->statistics().strays, 0u);
  observer.kill();
  provider.end();
}

TEST_P(AllocationsOfACaller, CostAtMostThatCallAlsoOfAProviderOfTheSameProcess) {
  auto node = Node::create("client");
  auto provider =
      node->create_service_provider<Work::Request, Work::Response>("work",
                                                                   [](const Work::Request& request, ServiceCall<Work::Response>& running) {
                                                                     if (request.what == "wait")
                                                                       eventually([&] { return running.cancelled(); });
                                                                     return result_of(request, "provider");
                                                                   },
                                                                   {.parallel = 2});
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  walk(*client);
  EXPECT_EQ(client->statistics().strays, 0u);
}

// What has failed on a thread for sockets may have been the end of a connection: then the client has no provider, and its calls wait for one. Else what was called last is answered.
void expect_ends(const WorkClient& client, const std::vector<std::string>& came_to, int nth) {
  // The call may end before the client knows that its provider is gone.
  const bool is_given_up =
      came_to.back() == "right" ? client.statistics().providers == 0 : eventually([&] { return client.statistics().providers == 0; });
  for (const std::string& end : came_to) {
    EXPECT_TRUE(end == "right" || end == "no memory" || (end == "no end" && is_given_up)) << end << " at " << nth;
  }
  EXPECT_TRUE(came_to.back() == "right" || is_given_up) << came_to.back() << " at " << nth << ": " << last_error;
}

// Also those of its thread for sockets, and of its thread that receives.
TEST_P(ServiceAllocations, OfAClientsProcessCostAtMostTheCallsThatWait) {
  auto node = Node::create("client");
  Child provider = worker("provider", "parallel=2");
  for (int nth = 0; nth < 10'000; ++nth) {
    auto client = node->create_service_client<Work::Request, Work::Response>("work");
    await_providers(*client, 1);
    fail_allocation_of_any_thread(nth);
    std::vector<std::string> came_to;
    try {
      came_to.reserve(3);
      for (const std::uint64_t size : {10U, 300'000U, 10U}) came_to.push_back(call(*client, size));
    } catch (const std::bad_alloc&) {
      // Of this test's own.
    }
    const bool reached = allocation_of_any_thread_has_failed();
    came_to.push_back(by_future(*client, 10));
    expect_ends(*client, came_to, nth);
    if (!reached || HasFailure()) break;
  }
  provider.end();
}

// A provider that fails in its n-th allocation, on order.
ROLE(forgetful_worker) {
  auto node = Node::create("provider");
  const auto make = [&] {
    return node->create_service_provider<Work::Request, Work::Response>(
        "work",
        [](const Work::Request& request, ServiceCall<Work::Response>& call) {
          if (request.what == "wait") eventually([&] { return call.cancelled(); });
          return result_of(request, "provider");
        },
        {.parallel = static_cast<std::uint32_t>(std::stoul(arguments[0]))});
  };
  auto provider = make();
  say("ready");
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    if (order == "drop") {
      provider.reset();
      say("gone");
    } else if (order == "make") {
      provider = make();
      say("ready");
    } else if (order == "calm") {
      const bool reached = allocation_of_any_thread_has_failed();
      say(reached ? "reached" : "untouched");
    } else {
      fail_allocation_of_any_thread(std::stoi(order));
      say("armed");
    }
  }
}

TEST_P(ServiceAllocations, OfAProvidersProcessCostAtMostTheCallsThatItHas) {
  auto node = Node::create("client");
  for (const char* parallel : {"1", "2"}) {
    Child provider("forgetful_worker", {parallel});
    provider.expect("ready");
    auto client = node->create_service_client<Work::Request, Work::Response>("work");
    for (int nth = 0; nth < 10'000; ++nth) {
      await_providers(*client, 1);
      provider.order(std::to_string(nth));
      provider.expect("armed");
      std::vector<std::string> came_to;
      for (const std::uint64_t size : {10U, 300'000U, 10U}) came_to.push_back(call(*client, size));
      came_to.push_back(by_future(*client, 10));  // until the provider has been at those before it
      provider.order("calm");
      const bool reached = provider.line() == "reached";
      came_to.push_back(by_future(*client, 10));
      expect_ends(*client, came_to, nth);
      if (!reached || HasFailure()) break;
      provider.order("drop");
      provider.expect("gone");
      await_providers(*client, 0);
      provider.order("make");
      provider.expect("ready");
    }
    provider.order("end");
    provider.end();
    await_providers(*client, 0);
  }
}

using LookupClient = ServiceClient<Lookup::Request, Lookup::Response>;

// A client with a short name that calls twice, the second time to have the provider's n-th allocation from then on fail, and then one with a long name.
ROLE(callers_one_after_the_other) {
  auto short_one = Node::create("short"), long_one = Node::create("named_so_long_that_it_takes_memory");
  const auto end_of = [](LookupClient& client, const char* what, std::int64_t number) {
    return outcome_of([&]() -> std::string {
      auto call = client.call({.known = {{what, number}}});
      const bool ended = eventually([&] { return call.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
      return !ended ? "no end" : call.get().by_value.at(number) == what ? "right" : "wrong";
    });
  };
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    auto first = short_one->create_service_client<Lookup::Request, Lookup::Response>("work");
    auto second = long_one->create_service_client<Lookup::Request, Lookup::Response>("work");
    await_providers(*second, 1);
    require(end_of(*first, "nothing", 1) == "right", "it is not answered");
    end_of(*first, "forget", std::stol(order));
    say(end_of(*second, "something", 1));
  }
}

TEST_F(AllocationsOfAProvider, OneThatFailsForTheNameOfAClientCostsNoCallButItsOwn) {
  auto node = Node::create("provider");
  Child callers("callers_one_after_the_other");
  int failed = 0;
  for (int nth = 0; nth < 20; ++nth) {
    auto provider = node->create_service_provider<Lookup::Request, Lookup::Response>("work", [](const Lookup::Request& request) {
      fail_no_allocation();
      const auto& [what, number] = *request.known.begin();
      Lookup::Response response{.by_value = {{number, what}}};
      if (what == "forget") fail_allocation(static_cast<int>(number));
      return response;
    });
    callers.order(std::to_string(nth));
    const std::string end = callers.line().value_or("nothing");
    EXPECT_TRUE(end == "right" || end == "no memory") << end << " at " << nth;
    failed += end == "right" ? 0 : 1;
    if (HasFailure()) break;
  }
  EXPECT_GT(failed, 0) << "none of them was in between";
  callers.order("end");
  callers.end();
}

const auto name_of_way = [](const auto& way) { return std::string(ways[way.param].first); };
INSTANTIATE_TEST_SUITE_P(By, AllocationsOfACaller, ::testing::Range(std::size_t{0}, ways.size()), name_of_way);
INSTANTIATE_TEST_SUITE_P(By, ServiceAllocations, ::testing::Range(std::size_t{0}, ways.size()), name_of_way);

// After a call that is too late it looks at its providers anew, which takes memory.
ROLE(client_short_of_memory) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  await_providers(*client, 1);
  const auto be_late = [&] {
    const auto call = client->call({.number = 7, .what = "wait", .terms = {}}, std::chrono::milliseconds(1));
    return eventually([&] { return call.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
  };
  for (int shortage = 0; shortage < 2; ++shortage) {
    require(by_future(*client, 10) == "right", "a call is not answered");
    fail_allocations_of_other_threads(0, std::numeric_limits<int>::max());
    const bool ended = be_late();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // while it tries again and again
    fail_no_allocation();
    require(ended, "a call that is too late does not end");
    // When the second has ended, it has looked behind the first.
    require(be_late() && be_late(), "a call that is too late does not end, though there is memory");
  }
  require(by_future(*client, 10) == "right", "a call is not answered");
}

TEST_F(AllocationsOfAProvider, ThoseThatFailForLongInAClientAreLoggedOnceAndNotAtEachAttempt) {
  Child provider = worker("provider", "parallel=4");
  Child client("client_short_of_memory");
  client.end();
  const std::string errors = client.errors(), line = "sinew [error] service client: no memory, trying again\n";
  int said = 0;
  for (std::size_t at = 0; (at = errors.find(line, at)) != errors.npos; at += line.size()) ++said;
  EXPECT_GE(said, 2) << errors;
  EXPECT_LE(said, 4) << "once for each shortage, and for each of its two threads: " << errors;
  provider.end();
}

class AllocationsOfEnds : public Domain {
 protected:
  static void walk(const std::function<void()>& work, const std::function<void(int)>& after) {
    for (int nth = 0; nth < 10'000; ++nth) {
      fail_allocation(nth);
      try {
        work();
      } catch (const std::bad_alloc&) {
        // It says so.
      } catch (const Error&) {
        // Or so.
      }
      const bool reached = allocation_has_failed();
      fail_no_allocation();
      after(nth);
      if (!reached || HasFatalFailure()) return;
    }
    ADD_FAILURE() << "it never ends";
  }
};

TEST_F(AllocationsOfEnds, OneThatFailsWhileAClientOrAProviderIsMadeLeavesNothingOfIt) {
  auto node = Node::create("node");
  const auto expect_free = [&](int nth) {  // for other types
    EXPECT_NO_THROW(((void)node->create_service_client<OtherWork, OtherWork>("work"))) << nth;
  };
  walk([&] { (void)node->create_service_client<Work::Request, Work::Response>("work"); }, expect_free);
  walk(
      [&] {
        (void)node->create_service_provider<Work::Request, Work::Response>("work", [](const Work::Request&) { return Work::Response{}; });
      },
      expect_free);
}

TEST_F(AllocationsOfEnds, OneThatFailsWhileAClientIsDestroyedKeepsNobodyFromHearingOfIt) {
  int called = 0;
  auto node = Node::create("node");
  std::shared_ptr<WorkClient> client;
  std::vector<PendingCall<Work::Response>> calls;
  const auto renew = [&](int nth) {
    for (auto& call : calls) {
      EXPECT_EQ(call.wait_for(std::chrono::seconds(0)), std::future_status::ready) << nth;
      EXPECT_EQ(kind_of_error(std::move(call)), Kind::cancelled) << nth;
    }
    EXPECT_EQ(called, calls.empty() ? 0 : 2) << nth;
    called = 0;
    calls.clear();
    client = node->create_service_client<Work::Request, Work::Response>("work");
    for (std::uint64_t number = 1; number <= 3; ++number) calls.push_back(client->call(addition(number)));
    for (int i = 0; i < 2; ++i) client->call(addition(1), [&](auto, const ServiceError* error) { called += error ? 1 : 10; });
  };
  renew(0);
  walk([&] { client.reset(); }, renew);
}

}  // namespace
}  // namespace sinew::system

#endif
