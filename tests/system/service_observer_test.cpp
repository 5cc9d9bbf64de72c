// Who looks on at a service: ghosts that read its topics as streams, as recorders do.
#include <cstring>
#include <iostream>
#include <map>

#include "api/raw_subscriber.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

using detail::RawFrame;
using detail::RawSubscriber;

std::shared_ptr<ServiceProvider<std::uint64_t, std::uint64_t>> doubler(Node& node) {
  return node.create_service_provider<std::uint64_t, std::uint64_t>("double", [](const std::uint64_t& number) { return 2 * number; });
}

ROLE(doubler) {
  auto node = Node::create("provider");
  auto provider = doubler(*node);
  say("ready");
  until_finished();
}

void await_order() {
  std::string line;
  require(static_cast<bool>(std::getline(std::cin, line)), "there is no order to go on");
}

std::string signature_of(const Node& node, const std::string& topic) {
  for (const DomainTopic& each : node.domain_state().topics) {
    if (each.name == topic) return each.schema;
  }
  return "";
}

/// Of everything that is sent there from now on; `depth` 0: keep all.
RawSubscriber observer_of(const Node& node, const std::string& topic, std::uint32_t depth = 100) {
  SubscriberOptions options;
  options.ghost = Ghost::observer;
  return RawSubscriber::create(node, topic, signature_of(node, topic), {}, depth > 0 ? Qos{}.keep_last(depth) : Qos{}.keep_all().reliable(),
                               options);
}

void await_publishers(const RawSubscriber& observer, std::uint64_t count) {
  require(eventually([&] { return observer.core().statistics().publishers == count; }), "the observer is not connected");
}

/// The numbers of 8 bytes behind the encapsulation.
std::vector<std::uint64_t> numbers_of(const RawFrame& frame, std::size_t count) {
  std::vector<std::byte> stream;
  for (const auto& extent : frame.extents) stream.insert(stream.end(), extent.begin(), extent.end());
  std::vector<std::uint64_t> numbers(count);
  require(stream.size() >= 4 + 8 * count, "the stream is too short");
  std::memcpy(numbers.data(), stream.data() + 4, 8 * count);
  return numbers;
}

std::shared_ptr<RawFrame> take_soon(const RawSubscriber& observer) {
  auto frame = observer.take(std::chrono::minutes(1));
  require(frame != nullptr, "nothing is shown");
  return frame;
}

enum class Where { same_process, other_process };

class ServiceObservers : public Domain, public testing::WithParamInterface<Where> {
 protected:
  void SetUp() override {
    Domain::SetUp();
    node = Node::create("client");
    tool = Node::create("tool");
    if (GetParam() == Where::other_process) {
      child.emplace("doubler");
      child->expect("ready");
    } else {
      provider = doubler(*node);
    }
    client = node->create_service_client<std::uint64_t, std::uint64_t>("double");
    EXPECT_EQ(client->call(1).get(), 2u);
  }
  void TearDown() override {
    client.reset();
    provider.reset();
    if (child) child->end();
    tool.reset();
    node.reset();
    Domain::TearDown();
  }
  std::shared_ptr<Node> node, tool;
  std::optional<Child> child;
  std::shared_ptr<ServiceProvider<std::uint64_t, std::uint64_t>> provider;
  std::shared_ptr<ServiceClient<std::uint64_t, std::uint64_t>> client;
};

TEST_P(ServiceObservers, W70_AreShownEachRequestAndItsResponse) {
  const RawSubscriber requests = observer_of(*tool, "double@request"), responses = observer_of(*tool, "double@response");
  await_publishers(requests, 1);
  await_publishers(responses, 1);
  for (std::uint64_t number = 2; number < 50; ++number) {
    ASSERT_EQ(client->call(number).get(), 2 * number);
    const auto request = take_soon(requests), response = take_soon(responses);
    EXPECT_EQ(numbers_of(*request, 2), (std::vector<std::uint64_t>{number, number})) << "the number of the call, and the body";
    EXPECT_EQ(numbers_of(*response, 3), (std::vector<std::uint64_t>{number, 0, 2 * number}));
    EXPECT_EQ(request->info.publisher, "client");
  }
  EXPECT_EQ(client->statistics().providers, 1u) << "who looks on is no provider";
  EXPECT_EQ(requests.core().statistics().missed, 0u);
  EXPECT_EQ(responses.core().statistics().missed, 0u);
}

