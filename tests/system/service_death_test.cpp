// Providers and clients of a service vanish, or stop, at any point: every call ends once, and nobody else notices.
#include <algorithm>
#include <array>
#include <cerrno>
#include <future>
#include <map>

#include "base/point.hpp"
#include "os/fault.hpp"
#include "tests/system/moved_folder.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

class ServiceDeath : public WithClient {
 protected:
  std::vector<PendingCall<Work::Response>> call_many(std::uint64_t count) {
    std::vector<PendingCall<Work::Response>> calls;
    for (std::uint64_t number = 1; number <= count; ++number) calls.push_back(client->call(addition(number)));
    return calls;
  }
};

class DeathOfAProvider : public ServiceDeath, public ::testing::WithParamInterface<const char*> {};

TEST_P(DeathOfAProvider, LeavesNoCallUnansweredAndNoneAnsweredTwice) {
  const std::string label = GetParam();
  for (const char* pass : {"1", "3", "20"}) {
    Child healthy = worker("healthy" + std::string(pass));
    Child mortal("worker", {"mortal" + std::string(pass)}, {{"SINEW_AT", label + ":" + pass + ":kill"}});
    mortal.expect("ready");
    await_providers(*client, 2);
    const ServiceClientStatistics before = client->statistics();
    auto calls = call_many(100);
    for (std::uint64_t number = 1; number <= 100; ++number) EXPECT_TRUE(is_right(calls[number - 1].get(), number)) << number;
    EXPECT_EQ(mortal.wait(), -9) << mortal.errors();
    await_providers(*client, 1);
    EXPECT_EQ(client->statistics().answered - before.answered, 100u);
    EXPECT_EQ(client->statistics().strays, 0u);
    EXPECT_EQ(client->statistics().pending, 0u);
    healthy.end();
    await_providers(*client, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(At, DeathOfAProvider,
                         ::testing::Values("claim.stored", "claim.second_look", "subscriber.claimed", "claim.cursor", "service.received",
                                           "service.executed", "publisher.lane_prepared", "publisher.before_publish", "ring.fields",
                                           "ring.published", "ring.head", "publisher.before_doorbell", "service.answered"),
                         [](const auto& label) {
                           std::string name = label.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

TEST_F(ServiceDeath, PendingCallsWaitForAProviderThatReplacesTheOneThatDied) {
  Child first = worker("first");
  auto running = client->call({.number = 7, .what = "say", .terms = {3}});
  first.expect("7 of client");
  auto waiting = client->call(addition(8));
  first.kill();
  await_providers(*client, 0);
  EXPECT_EQ(running.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  Child second = worker("second");
  second.expect("7 of client");  // it is executed once more
  second.order("go on");
  EXPECT_EQ(running.get().provider, "second");
  EXPECT_TRUE(is_right(waiting.get(), 8));
  EXPECT_EQ(client->statistics().resent, 2u);
  second.end();
}

TEST_F(ServiceDeath, ACallThatIsBeingExecutedByWhoDiesGoesToAnother) {
  Child first = worker("first");
  auto call = client->call({.number = 7, .what = "say", .terms = {}});
  first.expect("7 of client");
  Child second = worker("second");
  await_providers(*client, 2);
  first.kill();
  second.expect("7 of client");
  second.order("go on");
  EXPECT_EQ(call.get().provider, "second");
  second.end();
}

TEST_F(ServiceDeath, ACallIsNotLostWithTheLateAnswerOfOneThatWasGivenUpBefore) {
  Child provider = worker("provider", "parallel=2");
  await_providers(*client, 1);
  // Whoever waits for a call receives: between them nobody does.
  const auto is_answered = [&](std::uint64_t number, std::uint64_t size) {
    return is_right(*client->call_and_wait(addition(number, 1, size), std::chrono::minutes(1)), number, 1, size);
  };
  EXPECT_TRUE(is_answered(9, 0));
  // From now on messages of this connection are not read in place.
  os::fault::arm(os::fault::Call::mmap, 1, ENOMEM);
  EXPECT_TRUE(is_answered(8, 1'000'000));
  try {
    // So long that a provider that waits for a processor begins it: what is given up before that is handed to nobody.
    client->call_and_wait({.number = 1, .size = 8'000'000, .what = "say", .terms = {}}, std::chrono::seconds(2));
    ADD_FAILURE() << "it is answered";
  } catch (const ServiceError& late) {
    EXPECT_EQ(late.kind(), ServiceError::Kind::timeout);
  }
  provider.expect("1 of client");
  os::fault::arm(os::fault::Call::mmap, 1, ENOMEM);  // that of the late answer, which ends the connection
  provider.order("go on");
  await_providers(*client, 0);
  os::fault::disarm();
  await_providers(*client, 1);
  EXPECT_TRUE(is_answered(2, 0));
  provider.end();
}

TEST_F(ServiceDeath, AProviderThatIsDestroyedAnswersWhatItExecutesAndLeavesTheRestToOthers) {
  Child first = worker("first");
  auto running = client->call({.number = 7, .what = "say", .terms = {}});
  first.expect("7 of client");
  std::vector<PendingCall<Work::Response>> waiting = call_many(10);
  Child second = worker("second");
  first.order("quit");
  first.order("go on");
  EXPECT_EQ(running.get().provider, "first");
  first.expect("gone");
  for (std::uint64_t number = 1; number <= 10; ++number) {
    const Work::Response response = waiting[number - 1].get();
    EXPECT_TRUE(is_right(response, number));
  }
  EXPECT_EQ(client->statistics().strays, 0u);
  first.end();
  second.end();
}

TEST_F(ServiceDeath, ACallThatAProviderMayHaveBegunIsLostWithItWhenItExecutesNoneTwice) {
  Child first = worker("first", "once");
  auto running = client->call({.number = 7, .what = "say", .terms = {}});
  first.expect("7 of client");
  Child second = worker("second", "once");
  await_providers(*client, 2);
  first.kill();
  EXPECT_EQ(
      error_of(std::move(running)),
      "service 'work': the provider has gone before it answered, and is one that executes no request twice (at_most_once): the request "
      "may have been executed, or not");
  EXPECT_TRUE(is_right(client->call(addition(2)).get(), 2));
  second.end();
}

TEST_F(ServiceDeath, ACallerThatWaitsOnItsOwnThreadLearnsThatItsCallIsLost) {
  for (int pass = 0; pass < 5; ++pass) {
    Child provider = worker("provider", "once");
    await_providers(*client, 1);
    std::optional<ServiceError::Kind> kind;
    std::thread caller([&] {
      try {
        client->call_and_wait({.number = 7, .what = "say", .terms = {}});
      } catch (const ServiceError& error) {
        kind = error.kind();
      }
    });
    provider.expect("7 of client");
    provider.kill();
    caller.join();
    EXPECT_EQ(kind, ServiceError::Kind::lost);
    await_providers(*client, 0);
  }
}

TEST_F(ServiceDeath, ACallbackLearnsThatItsCallIsLostWhoeverNoticesIt) {
  for (int pass = 0; pass < rounds(50); ++pass) {
    Child provider = worker("provider", "once");
    await_providers(*client, 1);
    std::promise<ServiceError::Kind> kind;
    client->call({.number = 7, .what = "say", .terms = {}},
                 [&](auto, const ServiceError* error) { kind.set_value(error ? error->kind() : ServiceError::Kind::failed); });
    provider.expect("7 of client");
    provider.kill();
    EXPECT_EQ(kind.get_future().get(), ServiceError::Kind::lost);
    await_providers(*client, 0);
  }
}

TEST_F(ServiceDeath, ACallThatAProviderHasNotTakenGoesElsewhereAlsoWhenItExecutesNoneTwice) {
  Child first = worker("first", "once");
  await_providers(*client, 1);
  first.stop();
  auto calls = call_many(10);
  Child second = worker("second", "once");
  await_providers(*client, 2);
  first.kill();
  for (std::uint64_t number = 1; number <= 10; ++number) {
    const Work::Response response = calls[number - 1].get();
    EXPECT_TRUE(is_right(response, number));
    EXPECT_EQ(response.provider, "second");
  }
  second.end();
}

TEST_F(ServiceDeath, AnAnswerThatWasGivenBeforeTheProviderDiedIsReceived) {
  Child first = worker("first", "once", {{"SINEW_AT", "service.answered:5:kill"}});
  await_providers(*client, 1);
  auto calls = call_many(5);
  EXPECT_EQ(first.wait(), -9);
  for (std::uint64_t number = 1; number <= 5; ++number) EXPECT_TRUE(is_right(calls[number - 1].get(), number));
}

// Its thread that receives is held with the first answer in hand.
ROLE(client_with_an_answer_in_hand) {
  auto node = Node::create("asker");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  await_providers(*client, 1);
  auto call = client->call(addition(1));
  require(eventually(base::is_held), "nothing is received");
  say("held");
  next_order();
  await_providers(*client, 1);  // the second one
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  base::let_go();
  require(call.get().provider == "first", "it was executed once more");
  require(client->statistics().resent == 0 && client->statistics().strays == 0, "it was sent once more");
  say("answered by the first");
}

TEST_F(ServiceDeath, AnAnswerThatIsInHandWhenItsProviderDiesIsTheAnswer) {
  client.reset();
  for (const char* options : {"", "once"}) {
    Child first = worker("first", options);
    Child asker("client_with_an_answer_in_hand", {}, {{"SINEW_AT", "service.in_hand:1:hold"}});
    asker.expect("held");
    first.kill();
    Child second = worker("second", options);
    asker.order("go on");
    asker.expect("answered by the first");
    asker.end();
    second.end();
  }
}

TEST_F(ServiceDeath, AnswersOfManyProvidersThatHaveDiedAreReceivedHoweverLate) {
  std::atomic<bool> go_on{false}, is_called{false};
  std::vector<PendingCall<Work::Response>> calls;
  {
    Child first = worker("first");
    client->call(addition(1), [&](auto, auto) {  // on the client's thread, which meanwhile receives nothing
      is_called = true;
      EXPECT_TRUE(eventually([&] { return go_on.load(); }));
    });
    ASSERT_TRUE(eventually([&] { return is_called.load(); }));
    first.end();
    await_providers(*client, 0);
  }
  constexpr std::uint64_t many = 20;
  for (std::uint64_t number = 1; number <= many; ++number) {
    Child mortal("worker", {"mortal"}, {{"SINEW_AT", "service.answered:1:kill"}});
    mortal.expect("ready");
    await_providers(*client, 1);
    calls.push_back(client->call(addition(number)));
    EXPECT_EQ(mortal.wait(), -9) << mortal.errors();
    await_providers(*client, 0);
  }
  go_on = true;
  for (std::uint64_t number = 1; number <= many; ++number) EXPECT_TRUE(is_right(calls[number - 1].get(), number)) << number;
  EXPECT_EQ(client->statistics().resent, 0u);
}

TEST_F(ServiceDeath, OfAProviderOfTheSameProcessItIsKnownWhatItHasTaken) {
  std::atomic<bool> go_on{false};
  auto server = Node::create("provider");
  std::shared_ptr<WorkProvider> provider;
  provider = server->create_service_provider<Work::Request, Work::Response>("work",
                                                                            [&](const Work::Request&) {
                                                                              EXPECT_TRUE(eventually([&] { return go_on.load(); }));
                                                                              provider.reset();
                                                                              server.reset();  // with its first request
                                                                              return Work::Response{};
                                                                            },
                                                                            {.at_most_once = true});
  await_providers(*client, 1);  // which gets all of them
  auto calls = call_many(10);
  Child second = worker("second", "once");
  await_providers(*client, 2);
  go_on = true;
  EXPECT_EQ(kind_of_error(std::move(calls.front())), ServiceError::Kind::lost);
  for (std::uint64_t number = 2; number <= 10; ++number) EXPECT_TRUE(is_right(calls[number - 1].get(), number));
  EXPECT_EQ(client->statistics().resent, 9u);
  second.end();
}

// Makes calls until it is killed; arguments: node, "wait" or "add".
ROLE(mortal_client) {
  auto node = Node::create(arguments[0]);
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  await_providers(*client, 1);
  if (arguments[1] == "wait") {
    auto call = client->call({.what = "wait", .terms = {}});
    until_finished();
  }
  std::vector<PendingCall<Work::Response>> calls;
  for (std::uint64_t number = 1;; ++number) {
    calls.push_back(number % 2 == 0 ? client->call(addition(number, 1, 10'000)) : client->call(loaned_addition(*client, number, 1000)));
    if (calls.size() < 100) continue;
    for (auto& call : calls) call.get();
    calls.clear();
  }
}

TEST_F(ServiceDeath, TheRequestsOfAClientThatIsKilledAreCancelled) {
  Child provider = worker("provider");
  Child mortal("mortal_client", {"mortal", "wait"});
  provider.expect("waits");
  mortal.kill();
  provider.expect("cancelled");
  EXPECT_TRUE(is_right(client->call(addition(2)).get(), 2));
  provider.end();
}

class DeathOfAClient : public ServiceDeath, public ::testing::WithParamInterface<const char*> {};

TEST_P(DeathOfAClient, DisturbsNobodyAndGivesBackWhatItHeld) {
  auto server = Node::create("provider");
  auto provider = server->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "provider"); });
  for (const char* pass : {"1", "2", "50"}) {
    Child mortal("mortal_client", {"mortal" + std::string(pass), "add"}, {{"SINEW_AT", std::string(GetParam()) + ":" + pass + ":kill"}});
    EXPECT_EQ(mortal.wait(), -9) << mortal.errors();
    EXPECT_TRUE(is_right(client->call(addition(2)).get(), 2));
    await_clients(*provider, 1);
    EXPECT_TRUE(eventually([&] { return provider->statistics().running == 0; }));
  }
}

INSTANTIATE_TEST_SUITE_P(At, DeathOfAClient,
                         ::testing::Values("service.sent", "publisher.before_publish", "ring.fields", "ring.head", "subscriber.claimed",
                                           "claim.cursor"),
                         [](const auto& label) {
                           std::string name = label.param;
                           name[name.find('.')] = '_';
                           return name;
                         });

TEST_F(ServiceDeath, AClientThatIsStoppedKeepsNobodyElseWaiting) {
  Child provider = worker("provider");
  Child stopped("mortal_client", {"stopped", "add"});
  await_providers(*client, 1);
  EXPECT_TRUE(is_right(client->call(addition(1)).get(), 1));
  stopped.stop();
  // More than any ring holds.
  for (std::uint64_t number = 1; number <= 3000; ++number)
    ASSERT_TRUE(is_right(*client->call_and_wait(addition(number)), number)) << number;
  stopped.go_on();
  EXPECT_TRUE(is_right(client->call(addition(1)).get(), 1));
  stopped.kill();
  provider.end();
}

TEST_F(ServiceDeath, AProviderThatIsStoppedKeepsNoMoreThanItsOwnCallsWaiting) {
  Child stopped = worker("stopped"), healthy = worker("healthy");
  await_providers(*client, 2);
  stopped.stop();
  auto calls = call_many(3000);
  const auto answered = [&](std::uint64_t count) { return eventually([&] { return client->statistics().answered >= count; }); };
  EXPECT_TRUE(answered(3000 - 256));
  stopped.kill();
  for (std::uint64_t number = 1; number <= 3000; ++number) EXPECT_TRUE(is_right(calls[number - 1].get(), number));
  EXPECT_EQ(client->statistics().strays, 0u);
  healthy.end();
}

TEST_F(ServiceDeath, CallsGoOnWithoutTheManager) {
  Child provider = worker("provider");
  await_providers(*client, 1);
  EXPECT_TRUE(is_right(client->call(addition(1)).get(), 1));
  {
    const pid_t pid = manager().value_or(0);
    const MovedFolder moved(folder());
    await_end(pid);
    for (std::uint64_t number = 1; number <= 100; ++number) EXPECT_TRUE(is_right(client->call(addition(number)).get(), number));
    EXPECT_EQ(managers(), 0u);
    EXPECT_EQ(client->statistics().resent, 0u);
  }
  provider.end();
}

}  // namespace
}  // namespace sinew::system
