// Services between processes: what is asked is answered, once, by the right one; what is not says why.
#include "tests/system/service.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "os/fault.hpp"

namespace sinew::system {
namespace {

class Services : public Domain {};
class ServiceCalls : public WithClient {};

TEST_F(ServiceCalls, EveryCallIsAnsweredWithItsOwnResponse) {
  Child provider = worker("provider");
  std::vector<PendingCall<Work::Response>> calls;
  for (std::uint64_t number = 1; number <= 1000; ++number) calls.push_back(client->call(addition(number, 1, number % 50)));
  for (std::uint64_t number = 1; number <= 1000; ++number) EXPECT_TRUE(is_right(calls[number - 1].get(), number, 1, number % 50)) << number;
  for (std::uint64_t number = 1; number <= 100; ++number) EXPECT_TRUE(is_right(*client->call_and_wait(addition(number)), number));
  const ServiceClientStatistics statistics = client->statistics();
  EXPECT_EQ(statistics.calls, 1100u);
  EXPECT_EQ(statistics.answered, 1100u);
  EXPECT_EQ(statistics.pending + statistics.failed + statistics.strays + statistics.resent, 0u);
  provider.end();
}

TEST_F(Services, AnAnswerIsReadWhereTheProviderBuiltIt) {
  auto node = Node::create("provider");
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request, ServiceCall<Work::Response>& call) {
        call.build([&](Work::Response& response) { response.data.assign(request.size, 7); });
      });
  Child client("big_asker");
  client.expect("10000000 bytes of 7");
  client.end();
}

ROLE(big_asker) {
  auto node = Node::create("asker");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  const auto response = client->call_shared({.number = 1, .size = 10'000'000, .what = "", .terms = {}}).get();
  // In the range of the domain's windows, far above every heap: nothing was copied on this side.
  const bool all_seven = std::ranges::all_of(response->data, [](std::uint8_t byte) { return byte == 7; });
  std::ifstream maps("/proc/self/maps");
  bool is_read_only = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    std::array<char, 5> access{};
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, access.data()) != 3) continue;
    const auto at = reinterpret_cast<std::uintptr_t>(response->data.data());
    if (at >= begin && at < end) is_read_only = access[1] == '-' && line.find("memfd") != std::string::npos;
  }
  require(is_read_only, "the response's data are not the provider's own");
  if (all_seven) say(std::to_string(response->data.size()) + " bytes of 7");
  until_finished();
}

TEST_F(ServiceCalls, AnExceptionOfTheHandlerReachesTheClientWithItsText) {
  Child provider = worker("provider");
  EXPECT_EQ(error_of(client->call({.what = "throw the arm is stuck", .terms = {}})), "the arm is stuck");
  EXPECT_EQ(kind_of_error(client->call({.what = "throw again", .terms = {}})), ServiceError::Kind::failed);
  try {
    client->call_and_wait({.what = "throw to who waits", .terms = {}});
    ADD_FAILURE();
  } catch (const ServiceError& error) {
    EXPECT_STREQ(error.what(), "to who waits");
  }
  EXPECT_TRUE(is_right(client->call(addition(4)).get(), 4)) << "it goes on";
  EXPECT_EQ(client->statistics().failed, 3u);
  provider.end();
}

TEST_F(Services, AHandlerThatFindsNoMemoryIsToldApartFromOneThatFails) {
  auto node = Node::create("node");
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request&) -> Work::Response { throw std::bad_alloc(); });
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  EXPECT_EQ(kind_of_error(client->call(addition(1))), ServiceError::Kind::no_memory);
}

