// Providers and clients that do not keep to the rules harm nobody but their own calls.
#include <atomic>
#include <thread>

#include "api/service_impl.hpp"
#include "tests/system/service.hpp"
#include "wire/topic_name.hpp"

namespace sinew::system {
namespace {

using Requests = ServiceRequest<Work::Request>;
using Responses = ServiceResponse<Work::Response>;

class ServiceStrangers : public Domain {};

/// A provider or a client of "work" that sends what the test wants.
struct Rogue {
  using Got = std::function<void(Rogue& self, std::uint64_t from, std::uint64_t id)>;

  Rogue(const std::string& name, bool provides, Got got_one)
      : got(std::move(got_one)), session(session::NodeSession::create(name, {})), endpoint(detail::new_endpoint(false)) {
    const std::string requests = wire::request_topic("work"), responses = wire::response_topic("work");
    const detail::Handler handler{detail::Handler::Takes::look, false, [this](detail::ReceivedMessage& message) {
                                    got(*this, message.endpoint, detail::id_of(message.object));
                                  }};
    const detail::ServiceOut asks = detail::out_of(msg::message_of<Requests>(), detail::object_type<Requests>),
                             answers = detail::out_of(msg::message_of<Responses>(), detail::object_type<Responses>);
    detail::make_ends(ends, {.session = session,
                             .endpoint = endpoint,
                             .out_topic = provides ? responses : requests,
                             .out = provides ? answers : asks,
                             .memory_budget = 1 << 26,
                             .in_topic = provides ? requests : responses,
                             .in = detail::in_of(provides ? msg::message_of<Requests>() : msg::message_of<Responses>()),
                             .handler = handler,
                             .on_rejected = {}});
  }
  ~Rogue() { session->close(); }

  void respond(std::uint64_t to, std::uint64_t id, std::uint64_t number, std::uint64_t status = 0) {
    ends.sends->send_shared(to, {std::make_shared<const Responses>(Responses{
                                    .id = id, .status = status, .body = result_of(addition(number), "rogue"), .error = "so there"})});
  }
  PublishResult request(std::uint64_t to, std::uint64_t id) {
    return ends.sends->send_shared(to, {std::make_shared<const Requests>(Requests{.id = id, .body = addition(id)})});
  }

  /// The one there is, when it can be asked and its answers are read: it drops what comes before.
  std::uint64_t provider() const {
    require(eventually([&] {
              const auto sources = ends.subscription->sources();
              return !ends.publisher->peers().empty() && !sources.empty() && sources.front().is_served;
            }),
            "no provider");
    return ends.publisher->peers().front().endpoint;
  }

  Got got;
  std::shared_ptr<session::NodeSession> session;
  std::uint64_t endpoint;
  detail::ServiceEnds ends;
};

ROLE(rogue_provider) {
  Rogue rogue("rogue", true, [](Rogue& self, std::uint64_t from, std::uint64_t id) {
    self.respond(from, id + 1000, 1);  // not asked
    self.respond(from, 0, 1);          // no call at all
    self.respond(from, id, id);
    self.respond(from, id, id + 1);  // twice
    self.respond(from, ~std::uint64_t{0}, 1);
  });
  say("ready");
  until_finished();
}

TEST_F(ServiceStrangers, AnAnswerToWhatWasNotAskedAndASecondAnswerAreDroppedAndCounted) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  Child rogue("rogue_provider");
  rogue.expect("ready");
  for (std::uint64_t number = 1; number <= 20; ++number) EXPECT_TRUE(is_right(client->call(addition(number)).get(), number));
  EXPECT_TRUE(eventually([&] {
    client->call(addition(1000)).wait_for(std::chrono::milliseconds(1));
    return client->statistics().strays >= 80;
  }));
  rogue.end();
}

// Answers what another provider was asked.
ROLE(thief) {
  Rogue rogue("thief", true, [](Rogue& self, std::uint64_t from, std::uint64_t id) {
    for (std::uint64_t other = 1; other <= 50; ++other) {
      if (other != id) self.respond(from, other, 4711);
    }
    self.respond(from, id, id);
  });
  say("ready");
  until_finished();
}

TEST_F(ServiceStrangers, AProviderCannotAnswerWhatAnotherWasAsked) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  Child thief("thief"), honest = worker("honest");
  thief.expect("ready");
  await_providers(*client, 2);
  std::vector<PendingCall<Work::Response>> calls;
  for (std::uint64_t number = 1; number <= 50; ++number) calls.push_back(client->call(addition(number)));
  std::uint64_t honest_ones = 0;
  for (std::uint64_t number = 1; number <= 50; ++number) {
    const Work::Response response = calls[number - 1].get();
    if (response.provider != "honest") continue;  // it was the thief's to answer, however it likes
    EXPECT_TRUE(is_right(response, number)) << number;
    ++honest_ones;
  }
  EXPECT_EQ(honest_ones, 25u);
  EXPECT_GT(client->statistics().strays, 0u);
  thief.end();
  honest.end();
}