TEST_P(ServiceObservers, W70_ThatTakeNothingHoldNobodyUpAndCountWhatTheyMissed) {
  const RawSubscriber few = observer_of(*tool, "double@request", 4), all = observer_of(*tool, "double@request", 0);
  await_publishers(few, 1);
  await_publishers(all, 1);
  for (std::uint64_t number = 2; number < 3002; ++number) ASSERT_EQ(client->call(number).get(), 2 * number);
  std::map<const RawSubscriber*, std::uint64_t> taken;
  for (const RawSubscriber* const observer : {&few, &all}) {
    std::uint64_t last = 0;
    while (const auto frame = observer->take(std::chrono::nanoseconds{0})) {
      EXPECT_GT(numbers_of(*frame, 2)[1], last);
      last = numbers_of(*frame, 2)[1];
      ++taken[observer];
    }
    EXPECT_EQ(last, 3001u) << "the newest are there";
    EXPECT_EQ(taken[observer] + observer->core().statistics().missed, 3000u);
  }
  EXPECT_EQ(taken[&few], 4u);
  EXPECT_GT(taken[&all], 900u) << "about a ring";
}

TEST_P(ServiceObservers, MayComeAndGoWhileCallsAreMade) {
  std::jthread calls([&](const std::stop_token& stop) {
    for (std::uint64_t number = 2; !stop.stop_requested(); ++number) ASSERT_EQ(client->call(number).get(), 2 * number);
  });
  for (int i = 0; i < rounds(100); ++i) {
    const RawSubscriber requests = observer_of(*tool, "double@request"), responses = observer_of(*tool, "double@response");
    if (i % 2 == 0) (void)take_soon(i % 4 == 0 ? requests : responses);
  }
}

TEST_P(ServiceObservers, CannotBePlainSubscribers) {
  try {
    (void)RawSubscriber::create(*tool, "double@request", signature_of(*tool, "double@request"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
  }
}

INSTANTIATE_TEST_SUITE_P(Everywhere, ServiceObservers, testing::Values(Where::same_process, Where::other_process),
                         [](const auto& where) { return where.param == Where::same_process ? "same_process" : "other_process"; });

class ServiceObserversOfMuch : public Domain {};

// 64 answers of half a megabyte each in a budget of 4 MiB.
TEST_F(ServiceObserversOfMuch, GiveUpWhatTheyHaveNotTakenWhereMemoryIsShort) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "provider"); }, {.memory_budget = 4 << 20});
  Child calls("observed_caller");
  calls.expect("ready");
  const RawSubscriber takes_nothing = observer_of(*tool, "work@response");
  await_publishers(takes_nothing, 1);
  calls.order("go");
  calls.expect("done");
  std::uint64_t taken = 0;
  const auto each_is_accounted_for = [&] {
    while (takes_nothing.take(std::chrono::nanoseconds{0})) ++taken;
    return taken + takes_nothing.core().statistics().missed >= 64;
  };
  EXPECT_TRUE(eventually(each_is_accounted_for)) << "the last is shown after its client has it";
  EXPECT_GE(taken, 1u);
  EXPECT_LE(taken, 9u) << "more than the budget, and the last";
  EXPECT_EQ(taken + takes_nothing.core().statistics().missed, 64u);
  calls.end();
}