TEST_F(ServiceCalls, ACallWaitsForAProviderToCome) {
  auto first = client->call(addition(1));
  auto second = client->call_shared(addition(2));
  EXPECT_EQ(first.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  Child provider = worker("provider");
  EXPECT_TRUE(is_right(first.get(), 1));
  EXPECT_TRUE(is_right(*second.get(), 2));
  provider.end();
}

TEST_F(ServiceCalls, ACallThatIsNotAnsweredInTimeEndsWithAnErrorThatSaysWhy) {
  EXPECT_EQ(error_of(client->call(addition(1), std::chrono::milliseconds(10))),
            "service 'work' gave no answer in time: no provider of it is connected");
  EXPECT_EQ(kind_of_error(client->call_shared(addition(1), std::chrono::nanoseconds(0))), ServiceError::Kind::timeout);
  EXPECT_THROW(client->call_and_wait(addition(1), std::chrono::milliseconds(10)), ServiceError);
  Child provider = worker("provider");
  await_providers(*client, 1);
  EXPECT_TRUE(is_right(client->call(addition(1)).get(), 1));  // what is made with the first request is there
  EXPECT_EQ(error_of(client->call({.what = "wait", .terms = {}}, std::chrono::seconds(1))),
            "service 'work' gave no answer in time: its provider has not answered yet");
  // Which waits until it is cancelled, or has not even begun on a loaded machine: the next one would have to wait for it.
  EXPECT_TRUE(is_right(client->call(addition(2)).get(), 2));
  EXPECT_EQ(client->statistics().pending, 0u);
  provider.end();
}

TEST_F(ServiceCalls, ACancelledCallIsSeenAsCancelledByTheHandlerThatRuns) {
  Child provider = worker("provider");
  auto call = client->call({.what = "wait", .terms = {}});
  provider.expect("waits");
  call.cancel();
  EXPECT_EQ(kind_of_error(std::move(call)), ServiceError::Kind::cancelled);
  provider.expect("cancelled");
  EXPECT_TRUE(is_right(client->call(addition(2)).get(), 2));
  provider.end();
}

TEST_F(ServiceCalls, ACallIsRecalledAsLongAsNoProviderHasIt) {
  const auto call = [&](std::promise<ServiceError::Kind>& end) {
    return client->call({.number = 1, .what = "say", .terms = {}}, [&end](const auto&, const ServiceError* error) {
      end.set_value(error ? error->kind() : ServiceError::Kind::failed);
    });
  };
  std::promise<ServiceError::Kind> recalled, sent;
  const auto first = call(recalled);
  EXPECT_TRUE(client->recall(first));
  EXPECT_EQ(recalled.get_future().get(), ServiceError::Kind::cancelled);
  EXPECT_FALSE(client->recall(first));
  const auto second = call(sent);
  Child provider = worker("provider");
  provider.expect("1 of client");
  EXPECT_FALSE(client->recall(second));
  provider.kill();
  // It waits for another one.
  EXPECT_TRUE(eventually([&] { return client->recall(second); }));
  EXPECT_EQ(sent.get_future().get(), ServiceError::Kind::cancelled);
}

TEST_F(ServiceCalls, ARequestThatIsCancelledBeforeItsTurnIsNotExecuted) {
  Child provider = worker("provider", "parallel=2");
  auto held = client->call({.number = 1, .what = "say", .terms = {}});
  provider.expect("1 of client");
  auto waits = client->call({.what = "wait", .terms = {}});
  provider.expect("waits");
  auto second = client->call({.number = 2, .what = "say", .terms = {}});
  auto third = client->call(addition(3));
  second.cancel();
  waits.cancel();  // which the provider hears of later: then it is the turn of the others
  provider.expect("cancelled");
  EXPECT_TRUE(is_right(third.get(), 3));
  provider.order("go on");
  EXPECT_EQ(held.get().number, 1u);
  provider.end();
}

TEST_F(Services, TheRequestsOfAClientThatGoesAwayAreCancelled) {
  Child provider = worker("provider");
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  auto call = client->call({.what = "wait", .terms = {}});
  provider.expect("waits");
  client.reset();
  EXPECT_EQ(kind_of_error(std::move(call)), ServiceError::Kind::cancelled);
  provider.expect("cancelled");
  provider.end();
}

TEST_F(Services, ACallbackIsCalledOnceWithTheResponseOrTheError) {
  Child provider = worker("provider");
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  std::promise<std::string> error;
  std::promise<std::uint64_t> number;
  client->call(addition(5), [&](std::shared_ptr<const Work::Response> response, const ServiceError* failure) {
    // One callback may make the next call.
    number.set_value(failure ? 0 : response->number);
    client->call({.what = "throw no", .terms = {}}, [&](std::shared_ptr<const Work::Response> none, const ServiceError* why) {
      error.set_value(none || !why ? "answered" : why->what());
    });
  });
  EXPECT_EQ(number.get_future().get(), 5u);
  EXPECT_EQ(error.get_future().get(), "no");
  std::promise<ServiceError::Kind> late;
  client->call(
      {.what = "wait", .terms = {}}, [&](auto, const ServiceError* why) { late.set_value(why ? why->kind() : ServiceError::Kind::failed); },
      std::chrono::milliseconds(50));
  EXPECT_EQ(late.get_future().get(), ServiceError::Kind::timeout);
  // It may also be the end of the client.
  std::promise<void> destroyed;
  client->call(addition(6), [&](auto, const ServiceError*) {
    client.reset();
    destroyed.set_value();
  });
  destroyed.get_future().get();
  provider.end();
}

TEST_F(Services, NoCallbackRunsAfterTheClientWasDestroyedAlsoByACallback) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  std::atomic<bool> all_made{false}, is_destroyed{false};
  std::atomic<int> called{0}, late{0};
  for (int number = 0; number < 10; ++number) {
    client->call(
        addition(1),
        [&](auto, const ServiceError*) {
          if (is_destroyed) ++late;
          if (called == 0 && !eventually([&] { return all_made && client->statistics().failed == 10; })) ADD_FAILURE();
          if (called++ != 1) return;  // the second one: others are due behind it
          client.reset();
          is_destroyed = true;
        },
        std::chrono::milliseconds(1));
  }
  all_made = true;
  EXPECT_TRUE(eventually([&] { return is_destroyed.load(); }));
  EXPECT_EQ(called, 10);
  node.reset();
  EXPECT_EQ(late, 0);
}

