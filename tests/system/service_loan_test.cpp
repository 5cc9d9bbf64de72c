// Requests that are built in shared memory: read where they lie, whatever becomes of client and provider, and their memory used again.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <functional>
#include <future>
#include <numeric>
#include <semaphore>
#include <thread>

#include "tests/system/orders.hpp"
#include "tests/system/paths.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

class ServiceLoans : public WithClient {};

/// Of the mapping in which the address lies, in /proc/self/maps; "" when it lies in none.
std::string mapping_around(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2 && at >= begin && at < end) return line;
  }
  return "";
}

// Answers with the mapping in which the request's terms lie.
ROLE(locating_worker) {
  auto node = Node::create("locator");
  auto provider = node->create_service_provider<Work::Request, Work::Response>("work", [](const Work::Request& request) {
    Work::Response response = result_of(request, mapping_around(request.terms.data()));
    return response;
  });
  say("ready");
  until_finished();
}

TEST_F(ServiceLoans, ARequestIsReadWhereTheClientBuiltIt) {
  Child provider("locating_worker");
  provider.expect("ready");
  const Work::Response response = client->call(loaned_addition(*client, 7, 1'000'000)).get();
  EXPECT_TRUE(is_right(response, 7));
  EXPECT_NE(response.provider.find(" r--s "), std::string::npos) << response.provider;
  EXPECT_NE(response.provider.find("memfd:sinew"), std::string::npos) << response.provider;
  EXPECT_EQ(client->statistics().bytes_copied, 0u);
  provider.end();
}

TEST_F(ServiceLoans, AnExpressionOfTheLoanAllocatesInPlaceToo) {
  Child provider = worker("provider");
  await_providers(*client, 1);
  WorkLoan loan = client->loan();
  loan->what.assign("add");
  loan->terms.assign(1000, 2);
  EXPECT_EQ((*loan).terms.size(), 1000u);
  EXPECT_TRUE(static_cast<bool>(loan));
  EXPECT_EQ(client->call(std::move(loan)).get().total, 2000);
  EXPECT_FALSE(static_cast<bool>(loan));  // NOLINT: that is what is tested
  EXPECT_EQ(client->statistics().bytes_copied, 0u);
  provider.end();
}

TEST_F(ServiceLoans, WhatGrowsOutsideOfTheLoanIsCopiedInAndCounted) {
  Child provider = worker("provider");
  await_providers(*client, 1);
  WorkLoan loan = loaned_addition(*client, 7);
  (*loan).terms.resize(1000);
  EXPECT_TRUE(is_right(client->call(std::move(loan)).get(), 7));
  EXPECT_EQ(client->statistics().bytes_copied, 1000 * sizeof(std::int64_t));
  provider.end();
}

TEST_F(ServiceLoans, ARequestThatIsNoLoanIsCopiedOnceAndCounted) {
  Child provider = worker("provider");
  await_providers(*client, 1);
  Work::Request request = addition(7);
  request.terms.resize(1000);
  EXPECT_TRUE(is_right(client->call(request).get(), 7));
  const std::uint64_t copied = client->statistics().bytes_copied;
  EXPECT_GE(copied, 1000 * sizeof(std::int64_t));
  EXPECT_LT(copied, 1000 * sizeof(std::int64_t) + 500);
  provider.end();
}

