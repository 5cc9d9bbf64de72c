// Services in C: calls and answers, to and from programs in C++, and how each of them ends.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "bindings/c/tests/service_in_c.hpp"
#include "tests/system/foreign.hpp"

namespace sinew::system {

/// Of any type a body has to be made for an error.
struct Odd {
  std::array<std::string, 3> names;
  std::variant<std::vector<double>, std::uint8_t> either;
  std::array<double, 1000> numbers{};
  std::optional<std::string> maybe;
  std::map<std::string, double> known;
  std::uint8_t last = 0;
};

namespace {

class ServicesInC : public InC {};

class ServicesOfUsersInC : public InC {
 protected:
  void SetUp() override {
    Domain::SetUp();
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    let_stranger_join();
    create_node();
  }
};

// --- who understands whom ------------------------------------------------------------------------------------------------------------

// A provider in C, in a process of its own. It has the options "once" and "keep": then it ends no call.
ROLE(worker_in_c) {
  const std::string words = arguments[0];
  sinew_node* node = nullptr;
  require(sinew_node_create("worker_in_c", nullptr, &node) == SINEW_OK, sinew_last_error());
  const auto keep = [](sinew_call*) { say("has it"); };
  const ProviderInC provider(node, words.find("keep") == std::string::npos ? ProviderInC::Handler() : keep,
                             words.find("once") != std::string::npos);
  say("ready");
  until_finished();
  sinew_node_destroy(node);
}

TEST_F(ServicesInC, AProviderInCAnswersAClientInC) {
  const ProviderInC provider(node);
  const ClientInC client(node);
  for (const std::uint64_t size : {0U, 1U, 2U, 3U, 5000U, 1'000'000U}) EXPECT_EQ(client.add(7, size), "") << size;
  EXPECT_EQ(client.statistics().calls, 6U);
  EXPECT_EQ(client.statistics().answered, 6U);
  EXPECT_TRUE(eventually([&] { return provider.statistics().running == 0; }));
  EXPECT_EQ(provider.statistics().answered, 6U);
  EXPECT_EQ(provider.statistics().clients, 1U);
}

TEST_F(ServicesInC, AProviderInAnotherProcessAnswersAClientInC) {
  Child provider("worker_in_c", {""});
  provider.expect("ready");
  const ClientInC client(node);
  for (std::uint64_t number = 1; number <= 100; ++number) ASSERT_EQ(client.add(number, number), "");
  provider.end();
}

TEST_F(ServicesInC, AProviderInCppAnswersAClientInCWhereverItRuns) {
  for (const Where where : {Where::this_process, Where::other_process}) {
    ProviderOn provider(Path{"", where, {}, Delivery::view});
    const ClientInC client(node);
    for (std::uint64_t number = 1; number <= 20; ++number) ASSERT_EQ(client.add(number, 1000 * number), "") << static_cast<int>(where);
    if (provider.child) provider.child->end();
  }
}

TEST_F(ServicesInC, AProviderInCAnswersAClientInCppWhereverItRuns) {
  auto cpp = Node::create("cpp");
  const auto expect_answers = [&] {
    auto client = cpp->create_service_client<Work::Request, Work::Response>("work");
    for (std::uint64_t number = 1; number <= 20; ++number) {
      ASSERT_TRUE(is_right(client->call(addition(number, 1, 1000 * number)).get(), number, 1, 1000 * number));
    }
  };
  {
    const ProviderInC provider(node);
    expect_answers();
  }
  Child provider("worker_in_c", {""});
  provider.expect("ready");
  expect_answers();
  provider.end();
}

TEST_F(ServicesOfUsersInC, AProviderOfAnotherUserAnswersAClientInC) {
  Child provider = worker("provider", "stranger");
  const ClientInC client(node);
  for (std::uint64_t number = 1; number <= 20; ++number) ASSERT_EQ(client.add(number, 1000 * number), "");
  EXPECT_EQ(client.call(stream_of(Work::Request{.what = "throw no", .terms = {}})), SINEW_FAILED);
  provider.end();
}

ROLE(stranger_who_calls) {
  become_stranger();
  auto node = Node::create("stranger");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  for (std::uint64_t number = 1; number <= 20; ++number) {
    require(is_right(client->call(addition(number, 1, 1000 * number)).get(), number, 1, 1000 * number), "it is wrong");
  }
  require(error_of(client->call({.what = "throw no", .terms = {}})) == "no", "it does not fail");
}

TEST_F(ServicesOfUsersInC, AProviderInCAnswersAClientOfAnotherUser) {
  const ProviderInC provider(node);
  Child client("stranger_who_calls");
  client.end();
}

TEST_F(ServicesInC, WhatTheClientIsCalledIsToldWithItsRequest) {
  std::string name;
  const ProviderInC provider(node, [&](sinew_call* call) {
    name = sinew_frame_info(sinew_call_request(call)).publisher;
    ProviderInC::answer_rightly(call);
  });
  auto cpp = Node::create("cpp");
  auto client = cpp->create_service_client<Work::Request, Work::Response>("work");
  client->call_and_wait(addition(1));
  EXPECT_EQ(name, "cpp");
}

TEST_F(ServicesInC, AFrameBeginsWithTheEncapsulationAloneAndItsBodyIsAligned) {
  std::size_t aligned = 0;
  const auto look = [&](const sinew_frame* frame) {
    ASSERT_EQ(sinew_frame_extent(frame, 0).size, 4U);
    if (reinterpret_cast<std::uintptr_t>(sinew_frame_extent(frame, 1).data) % 8 == 0) ++aligned;
  };
  const ProviderInC provider(node, [&](sinew_call* call) {
    look(sinew_call_request(call));
    ProviderInC::answer_rightly(call);
  });
  const ClientInC client(node);
  const Stream request = stream_of(addition(1));
  const sinew_extent extent{request.data(), request.size()};
  sinew_frame* frame = nullptr;
  ASSERT_EQ(sinew_client_call(client.get(), &extent, 1, -1, &frame), SINEW_OK) << sinew_last_error();
  look(frame);
  sinew_frame_release(frame);
  EXPECT_EQ(aligned, 2U);
}

// --- big ones ------------------------------------------------------------------------------------------------------------------------

TEST_F(ServicesInC, TenMegabytesEachWayAreCopiedOnceAndReadWhereTheyLie) {
  std::size_t largest = 0;
  const ProviderInC provider(node, [&](sinew_call* call) {
    const sinew_frame* const frame = sinew_call_request(call);
    for (std::size_t i = 0; i < sinew_frame_extent_count(frame); ++i) largest = std::max(largest, sinew_frame_extent(frame, i).size);
    ProviderInC::answer_rightly(call);
  });
  const ClientInC client(node);
  Work::Request request = addition(7, 1, ten_megabytes);
  request.terms.resize(ten_megabytes / sizeof(std::int64_t));
  const Stream stream = stream_of(request);
  Stream response;
  ASSERT_EQ(client.call(stream, &response), SINEW_OK) << sinew_last_error();
  EXPECT_TRUE(is_right(value_in<Work::Response>(response), 7, 1, ten_megabytes));
  EXPECT_GT(largest, ten_megabytes - 100);
  EXPECT_LT(client.statistics().bytes_copied, stream.size() + 100);
  EXPECT_LT(provider.statistics().bytes_copied, response.size() + 100);
  auto cpp = Node::create("cpp");
  auto from_cpp = cpp->create_service_client<Work::Request, Work::Response>("work");
  largest = 0;
  EXPECT_TRUE(is_right(*from_cpp->call_and_wait(loaned_addition(*from_cpp, 7, ten_megabytes / sizeof(std::int64_t))), 7));
  EXPECT_GE(largest, ten_megabytes) << "the array that was built in shared memory is an extent as a whole";
}

TEST_F(ServicesInC, TenMegabytesOfAProviderInCppAreReadWhereItBuiltThem) {
  Child provider = worker("provider");
  const ClientInC client(node);
  const Stream request = stream_of(addition(7, 1, ten_megabytes));
  const sinew_extent extent{request.data(), request.size()};
  sinew_frame* frame = nullptr;
  ASSERT_EQ(sinew_client_call(client.get(), &extent, 1, -1, &frame), SINEW_OK) << sinew_last_error();
  ASSERT_GE(sinew_frame_extent_count(frame), 3U);
  EXPECT_TRUE(is_right(value_in<Work::Response>(joined(frame)), 7, 1, ten_megabytes));
  sinew_frame_release(frame);
  provider.end();
}

TEST_F(ServicesInC, NumbersMayHaveTheirMostSignificantByteFirst) {
  const ProviderInC provider(node, [](sinew_call* call) {
    const Stream request = joined(sinew_call_request(call));
    const Stream expected{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    EXPECT_TRUE(request.size() > expected.size() && std::equal(expected.begin(), expected.end(), request.begin()));
    Stream response(4 + 8 + 8 + 8 + 4 + 4);
    response[4 + 23] = 5;  // the total
    ProviderInC::answer(call, response);
  });
  Stream request(4 + 8 + 8 + 8 + 4 + 4);
  request[4 + 7] = 1;
  const ClientInC client(node);
  Stream response;
  ASSERT_EQ(client.call(request, &response), SINEW_OK) << sinew_last_error();
  EXPECT_EQ(value_in<Work::Response>(response).total, 5);
}

// --- when it is answered -------------------------------------------------------------------------------------------------------------

TEST_F(ServicesInC, CallsMayBeAnsweredLateOnAnotherThreadInAnyOrder) {
  Kept kept;
  const ProviderInC provider(node, [&](sinew_call* call) { kept.keep(call); });
  const ClientInC client(node);
  std::vector<std::unique_ptr<PendingInC>> calls;
  for (std::uint64_t number = 0; number < 100; ++number) {
    calls.push_back(std::make_unique<PendingInC>(stream_of(addition(number))));
    calls.back()->start(client);
  }
  ASSERT_TRUE(eventually([&] { return kept.count() == calls.size(); }));
  EXPECT_EQ(provider.statistics().running, calls.size());
  std::thread answering([&] {
    auto all = kept.take();
    std::ranges::reverse(all);
    for (sinew_call* const call : all) ProviderInC::answer_rightly(call);
  });
  for (std::uint64_t number = 0; number < 100; ++number) {
    ASSERT_TRUE(calls[number]->ends());
    EXPECT_EQ(calls[number]->status, SINEW_OK) << calls[number]->error;
    EXPECT_TRUE(is_right(value_in<Work::Response>(calls[number]->response), number));
  }
  answering.join();
  EXPECT_TRUE(eventually([&] { return provider.statistics().running == 0; }));
}

TEST_F(ServicesInC, EachOfManyClientsHasItsOwnAnswers) {
  const ProviderInC one(node), other(node);
  constexpr std::uint64_t clients = 4;
  std::vector<std::thread> threads;
  for (std::uint64_t caller = 0; caller < clients; ++caller) {
    threads.emplace_back([&, caller] {
      const ClientInC client(node);
      client.await_providers(2);
      for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(rounds(300)); ++i) {
        const std::uint64_t number = clients * i + caller;
        ASSERT_EQ(client.add(number, number % 5000), "");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(one.statistics().answered, 0U);
  EXPECT_GT(other.statistics().answered, 0U);
}

TEST_F(ServicesInC, TheCallersLoopMayRunAProvider) {
  sinew_node* by_caller = nullptr;
  auto options = sized<sinew_node_options>();
  options.by_caller = true;
  ASSERT_EQ(sinew_node_create("by_caller", &options, &by_caller), SINEW_OK) << sinew_last_error();
  {
    std::thread::id where;
    const ProviderInC provider(by_caller, [&](sinew_call* call) {
      where = std::this_thread::get_id();
      ProviderInC::answer_rightly(call);
    });
    PendingInC call(stream_of(addition(1)));
    const ClientInC client(node);
    call.start(client);
    int fd = -1;
    ASSERT_EQ(sinew_node_fd(by_caller, &fd), SINEW_OK);
    while (call.called == 0) {
      pollfd wanted{fd, POLLIN, 0};
      ::poll(&wanted, 1, 1);
      ASSERT_EQ(sinew_node_dispatch(by_caller), SINEW_OK);
    }
    EXPECT_EQ(call.status, SINEW_OK) << call.error;
    EXPECT_EQ(where, std::this_thread::get_id());
  }
  sinew_node_destroy(by_caller);
}

// --- errors --------------------------------------------------------------------------------------------------------------------------

TEST_F(ServicesInC, WhatAHandlerInCppThrowsIsToldInC) {
  Child provider = worker("provider");
  const ClientInC client(node);
  EXPECT_EQ(client.call(stream_of(Work::Request{.what = "throw it is too late", .terms = {}})), SINEW_FAILED);
  EXPECT_STREQ(sinew_last_error(), "it is too late");
  PendingInC call(stream_of(Work::Request{.what = "throw it is still too late", .terms = {}}));
  call.start(client);
  ASSERT_TRUE(call.ends());
  EXPECT_EQ(call.status, SINEW_FAILED);
  EXPECT_EQ(call.error, "it is still too late");
  provider.end();
}

TEST_F(ServicesInC, WhatAProviderInCFailsWithIsToldInCpp) {
  const ProviderInC provider(node);
  auto cpp = Node::create("cpp");
  auto client = cpp->create_service_client<Work::Request, Work::Response>("work");
  for (const std::string text : {"", "x", "it is too late"}) {
    const auto call = [&] { return client->call({.what = "throw " + text, .terms = {}}); };
    EXPECT_EQ(error_of(call()), text);
    EXPECT_EQ(kind_of_error(call()), ServiceError::Kind::failed);
  }
  const std::string long_one(100'000, 'x');
  EXPECT_EQ(error_of(client->call({.what = "throw " + long_one, .terms = {}})), long_one.substr(0, 64 * 1024));
  EXPECT_TRUE(eventually([&] { return provider.statistics().threw == 7; }));
}

TEST_F(ServicesInC, ACallThatIsLetGoOfUnansweredFails) {
  const ProviderInC provider(node, sinew_call_release);
  const ClientInC client(node);
  EXPECT_EQ(client.call(stream_of(addition(1))), SINEW_FAILED);
  EXPECT_STREQ(sinew_last_error(), "the provider let go of the request without an answer");
}

TEST_F(ServicesInC, AnErrorReachesClientsInCppWhateverTheTypeOfTheResponse) {
  auto options = sized<sinew_provider_options>();
  options.on_request = [](void*, sinew_call* call) { sinew_call_fail(call, "no"); };
  sinew_provider* provider = nullptr;
  ASSERT_EQ(sinew_provider_create(node, "odd", request_type(), msg::message_of<Odd>().signature, &options, &provider), SINEW_OK)
      << sinew_last_error();
  auto cpp = Node::create("cpp");
  auto client = cpp->create_service_client<Work::Request, Odd>("odd");
  EXPECT_EQ(error_of(client->call(addition(1))), "no");
  sinew_provider_destroy(provider);
}

TEST_F(ServicesInC, WhatIsNoStreamOfTheTypeIsRefusedWhereItIsGiven) {
  sinew_status answered = SINEW_OK;
  std::string why;
  std::atomic<int> handled{0};  // the client may hear first
  const ProviderInC provider(node, [&](sinew_call* call) {
    Stream response = stream_of(Work::Response());
    response.pop_back();
    answered = ProviderInC::answer(call, response);
    why = sinew_last_error();
    ++handled;
  });
  const ClientInC client(node);
  Stream request = stream_of(addition(1));
  EXPECT_EQ(client.call(request), SINEW_FAILED);
  const std::string told = sinew_last_error();
  ASSERT_TRUE(eventually([&] { return handled == 1; }));
  EXPECT_EQ(answered, SINEW_INVALID_MESSAGE);
  EXPECT_EQ(why, "it is no stream of the type 'sinew/system/Work/Response': it ends too early");
  EXPECT_EQ(told, "the response cannot be sent: " + why);
  request.resize(request.size() + 3);
  EXPECT_EQ(client.call(request), SINEW_FAILED) << "writers may pad";
  request.push_back(0);
  EXPECT_EQ(client.call(request), SINEW_INVALID_MESSAGE);
  EXPECT_STREQ(sinew_last_error(), "it is no stream of the type 'sinew/system/Work/Request': it goes on behind the value");
  request.pop_back();
  request[3] = 3;
  EXPECT_EQ(client.call(request), SINEW_INVALID_MESSAGE) << "streams of sinew have no options";
  EXPECT_EQ(client.call({}), SINEW_INVALID_MESSAGE);
  EXPECT_STREQ(sinew_last_error(),
               "it is no stream of the type 'sinew/system/Work/Request': it does not begin with the bytes 00 01 00 00, or 00 00 00 00");
  EXPECT_EQ(client.statistics().calls, 2U);
}

TEST_F(ServicesInC, OtherTypesAndWhatIsNoTypeAreRefused) {
  const ProviderInC provider(node);
  sinew_client* client = nullptr;
  EXPECT_EQ(sinew_client_create(node, "work", "uint32", response_type(), nullptr, &client), SINEW_TYPE_MISMATCH);
  EXPECT_EQ(sinew_client_create(node, "work", request_type(), "uint33", nullptr, &client), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "topic 'work@response': no message has the type 'uint33': it has the unknown type 'uint33'");
  EXPECT_EQ(sinew_client_create(node, "no spaces", request_type(), response_type(), nullptr, &client), SINEW_INVALID_ARGUMENT);
  auto ghost = sized<sinew_client_options>();
  ghost.ghost = SINEW_GHOST_OBSERVER;
  EXPECT_EQ(sinew_client_create(node, "nothing", request_type(), response_type(), &ghost, &client), SINEW_UNAVAILABLE);
  auto small = sized<sinew_client_options>();
  small.memory_budget = 1;
  EXPECT_EQ(sinew_client_create(node, "work", request_type(), response_type(), &small, &client), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(),
               "service 'work': memory_budget = 1 is out of range: 65536 bytes or more, as memory is taken in pieces of that");
  EXPECT_EQ(client, nullptr);
  auto options = sized<sinew_provider_options>();
  sinew_provider* other = nullptr;
  EXPECT_EQ(sinew_provider_create(node, "work", request_type(), response_type(), &options, &other), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the option 'on_request' is NULL: a provider needs it");
  options.on_request = [](void*, sinew_call* call) { sinew_call_release(call); };
  EXPECT_EQ(sinew_provider_create(node, "big", "uint8", "uint8[4294967295]", &options, &other), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(),
               "service 'big': memory_budget = 1073741824 is out of range: the least response takes 4294967321 bytes, for its arrays have "
               "lengths");
  options.memory_budget = 65535;
  EXPECT_EQ(sinew_provider_create(node, "small", "uint8", "uint8", &options, &other), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(),
               "service 'small': memory_budget = 65535 is out of range: 65536 bytes or more, as memory is taken in pieces of that");
  EXPECT_EQ(other, nullptr);
}

TEST_F(ServicesInC, TheDomainTellsThatTheirMessagesAreReadAsStreamsSinceTheyAskForThat) {
  const ClientInC client(node);
  const ProviderInC provider(node);
  client.await_providers(1);
  const auto watcher = Node::create("watcher");
  std::vector<std::string> reasons;
  EXPECT_TRUE(eventually([&] {
    reasons.clear();
    for (const DomainPair& pair : watcher->domain_state().pairs) reasons.push_back(pair.why);
    return reasons == std::vector<std::string>(2, "the subscriber asks for it");
  })) << (reasons.empty() ? "there are no pairs" : reasons.front());
}

TEST_F(ServicesInC, ANullPointerIsRefusedByTheNameOfItsArgument) {
  const ClientInC client(node);
  sinew_frame* frame = nullptr;
  const auto ignore = [](void*, sinew_status, sinew_frame*, const char*) {};
  EXPECT_EQ(sinew_client_create(node, nullptr, "uint8", "uint8", nullptr, nullptr), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'client' is NULL");
  EXPECT_EQ(sinew_provider_create(nullptr, "x", "uint8", "uint8", nullptr, nullptr), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'provider' is NULL");
  EXPECT_EQ(sinew_client_call(client.get(), nullptr, 1, 0, &frame), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'extents' is NULL");
  EXPECT_EQ(sinew_client_call(client.get(), nullptr, 0, 0, nullptr), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_client_call_async(nullptr, nullptr, 0, 0, ignore, nullptr, nullptr), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_client_call_async(client.get(), nullptr, 0, 0, nullptr, nullptr, nullptr), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'on_response' is NULL");
  EXPECT_EQ(sinew_client_get_statistics(nullptr, nullptr), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_provider_get_statistics(nullptr, nullptr), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_call_answer(nullptr, nullptr, 0), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_call_fail(nullptr, "no"), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'call' is NULL");
  sinew_call_release(nullptr);
  sinew_client_cancel(nullptr, 1);
  sinew_client_destroy(nullptr);
  sinew_provider_destroy(nullptr);
}

}  // namespace
}  // namespace sinew::system