TEST_F(Services, ACallCanBeWaitedForInACallbackOfTheSameNode) {
  Child provider = worker("provider");
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  auto ticks = node->create_publisher<std::uint64_t>("ticks");
  std::promise<bool> right;
  auto subscriber = node->create_subscriber<std::uint64_t>("ticks", [&](const std::uint64_t& number) {
    right.set_value(is_right(client->call(addition(number)).get(), number) && is_right(*client->call_and_wait(addition(number)), number));
  });
  ticks->publish(9);
  EXPECT_TRUE(right.get_future().get());
  provider.end();
}

TEST_F(Services, RequestsAreExecutedOnTheThreadThatTheProviderNames) {
  const auto executor = Executor::create({.by_caller = true});
  auto node = Node::create("node", {.executor = executor});
  std::set<std::thread::id> threads;
  const auto note = [&](const Work::Request&) {
    threads.insert(std::this_thread::get_id());
    return Work::Response{};
  };
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  {
    ServiceProviderOptions apart;
    apart.execution_thread = 5;
    auto provider = node->create_service_provider<Work::Request, Work::Response>("work", note, apart);
    client->call(addition(1)).get();
  }
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
  auto provider = node->create_service_provider<Work::Request, Work::Response>("work", note);
  client->call(addition(2), [&](auto, const ServiceError*) { executor->stop(); });
  node->spin();
  EXPECT_TRUE(threads.contains(std::this_thread::get_id()));
  EXPECT_EQ(threads.size(), 2U);
}

TEST_F(Services, RequestsAreExecutedOneAfterTheOtherOrSideBySide) {
  Child one = worker("one");
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  auto first = client->call({.number = 1, .what = "say", .terms = {}});
  auto second = client->call({.number = 2, .what = "say", .terms = {}});
  one.expect("1 of client");
  one.order("go on");
  EXPECT_EQ(first.get().number, 1u);
  one.expect("2 of client");
  one.order("go on");
  EXPECT_EQ(second.get().number, 2u);
  one.end();
  await_providers(*client, 0);

  Child many = worker("many", "parallel=3");
  std::vector<PendingCall<Work::Response>> waiting;
  for (int i = 0; i < 2; ++i) waiting.push_back(client->call({.what = "wait", .terms = {}}));
  many.expect("waits");
  many.expect("waits");
  EXPECT_TRUE(is_right(client->call(addition(3)).get(), 3)) << "beside those that wait";
  for (auto& call : waiting) call.cancel();
  many.expect("cancelled");
  many.expect("cancelled");
  many.end();
}