TEST_F(ServiceLoans, ARequestWaitsForAProviderWhereItLies) {
  auto call = client->call(loaned_addition(*client, 7, 100'000));
  EXPECT_EQ(call.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  Child provider = worker("provider");
  EXPECT_TRUE(is_right(call.get(), 7));
  EXPECT_EQ(client->statistics().bytes_copied, 0u);
  provider.end();
}

TEST_F(ServiceLoans, ARequestGoesToTheNextProviderAsItIsWhenTheFirstDies) {
  Child first = worker("first");
  WorkLoan loan = loaned_addition(*client, 7, 100'000);
  loan->what.assign("say");
  auto call = client->call(std::move(loan));
  first.expect("7 of client");
  Child second = worker("second");
  await_providers(*client, 2);
  first.kill();
  second.expect("7 of client");
  second.order("go on");
  const Work::Response response = call.get();
  EXPECT_TRUE(is_right(response, 7));
  EXPECT_EQ(response.provider, "second");
  EXPECT_EQ(client->statistics().resent, 1u);
  EXPECT_EQ(client->statistics().bytes_copied, 0u);
  second.end();
}

// From one that reads it in place to one that needs pieces, and to one of this process.
ROLE(viewing_loan_worker) {
  auto node = Node::create("viewer");
  auto provider = node->create_service_provider<WorkView, Work::Response>("work", [](const WorkView& request) {
    const std::int64_t total = std::accumulate(request.terms.begin(), request.terms.end(), std::int64_t{0});
    if (request.what == "say") {
      say("has it");
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
    return Work::Response{.caller = request.caller, .number = request.number, .total = total, .provider = "viewer", .data = {}};
  });
  say("ready");
  until_finished();
}

TEST_F(ServiceLoans, ARequestGoesFromOneWayToTheOther) {
  std::optional<Child> next(worker("native"));
  await_providers(*client, 1);
  WorkLoan loan = loaned_addition(*client, 7, 100'000);
  loan->what.assign("say");
  auto call = client->call(std::move(loan));
  next->expect("7 of client");
  Child viewer("viewing_loan_worker");
  viewer.expect("ready");
  await_providers(*client, 2);
  next->kill();
  viewer.expect("has it");
  auto here = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "here"); });
  await_providers(*client, 2);
  viewer.kill();
  const Work::Response response = call.get();
  EXPECT_TRUE(is_right(response, 7));
  EXPECT_EQ(response.provider, "here");
  EXPECT_EQ(client->statistics().bytes_copied, 0u);
}

TEST_F(ServiceLoans, TheMemoryOfRequestsIsUsedAgain) {
  auto small = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 16 << 20});
  Child provider = worker("provider");
  await_providers(*small, 1);
  for (std::uint64_t number = 1; number <= 500; ++number) {
    ASSERT_TRUE(is_right(*small->call_and_wait(loaned_addition(*small, number, 200'000)), number)) << number;
    const WorkLoan dropped = loaned_addition(*small, number, 200'000);
    ASSERT_EQ(small->statistics().bytes_copied, 0u) << number;  // there was room for all of it
  }
  provider.end();
}

// A budget in which one of them has room.
TEST_F(ServiceLoans, TheMemoryOfACallThatHasEndedIsThereForTheNext) {
  auto small = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 4 << 20});
  Child provider = worker("provider");
  await_providers(*small, 1);
  Work::Request plain = addition(7);
  plain.terms.resize(300'000);
  for (int i = 0; i < 100; ++i) {
    auto loaned = small->call(loaned_addition(*small, 7, 300'000));
    auto waits = small->call(plain);  // for room
    EXPECT_TRUE(is_right(loaned.get(), 7));
    EXPECT_TRUE(is_right(waits.get(), 7));
    EXPECT_TRUE(is_right(small->call(loaned_addition(*small, 7, 300'000)).get(), 7));
    EXPECT_TRUE(is_right(*small->call_and_wait(plain), 7));
  }
  std::promise<Work::Response> second;
  small->call(loaned_addition(*small, 7, 300'000), [&](const std::shared_ptr<const Work::Response>&, const ServiceError*) {
    small->call(plain, [&](const std::shared_ptr<const Work::Response>& response, const ServiceError* error) {
      response ? second.set_value(*response) : second.set_exception(std::make_exception_ptr(*error));
    });
  });
  EXPECT_TRUE(is_right(second.get_future().get(), 7));
  provider.end();
}

TEST_F(ServiceLoans, ARequestThatIsCopiedWaitsForLoansThatHaveTheMemory) {
  auto small = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 4 << 20});
  Work::Request plain = addition(7);
  plain.terms.resize(300'000);
  auto first = small->call(plain);
  auto second = small->call(loaned_addition(*small, 8, 300'000));
  Child provider = worker("provider");
  EXPECT_TRUE(is_right(first.get(), 7));
  EXPECT_TRUE(is_right(second.get(), 8));
  provider.end();
}

TEST_F(ServiceLoans, CallbacksMayLoanAndCallWhileTheClientIsDestroyed) {
  std::atomic<int> called{0};
  WorkClient& raw = *client;
  const auto again = [&](const auto&, const ServiceError* error) {
    EXPECT_EQ(error->kind(), ServiceError::Kind::cancelled);
    EXPECT_EQ(raw.statistics().providers, 0u);
    raw.call(loaned_addition(raw, 1), [&](const auto&, const ServiceError* later) {
      EXPECT_EQ(later->kind(), ServiceError::Kind::disconnected);
      ++called;
    });
  };
  for (int i = 0; i < 3; ++i) client->call(loaned_addition(*client, 1), again);
  client.reset();
  EXPECT_EQ(called, 3);
}

TEST_F(ServiceLoans, ACallWithALoanThatWasMovedFromIsInvalidAlsoWhileThereIsNoProvider) {
  WorkLoan none;
  EXPECT_EQ(kind_of_error(client->call(std::move(none))), ServiceError::Kind::invalid);
  Child provider = worker("worker");
  await_providers(*client, 1);
  WorkLoan loan = loaned_addition(*client, 1);
  EXPECT_TRUE(is_right(*client->call_and_wait(std::move(loan)), 1));
  try {
    (void)client->call_and_wait(std::move(loan));  // NOLINT(bugprone-use-after-move): what is tried
    ADD_FAILURE() << "there was nothing to be sent";
  } catch (const ServiceError& error) {
    EXPECT_EQ(error.kind(), ServiceError::Kind::invalid);
    EXPECT_NE(std::string(error.what()).find("moved from"), std::string::npos) << error.what();
  }
  std::atomic<bool> told = false;
  client->call(std::move(loan), [&](const std::shared_ptr<const Work::Response>& response, const ServiceError* error) {
    told = !response && error != nullptr && error->kind() == ServiceError::Kind::invalid;
  });
  EXPECT_TRUE(eventually([&] { return told.load(); }));
  EXPECT_EQ(client->statistics().pending, 0U);
  EXPECT_EQ(client->statistics().failed, 3U);
  provider.end();
}

TEST_F(ServiceLoans, ARequestThatThereIsNoRoomForFails) {
  auto small = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 2 << 20});
  Child provider = worker("provider");
  EXPECT_EQ(kind_of_error(small->call(loaned_addition(*small, 1, 1'000'000))), ServiceError::Kind::no_memory);
  EXPECT_TRUE(is_right(small->call(loaned_addition(*small, 2)).get(), 2));
  provider.end();
}

TEST_F(ServiceLoans, ARequestThatWaitsForRoomAndIsCancelledKeepsNoneWaitingBehindIt) {
  auto small = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 2 << 20});
  Child provider = worker("provider", "parallel=2");
  await_providers(*small, 1);
  auto executed = small->call(Work::Request{.number = 1, .what = "say", .terms = {}});
  EXPECT_TRUE(provider.line());
  auto large = small->call(loaned_addition(*small, 2, 1'000'000));
  auto behind = small->call(addition(3));
  large.cancel();
  EXPECT_EQ(behind.wait_for(std::chrono::minutes(1)), std::future_status::ready);
  EXPECT_TRUE(is_right(behind.get(), 3));
  provider.order("go on");
  executed.get();
  provider.end();
}

TEST_F(ServiceLoans, WhatIsTooLateItselfIsNotSentWhenWhatItWaitedBehindIsGivenUp) {
  auto small = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 2 << 20});
  Child provider = worker("provider", "parallel=2");
  await_providers(*small, 1);
  auto executed = small->call(Work::Request{.number = 1, .what = "say", .terms = {}});
  EXPECT_EQ(provider.line(), "1 of client");
  WorkLoan loan = loaned_addition(*small, 2, 1'000'000);
  const auto soon = std::chrono::seconds(5);
  // Both are late when this process, which stops itself, goes on.
  const std::string pid = std::to_string(::getpid());
  FILE* const clock =
      ::popen(("until grep -q '^State:.T' /proc/" + pid + "/status; do sleep 0.1; done; sleep 6; kill -CONT " + pid).c_str(), "r");
  ASSERT_NE(clock, nullptr);
  auto large = small->call(std::move(loan), soon);
  auto behind = small->call(Work::Request{.number = 3, .what = "say", .terms = {}}, soon);
  ::raise(SIGSTOP);
  EXPECT_EQ(kind_of_error(std::move(large)), ServiceError::Kind::timeout);
  EXPECT_EQ(kind_of_error(std::move(behind)), ServiceError::Kind::timeout);
  auto next = small->call(Work::Request{.number = 4, .what = "say", .terms = {}});
  EXPECT_EQ(provider.line(), "4 of client");
  provider.order("go on");
  provider.order("go on");
  executed.get();
  next.get();
  ::pclose(clock);
  provider.end();
}

TEST_F(ServiceLoans, ALoanMayOutliveItsClientAndItsNode) {
  WorkLoan first = loaned_addition(*client, 1, 100'000), second = loaned_addition(*client, 2);
  client.reset();
  first->terms.push_back(1);
  node.reset();
  second->terms.resize(100'000);
  EXPECT_EQ((*first).terms.size(), 100'004u);
}

TEST_F(ServiceLoans, ALoanOfAnotherClientIsCopied) {
  auto other = node->create_service_client<Work::Request, Work::Response>("work");
  Child provider = worker("provider");
  await_providers(*other, 1);
  EXPECT_TRUE(is_right(other->call(loaned_addition(*client, 3, 1000)).get(), 3));
  EXPECT_GT(other->statistics().bytes_copied, 8000u);
  provider.end();
}

// Keeps the request while it waits for an order, then says the sum of its terms. Takes it as arguments[0] says.
template <class Request>
void sum_up() {
  std::binary_semaphore pass(0);
  auto node = Node::create("summer");
  auto provider = node->create_service_provider<Request, Work::Response>("work", [&](const Request& request) {
    say("has it");
    pass.acquire();
    say(std::to_string(std::accumulate(request.terms.begin(), request.terms.end(), std::int64_t{0})));
    return Work::Response{};
  });
  say("ready");
  obey_orders([&] { pass.release(); }, [] {});
}
ROLE(summing_worker) {
  arguments[0] == "view" ? sum_up<WorkView>() : sum_up<Work::Request>();
}

TEST_F(ServiceLoans, AProviderReadsOnWhatItHasWhenTheClientIsDestroyed) {
  for (const char* way : {"in place", "view"}) {
    Child provider("summing_worker", {way});
    provider.expect("ready");
    auto first = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 8 << 20});
    auto call = first->call(loaned_addition(*first, 7, 100'000));
    provider.expect("has it");
    first.reset();
    EXPECT_EQ(kind_of_error(std::move(call)), ServiceError::Kind::cancelled);
    auto next = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 8 << 20});
    std::vector<WorkLoan> loans;
    for (int i = 0; i < 7; ++i) {
      loans.push_back(next->loan());
      loans.back().build([](Work::Request& request) { request.terms.assign(100'003, -1); });  // not over it
    }
    provider.order("go on");
    provider.expect("15");
    provider.end();
  }
}

TEST_F(ServiceLoans, AProviderReadsOnWhatItHasWhenTheCallIsCancelled) {
  Child provider("summing_worker", {"in place"});
  provider.expect("ready");
  auto small = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 8 << 20});
  await_providers(*small, 1);
  auto call = small->call(loaned_addition(*small, 7, 100'000));
  provider.expect("has it");
  call.cancel();
  for (int i = 0; i < 100; ++i) {
    WorkLoan other = small->loan();
    other.build([](Work::Request& request) { request.terms.assign(100'003, -1); });  // not over it
  }
  provider.order("go on");
  provider.expect("15");
  provider.end();
}

TEST_F(ServiceLoans, AProviderOfTheSameProcessReadsOnWhatItHasWhenTheClientIsDestroyed) {
  std::binary_semaphore has(0), pass(0);
  std::atomic<std::int64_t> sum{0};
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work",
      [&](const Work::Request& request) {
        has.release();
        pass.acquire();
        sum = std::accumulate(request.terms.begin(), request.terms.end(), std::int64_t{0});
        return Work::Response{};
      },
      {.parallel = 2});
  auto call = client->call(loaned_addition(*client, 7, 1'000'000));
  has.acquire();
  client.reset();
  pass.release();
  provider.reset();  // waits for the handler
  EXPECT_EQ(sum, 15);
  EXPECT_EQ(kind_of_error(std::move(call)), ServiceError::Kind::cancelled);
}

TEST_F(ServiceLoans, AForkedChildCanNeitherLoanNorCall) {
  Child provider = worker("provider");
  await_providers(*client, 1);
  {
    std::optional<WorkLoan> loan(loaned_addition(*client, 7));
    std::optional<WorkLoan> dropped(loaned_addition(*client, 8));
    const pid_t child = ::fork();
    if (child == 0) {
      dropped.reset();
      bool is_refused = kind_of_error(client->call(std::move(*loan))) == ServiceError::Kind::disconnected;
      WorkLoan own = client->loan();
      own->terms.resize(1000);
      is_refused &= kind_of_error(client->call(std::move(own))) == ServiceError::Kind::disconnected;
      ::_exit(is_refused ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(is_right(client->call(std::move(*loan)).get(), 7));
  }
  provider.end();
}

TEST_F(ServiceLoans, ACallWhileALoanIsBuiltTakesNothingOfItsMemory) {
  WorkLoan loan = client->loan();
  loan.build([&](Work::Request& request) {
    request.terms.push_back(1);
    const std::uint64_t asked = detail::PublisherCore::times_asked();
    ASSERT_GT(asked, 0u);
    client->call(Work::Request{.number = 1, .what = "", .terms = {}}, [](auto, const ServiceError*) {});
    EXPECT_EQ(detail::PublisherCore::times_asked(), asked);
    request.terms.push_back(2);
    EXPECT_GT(detail::PublisherCore::times_asked(), asked);
  });
}

// --- maps ----------------------------------------------------------------------------------------------------------------------------------

ROLE(map_worker) {
  auto node = Node::create("provider");
  auto provider = node->create_service_provider<Lookup::Request, Lookup::Response>("lookup", [](const Lookup::Request& request) {
    Lookup::Response response;
    for (const auto& [name, value] : request.known) response.by_value[value] = name;
    return response;
  });
  say("ready");
  until_finished();
}

TEST_F(ServiceLoans, ARequestWithMapsIsBuiltOnTheHeapAndGoesAsOthersDo) {
  Child provider("map_worker");
  provider.expect("ready");
  auto lookup = node->create_service_client<Lookup::Request, Lookup::Response>("lookup");
  for (int i = 0; i < 100; ++i) {
    auto loan = lookup->loan();
    loan->known["one"] = 1;
    EXPECT_EQ(lookup->call(std::move(loan)).get().by_value.at(1), "one");
  }
  provider.end();
}

// --- every way of calling, on every way that messages go -----------------------------------------------------------------------------------

class LoanedRequestsOn : public Paths {};

TEST_P(LoanedRequestsOn, AreAnsweredHoweverTheyAreCalledWith) {
  auto node = Node::create("client");  // first: the manager is this user's
  std::atomic<std::uint64_t> called{0};
  ProviderOn provided(GetParam());
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  await_providers(*client, 1);
  std::vector<PendingCall<Work::Response>> calls;
  std::vector<PendingCall<std::shared_ptr<const Work::Response>>> shared;
  for (std::uint64_t number = 1; number <= 200; ++number) {
    calls.push_back(client->call(loaned_addition(*client, number, number * 50)));
    shared.push_back(client->call_shared(loaned_addition(*client, number)));
    client->call(loaned_addition(*client, number), [&called, number](std::shared_ptr<const Work::Response> response, const ServiceError*) {
      called += response && is_right(*response, number) ? 1 : 1000;
    });
    EXPECT_TRUE(is_right(*client->call_and_wait(loaned_addition(*client, number)), number)) << number;
  }
  for (std::uint64_t number = 1; number <= 200; ++number) {
    EXPECT_TRUE(is_right(calls[number - 1].get(), number)) << number;
    EXPECT_TRUE(is_right(*shared[number - 1].get(), number)) << number;
  }
  EXPECT_TRUE(eventually([&] { return called == 200; })) << called;
  EXPECT_EQ(client->statistics().answered, 800u);
  EXPECT_EQ(client->statistics().bytes_copied, 0u);
  if (provided.child) provided.child->end();
}

SINEW_ON_PATHS(LoanedRequestsOn, unasked_paths());

}  // namespace
}  // namespace sinew::system
