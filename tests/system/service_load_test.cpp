// Many clients, each in a process of its own, and a count of every answer.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <set>

#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

class ServiceLoad : public Domain {};

/// Calls of each of ten clients: some thousand, or a tenth of $SINEW_SOAK_CALLS.
std::uint64_t calls_per_client() {
  const char* const asked = std::getenv("SINEW_SOAK_CALLS");
  return asked ? std::stoull(asked) / 10 : static_cast<std::uint64_t>(rounds(2000));
}

// Arguments: number of the client, of calls, how it calls ("futures", "blocking", "callbacks").
ROLE(load_client) {
  const std::uint64_t caller = std::stoull(arguments[0]), count = std::stoull(arguments[1]);
  const std::string& how = arguments[2];
  auto node = Node::create("client" + arguments[0]);
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  std::uint64_t wrong = 0;
  if (how == "blocking") {
    for (std::uint64_t number = 1; number <= count; ++number)
      wrong += !is_right(*client->call_and_wait(addition(number, caller)), number, caller);
  } else if (how == "futures") {
    constexpr std::uint64_t together = 50;
    for (std::uint64_t first = 1; first <= count; first += together) {
      std::vector<PendingCall<Work::Response>> calls;
      for (std::uint64_t number = first; number < first + together && number <= count; ++number) {
        calls.push_back(client->call(addition(number, caller, number % 300)));
      }
      for (std::uint64_t i = 0; i < calls.size(); ++i) wrong += !is_right(calls[i].get(), first + i, caller, (first + i) % 300);
    }
  } else {
    std::vector<std::atomic<std::uint32_t>> answers(count + 1);
    std::atomic<std::uint64_t> open{0}, bad{0};
    for (std::uint64_t number = 1; number <= count; ++number) {
      while (open.load() > 200) std::this_thread::yield();
      ++open;
      client->call(addition(number, caller), [&, number](std::shared_ptr<const Work::Response> response, const ServiceError* error) {
        bad += error != nullptr || !is_right(*response, number, caller);
        ++answers[number];
        --open;
      });
    }
    require(eventually([&] { return open.load() == 0; }), "calls stay open");
    wrong = bad + static_cast<std::uint64_t>(std::ranges::count_if(answers, [](const auto& each) { return each.load() != 1; })) - 1;
  }
  const ServiceClientStatistics statistics = client->statistics();
  require(wrong == 0, std::to_string(wrong) + " wrong answers");
  require(statistics.answered == count && statistics.failed == 0 && statistics.strays == 0 && statistics.pending == 0,
          "answered " + std::to_string(statistics.answered) + ", failed " + std::to_string(statistics.failed) + ", strays " +
              std::to_string(statistics.strays) + ", pending " + std::to_string(statistics.pending));
  say("answered " + std::to_string(statistics.answered));
}

class ServiceLoadBy : public ServiceLoad, public ::testing::WithParamInterface<const char*> {};

TEST_P(ServiceLoadBy, OfManyCallsOfTenClientsNoneIsLostAndNoneIsAnsweredTwice) {
  const std::string options = GetParam() == std::string("callbacks") ? "parallel=4" : "";
  Child one = worker("one", options), two = worker("two", options);
  const std::uint64_t count = calls_per_client();
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Child> clients;
  for (int i = 0; i < 10; ++i) clients.emplace_back("load_client", Arguments{std::to_string(i), std::to_string(count), GetParam()});
  for (Child& client : clients) {
    std::optional<std::string> line;
    EXPECT_TRUE(eventually([&] { return client.has_ended(); }) || std::getenv("SINEW_SOAK_CALLS"));
    EXPECT_EQ(client.wait(), 0) << client.errors();
    client.expect("answered " + std::to_string(count));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  RecordProperty("calls_per_second", std::to_string(static_cast<double>(10 * count) / took.count()));
  if (std::getenv("SINEW_SOAK_CALLS")) {
    std::printf("%llu calls in %.1f s\n", static_cast<unsigned long long>(10 * count), took.count());
  }
  one.end();
  two.end();
}

INSTANTIATE_TEST_SUITE_P(By, ServiceLoadBy, ::testing::Values("futures", "blocking", "callbacks"),
                         [](const auto& how) { return std::string(how.param); });

TEST_F(ServiceLoad, CallsAreAnsweredOnceWhileProvidersDieAndComeAllTheTime) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  const auto until = std::chrono::steady_clock::now() + soak();
  std::deque<Child> providers;
  providers.push_back(worker("provider0"));
  std::uint64_t number = 0, generation = 0;
  while (generation < 2 || std::chrono::steady_clock::now() < until) {
    std::vector<PendingCall<Work::Response>> calls;
    for (int i = 0; i < 400; ++i) calls.push_back(client->call(addition(number + static_cast<std::uint64_t>(i) + 1, 1, 2000)));
    providers.push_back(worker("provider" + std::to_string(++generation)));
    providers.front().kill();
    providers.pop_front();
    for (auto& call : calls) ASSERT_TRUE(is_right(call.get(), ++number, 1, 2000)) << number;
  }
  EXPECT_EQ(client->statistics().answered, number);
  EXPECT_EQ(client->statistics().strays, 0u);
  for (Child& provider : providers) provider.end();
}

// A service sends to one reader at a time and never waits: it needs neither a ring for all nor a bell for space, nor a lane's ring once its reader has it.
TEST_F(ServiceLoad, AClientCostsNoDescriptorsButForItsMemoryItsSocketsAndTheOtherSidesBell) {
  Child provider = worker("worker");
  auto node = Node::create("client");
  std::vector<std::shared_ptr<WorkClient>> clients;
  const auto add = [&] {
    clients.push_back(node->create_service_client<Work::Request, Work::Response>("work"));
    await_providers(*clients.back(), 1);
    EXPECT_TRUE(is_right(*clients.back()->call_and_wait(addition(1)), 1));
  };
  add();  // what the node makes once
  constexpr std::size_t more = 8;
  const auto settled = [](const auto& count) {
    std::size_t last = count();
    eventually([&, same = 0]() mutable {
      const std::size_t now = count();
      same = now == last ? same + 1 : 0;
      last = now;
      return same == 100;
    });
    return last;
  };
  const auto count_here = [] { return descriptors_of(::getpid()); };
  const auto count_there = [&] { return provider.descriptors(); };
  const std::size_t here = settled(count_here), there = settled(count_there);
  for (std::size_t i = 0; i < more; ++i) add();
  EXPECT_EQ(settled(count_here) - here, more * 7);
  EXPECT_EQ(settled(count_there) - there, more * 4) << "the request's socket; the response's socket, and the client's bell and process";
  provider.end();
}

}  // namespace
}  // namespace sinew::system