TEST_F(Services, ARequestIsAnsweredOnceAlsoWhenNoThreadIsToBeHadForIt) {
  std::atomic<bool> has_begun{false}, go_on{false};
  auto node = Node::create("node");
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work",
      [&](const Work::Request& request) {
        has_begun = true;
        EXPECT_TRUE(request.what == "add" || eventually([&] { return go_on.load(); }));
        return result_of(request, "provider");
      },
      {.parallel = 2});
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  await_providers(*client, 1);
  os::fault::arm(os::fault::Call::thread, 1, EAGAIN);
  EXPECT_THROW(client->call_and_wait(addition(1)), ServiceError);  // there is none to do it
  EXPECT_FALSE(has_begun);
  EXPECT_TRUE(is_right(*client->call_and_wait(addition(2)), 2));
  EXPECT_TRUE(is_right(client->call(addition(3)).get(), 3));  // the client has a thread now
  has_begun = false;
  auto held = client->call({.number = 4, .what = "hold", .terms = {}});
  ASSERT_TRUE(eventually([&] { return has_begun.load(); }));
  os::fault::arm(os::fault::Call::thread, 1, EAGAIN);
  auto queued = client->call(addition(5));  // the one that there is does it, unless there are two
  go_on = true;
  EXPECT_EQ(held.get().number, 4u);
  EXPECT_TRUE(is_right(queued.get(), 5));
  os::fault::disarm();
  EXPECT_EQ(client->statistics().strays, 0u);
  EXPECT_TRUE(eventually([&] { return provider->statistics().running == 0; }));  // it forgets a call after it has answered it
}

TEST_F(Services, CallsAreSharedAmongTheProviders) {
  Child one = worker("one"), two = worker("two");
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  await_providers(*client, 2);
  std::map<std::string, int> by;
  for (std::uint64_t number = 1; number <= 100; ++number) {
    const Work::Response response = client->call(addition(number)).get();
    EXPECT_TRUE(is_right(response, number));
    ++by[response.provider];
  }
  EXPECT_EQ(by["one"], 50);
  EXPECT_EQ(by["two"], 50);
  one.end();
  two.end();
}

TEST_F(Services, ATypeThatDiffersIsRefusedAndTheTextNamesServiceAndField) {
  Child provider = worker("provider");
  auto node = Node::create("client");
  try {
    (void)node->create_service_client<OtherWork, Work::Response>("work");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::type_mismatch);
    const std::string text = error.what();
    EXPECT_NE(text.find("work@request"), std::string::npos) << text;
    EXPECT_NE(text.find("body.number"), std::string::npos) << text;
  }
  provider.end();
}

TEST_F(Services, NoTopicHasTheNameOfAServicesOwn) {
  auto node = Node::create("client");
  for (const std::string name : {"work@request", "work@response"}) {
    for (const auto& create : std::vector<std::function<void()>>{[&] { (void)node->create_publisher<std::uint64_t>(name); },
                                                                 [&] { (void)node->create_subscriber<std::uint64_t>(name); }}) {
      try {
        create();
        ADD_FAILURE() << name;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      }
    }
  }
  EXPECT_THROW(((void)node->create_service_client<Work::Request, Work::Response>("a b")), Error);
  EXPECT_THROW(((void)node->create_service_provider<Work::Request, Work::Response>(
                   "work", [](const Work::Request&) { return Work::Response{}; }, {.parallel = 0})),
               Error);
  auto topic = node->create_publisher<std::uint64_t>("work");  // has nothing to do with the service
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
}