// It has claimed a quarter of the budget, which stays its own; the rest suffices.
TEST_F(ServiceObserversOfMuch, KeepWhatTheyHoldAndNoMoreThanTheirQuota) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "provider"); }, {.memory_budget = 8 << 20});
  Child calls("observed_caller");
  calls.expect("ready");
  const RawSubscriber observer = observer_of(*tool, "work@response");
  await_publishers(observer, 1);
  std::vector<std::shared_ptr<RawFrame>> held;
  std::jthread takes([&](const std::stop_token& stop) {
    while (!stop.stop_requested() && held.size() + observer.core().statistics().missed < 64) {
      if (auto frame = observer.take(std::chrono::milliseconds(10))) held.push_back(std::move(frame));
    }
  });
  calls.order("go");
  calls.expect("done");
  takes.join();
  std::uint64_t last = 0;
  for (const auto& frame : held) {
    EXPECT_GT(numbers_of(*frame, 1)[0], last) << "the number of its call, as it was";
    last = numbers_of(*frame, 1)[0];
  }
  calls.end();
}

ROLE(observed_caller) {
  auto node = Node::create("caller");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  require(is_right(client->call(addition(1)).get(), 1, 1, 0), "the answer is wrong");
  say("ready");
  await_order();
  for (std::uint64_t i = 0; i < 64; ++i)
    require(is_right(client->call(addition(i, 1, 500'000)).get(), i, 1, 500'000), "the answer is wrong");
  say("done");
  until_finished();
}

// A type with maps has no object that could be read in place: each reader's copy is a stream.
TEST_F(ServiceObserversOfMuch, AreShownTypesWithMapsAndLoans) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto provider = node->create_service_provider<Lookup::Request, Lookup::Response>("lookup", [](const Lookup::Request& request) {
    Lookup::Response response;
    for (const auto& [name, value] : request.known) response.by_value[value] = name;
    return response;
  });
  auto client = node->create_service_client<Lookup::Request, Lookup::Response>("lookup");
  const RawSubscriber requests = observer_of(*tool, "lookup@request"), responses = observer_of(*tool, "lookup@response");
  await_publishers(requests, 1);
  await_publishers(responses, 1);
  EXPECT_EQ(client->call({.known = {{"one", 1}}}).get().by_value.at(1), "one");
  EXPECT_EQ(numbers_of(*take_soon(requests), 1)[0], 1u);
  EXPECT_EQ(numbers_of(*take_soon(responses), 1)[0], 1u);

  auto work = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request, ServiceCall<Work::Response>&) { return result_of(request, "provider"); });
  Child calls("loaning_caller");
  calls.expect("ready");
  const RawSubscriber of_loans = observer_of(*tool, "work@request");
  await_publishers(of_loans, 1);
  calls.order("go");
  calls.expect("done");
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(numbers_of(*take_soon(of_loans), 3)[2], 100 + i) << "the second member of the body";
  calls.end();
}

ROLE(loaning_caller) {
  auto node = Node::create("caller");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  require(is_right(client->call(addition(1)).get(), 1, 1, 0), "the answer is wrong");
  say("ready");
  await_order();
  for (std::uint64_t i = 0; i < 10; ++i) {
    require(is_right(client->call(loaned_addition(*client, 100 + i, 2000)).get(), 100 + i, 1, 0), "the answer is wrong");
  }
  say("done");
  until_finished();
}

// Of the topic arguments[0], of which it keeps all.
ROLE(observing_tool) {
  auto node = Node::create("observer");
  const RawSubscriber observer = observer_of(*node, arguments.at(0));
  await_publishers(observer, 1);
  std::vector<std::shared_ptr<RawFrame>> held;
  say("ready");
  while (auto frame = observer.take(std::chrono::nanoseconds::max())) held.push_back(std::move(frame));
}

TEST_F(ServiceObserversOfMuch, WhoDieTakeNothingWithThem) {
  auto node = Node::create("node");
  auto provider = doubler(*node);
  auto client = node->create_service_client<std::uint64_t, std::uint64_t>("double");
  EXPECT_EQ(client->call(1).get(), 2u);
  std::uint64_t number = 2;
  for (int i = 0; i < rounds(20); ++i) {
    Child observer("observing_tool", {"double@request"});
    observer.expect("ready");
    for (int n = 0; n < 200; ++n, ++number) ASSERT_EQ(client->call(number).get(), 2 * number);
    observer.kill();
    for (int n = 0; n < 200; ++n, ++number) ASSERT_EQ(client->call(number).get(), 2 * number);
  }
}

}  // namespace
}  // namespace sinew::system