// Says of all requests but the first, which it keeps, that something could not be read.
ROLE(loser_of_all_but_one) {
  std::atomic<bool> has_one{false};
  Rogue rogue("loser", true, [&has_one](Rogue& self, std::uint64_t from, std::uint64_t) {
    if (has_one.exchange(true)) self.respond(from, 0, 1, 3);
  });
  say("ready");
  until_finished();
}

TEST_F(ServiceStrangers, OfAProviderThatLosesOneCallAfterTheOtherNothingIsRememberedForEver) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  Child loser("loser_of_all_but_one");
  loser.expect("ready");
  auto kept = client->call(addition(1));
  const auto lose_some = [&] {
    for (int round = 0; round < 5000; ++round) EXPECT_EQ(kind_of_error(client->call(addition(2))), ServiceError::Kind::lost) << round;
  };
  lose_some();
  const std::size_t bytes = private_bytes_of(::getpid());
  lose_some();
  EXPECT_LT(private_bytes_of(::getpid()), bytes + (sanitized ? std::size_t{64} << 20 : std::size_t{256} << 10));
  EXPECT_EQ(kind_of_error(std::move(kept)), ServiceError::Kind::lost);
  loser.end();
}

// Says of every call that it is refused in a way of times to come, or that something could not be read.
ROLE(complainer) {
  const std::uint64_t status = std::stoull(arguments[0]);
  Rogue rogue("complainer", true,
              [status](Rogue& self, std::uint64_t from, std::uint64_t id) { self.respond(from, status == 3 ? 0 : id, 1, status); });
  say("ready");
  until_finished();
}

TEST_F(ServiceStrangers, WhatAProviderSaysInPlaceOfAnAnswerEndsTheCall) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  using Kind = ServiceError::Kind;
  for (const auto& [status, kind] : std::vector<std::pair<int, Kind>>{
           {1, Kind::failed}, {2, Kind::no_memory}, {3, Kind::lost}, {4, Kind::cancelled}, {5, Kind::failed}, {1'000'000, Kind::failed}}) {
    Child complainer("complainer", {std::to_string(status)});
    complainer.expect("ready");
    EXPECT_EQ(kind_of_error(client->call(addition(1))), kind) << status;
    complainer.end();
    await_providers(*client, 0);
  }
}

// Sends requests, takes no answer, and says how many were taken.
ROLE(greedy) {
  Rogue rogue("greedy", false, [](Rogue&, std::uint64_t, std::uint64_t) {
    for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
  });
  const std::uint64_t to = rogue.provider();
  for (std::uint64_t id = 1; id <= 5000; ++id) {
    require(eventually([&] { return rogue.request(to, id) == PublishResult::published; }), "the provider does not take it");
  }
  say("sent");
  std::this_thread::sleep_for(std::chrono::hours(1));
}

TEST_F(ServiceStrangers, AClientThatTakesNoAnswersLosesItsOwnAndNobodyElseWaits) {
  auto server = Node::create("provider");
  auto provider = server->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "provider"); });
  Child greedy("greedy");
  greedy.expect("sent");
  EXPECT_TRUE(eventually([&] { return provider->statistics().undelivered > 3000; }));
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  for (std::uint64_t number = 1; number <= 100; ++number) EXPECT_TRUE(is_right(client->call(addition(number)).get(), number));
  greedy.kill();
  await_clients(*provider, 1);
}