TEST_F(Services, AMessageOfOneClientIsNeverSeenByAnother) {
  Child provider = worker("provider");
  std::vector<std::shared_ptr<Node>> nodes;
  std::vector<std::shared_ptr<WorkClient>> clients;
  for (std::uint64_t caller = 0; caller < 5; ++caller) {
    nodes.push_back(Node::create("client" + std::to_string(caller)));
    clients.push_back(nodes.back()->create_service_client<Work::Request, Work::Response>("work"));
  }
  for (std::uint64_t number = 1; number <= 200; ++number) {
    std::vector<PendingCall<Work::Response>> calls;
    for (std::uint64_t caller = 0; caller < 5; ++caller) calls.push_back(clients[caller]->call(addition(number, caller)));
    for (std::uint64_t caller = 0; caller < 5; ++caller) EXPECT_TRUE(is_right(calls[caller].get(), number, caller));
  }
  for (const auto& client : clients) EXPECT_EQ(client->statistics().strays, 0u);
  provider.end();
}

TEST_F(Services, AResponseThatThereIsNoMemoryForBecomesAnError) {
  auto node = Node::create("provider");
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "provider"); }, {.memory_budget = 4 << 20});
  Child client("memory_asker");
  client.expect("no_memory");
  client.expect("right");
  client.end();
}

ROLE(memory_asker) {
  auto node = Node::create("asker");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  const auto kind = kind_of_error(client->call({.number = 1, .size = 50'000'000, .what = "add", .terms = {}}));
  say(kind == ServiceError::Kind::no_memory ? "no_memory" : "something else");
  say(is_right(client->call(addition(2, 1, 1000)).get(), 2, 1, 1000) ? "right" : "wrong");
  until_finished();
}

TEST_F(Services, ARequestThatThereIsNoMemoryForFails) {
  Child provider = worker("provider");
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 2 << 20});
  Work::Request large = addition(1);
  large.terms.assign(1'000'000, 1);
  EXPECT_EQ(kind_of_error(client->call(large)), ServiceError::Kind::no_memory);
  const std::string why = error_of(client->call(large));
  EXPECT_NE(why.find("no memory for the request. A message needs 7."), why.npos) << why;
  EXPECT_TRUE(is_right(client->call(addition(2)).get(), 2));
  provider.end();
}

// Each of its requests has room alone.
ROLE(client_that_waits_for_memory) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 4 << 20});
  await_providers(*client, 1);
  Work::Request large = addition(1);
  large.terms.resize(300'000);
  large.what = "say";
  auto first = client->call(large);
  require(next_order() == "second", "another order");
  auto second = client->call(large);
  say("called");
  say(is_right(first.get(), 1) && is_right(second.get(), 1) ? "right" : "wrong");
  until_finished();
}

TEST_F(Services, ARequestThatWaitsForTheMemoryOfAnotherIsNotSaidToBeLost) {
  Child provider = worker("provider");
  Child client("client_that_waits_for_memory");
  provider.expect("1 of client");
  client.order("second");
  client.expect("called");
  provider.order("go on");
  provider.expect("1 of client");
  provider.order("go on");
  client.expect("right");
  client.end();
  EXPECT_EQ(client.errors().find("not published"), std::string::npos) << client.errors();
  provider.end();
}

TEST_F(Services, CallsOfANodeThatIsDestroyedFail) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  auto call = client->call(addition(1));
  node.reset();
  EXPECT_EQ(kind_of_error(std::move(call)), ServiceError::Kind::disconnected);
  EXPECT_EQ(kind_of_error(client->call(addition(2))), ServiceError::Kind::disconnected);
  EXPECT_THROW(client->call_and_wait(addition(3)), ServiceError);
}

TEST_F(ServiceCalls, AForkedChildCannotCall) {
  Child provider = worker("provider");
  EXPECT_TRUE(is_right(client->call(addition(1)).get(), 1));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_refused = kind_of_error(client->call(addition(1))) == ServiceError::Kind::disconnected;
    ::_exit(is_refused && client->statistics().calls == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(is_right(client->call(addition(2)).get(), 2));
  provider.end();
}

}  // namespace
}  // namespace sinew::system