// Sends requests without end, some with the same number, and waits for no answer.
ROLE(hasty) {
  Rogue rogue("hasty", false, [](Rogue&, std::uint64_t, std::uint64_t) {});
  const std::uint64_t to = rogue.provider();
  for (std::uint64_t number = 1; number <= 600; ++number) {
    require(eventually([&] { return rogue.request(to, number / 2) == PublishResult::published; }), "the provider does not take it");
  }
  say("sent");
  until_finished();
}

TEST_F(ServiceStrangers, OfWhatAClientAsksBeforeItIsAnsweredAProviderKeepsNoMoreThanItMay) {
  std::atomic<bool> go_on{false};
  auto server = Node::create("provider");
  auto provider = server->create_service_provider<Work::Request, Work::Response>("work",
                                                                                 [&](const Work::Request& request) {
                                                                                   EXPECT_TRUE(eventually([&] { return go_on.load(); }));
                                                                                   return result_of(request, "provider");
                                                                                 },
                                                                                 {.parallel = 2});
  Child hasty("hasty");
  hasty.expect("sent");
  EXPECT_TRUE(eventually([&] { return provider->statistics().excess + provider->statistics().running == 600; }));
  EXPECT_LE(provider->statistics().running, 256u + 3);
  EXPECT_GE(provider->statistics().running, 256u);
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  auto call = client->call(addition(7));
  go_on = true;
  EXPECT_TRUE(is_right(call.get(), 7));
  EXPECT_TRUE(eventually([&] { return provider->statistics().running == 0; }));
  hasty.end();
}

TEST_F(ServiceStrangers, WhereThereIsNoMessageNoneIsSentAndTheReasonIsThat) {
  Child provider = worker("provider");
  Rogue rogue("rogue", false, [](Rogue&, std::uint64_t, std::uint64_t) {});
  const std::uint64_t to = rogue.provider();
  std::string why;
  EXPECT_EQ(rogue.ends.sends->send_shared(to, {}, nullptr, &why), PublishResult::invalid);
  EXPECT_NE(why.find("null"), why.npos) << why;
  why.clear();
  EXPECT_EQ(rogue.ends.sends->send_object(to, nullptr, &why), PublishResult::invalid);
  EXPECT_NE(why.find("null"), why.npos) << why;
  provider.end();
}

TEST_F(ServiceStrangers, NobodyGetsTheEndpointOfAnother) {
  Rogue first("first", false, [](Rogue&, std::uint64_t, std::uint64_t) {});
  auto second = session::NodeSession::create("second", {});
  detail::ServiceEnds ends;
  const std::string requests = wire::request_topic("work"), responses = wire::response_topic("work");
  EXPECT_THROW(detail::make_ends(ends, {.session = second,
                                        .endpoint = first.endpoint,
                                        .out_topic = requests,
                                        .out = detail::out_of(msg::message_of<Requests>(), detail::object_type<Requests>),
                                        .memory_budget = 1 << 26,
                                        .in_topic = responses,
                                        .in = detail::in_of(msg::message_of<Responses>()),
                                        .handler = {},
                                        .on_rejected = {}}),
               Error);
  second->close();
}

TEST_F(ServiceStrangers, OfWhatIsCancelledAndNeverComesLittleIsRemembered) {
  Child provider = worker("provider");
  Rogue rogue("rogue", false, [](Rogue&, std::uint64_t, std::uint64_t) {});
  ASSERT_TRUE(eventually([&] {
    const auto sources = rogue.ends.subscription->sources();
    return !sources.empty() && sources.front().is_served;
  }));
  const std::uint64_t to = rogue.ends.subscription->sources().front().endpoint;
  for (std::uint64_t id = 1; id <= 20'000; ++id) rogue.ends.subscription->cancel_call(to, id);
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  EXPECT_TRUE(is_right(client->call(addition(1)).get(), 1));
  provider.end();
}

}  // namespace
}  // namespace sinew::system
