// Requests and responses on every way that messages go, of types that cannot be read in place, between users, and where rules forbid it.
#include "tests/system/angle.hpp"
#include "tests/system/paths.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

class ServiceWays : public Domain {};

// Takes requests with views of what the client built.
ROLE(viewing_worker) {
  auto node = Node::create("viewer");
  auto provider = node->create_service_provider<WorkView, Work::Response>("work", [](const WorkView& request) {
    Work::Response response{.caller = request.caller, .number = request.number, .provider = std::string(request.what), .data = {}};
    for (const std::int64_t term : request.terms) response.total += term;
    return response;
  });
  say("ready");
  until_finished();
}

TEST_F(ServiceWays, AProviderMayReadRequestsByViews) {
  Child provider("viewing_worker");
  provider.expect("ready");
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  for (std::uint64_t number = 1; number <= 300; ++number) {
    const Work::Response response = client->call(addition(number)).get();
    EXPECT_TRUE(is_right(response, number));
    EXPECT_EQ(response.provider, "add");
  }
  Work::Request large = addition(1);
  large.terms.assign(1'000'000, 2);
  EXPECT_EQ(client->call(large).get().total, 2'000'000);
  provider.end();
}

Lookup::Response looked_up(const Lookup::Request& request) {
  Lookup::Response response;
  for (const auto& [name, value] : request.known) response.by_value[value] = name;
  return response;
}

ROLE(looker) {
  auto node = Node::create("looker");
  auto returning = node->create_service_provider<Lookup::Request, Lookup::Response>("returned", looked_up);
  auto building = node->create_service_provider<Lookup::Request, Lookup::Response>(
      "built", [](const Lookup::Request& request, ServiceCall<Lookup::Response>& call) {
        call.build([&](Lookup::Response& response) { response = looked_up(request); });
      });
  say("ready");
  until_finished();
}

TEST_F(ServiceWays, MessagesWithMapsAreAnsweredAsOthers) {
  Child provider("looker");
  provider.expect("ready");
  auto node = Node::create("client");
  Lookup::Request request;
  for (std::int64_t value = 0; value < 100; ++value) request.known["name " + std::to_string(value)] = value;
  for (const char* service : {"returned", "built"}) {
    auto client = node->create_service_client<Lookup::Request, Lookup::Response>(service);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(client->call(request).get().by_value, looked_up(request).by_value);
  }
  provider.end();
}

TEST_F(ServiceWays, AMessageWithAVariantThatLostItsValueIsNotSentAndTheErrorNamesIt) {
  auto node = Node::create("both");
  auto returning = node->create_service_provider<Measurement, Measurement>("returned", [](const Measurement&) {
    Measurement response;
    lose_value(response);
    return response;
  });
  auto building = node->create_service_provider<Measurement, Measurement>(
      "built", [](const Measurement&, ServiceCall<Measurement>& call) { call.build(lose_value); });
  Measurement without;
  lose_value(without);
  for (const char* service : {"returned", "built"}) {
    auto client = node->create_service_client<Measurement, Measurement>(service);
    RequestLoan<Measurement> loan = client->loan();
    loan.build(lose_value);
    for (const std::string& said : {error_of(client->call(without)), error_of(client->call(std::move(loan)))})
      EXPECT_NE(said.find("the request cannot be sent: field 'body.value' is a variant"), said.npos) << said;
    const std::string said = error_of(client->call(Measurement{}));
    EXPECT_NE(said.find("the response cannot be sent: field 'body.value' is a variant"), said.npos) << said;
  }
}

// Calls from another user.
ROLE(foreign_caller) {
  become_stranger();
  auto node = Node::create("stranger");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  std::vector<PendingCall<Work::Response>> calls;
  for (std::uint64_t number = 1; number <= 500; ++number) calls.push_back(client->call(addition(number, 1, number * 100)));
  for (std::uint64_t number = 1; number <= 500; ++number) {
    require(is_right(calls[number - 1].get(), number, 1, number * 100), "wrong answer to " + std::to_string(number));
  }
  require(error_of(client->call({.what = "throw it", .terms = {}})) == "it", "no error");
  require(client->statistics().strays == 0, "strays");
  say("right");
  until_finished();
}

class ForeignServices : public Foreign {};

TEST_F(ForeignServices, ClientsOfAnotherUserAreAnsweredBesideOnesOwn) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  Child provider = worker("provider", "parallel=3");
  Child stranger("foreign_caller");
  for (std::uint64_t number = 1; number <= 500; ++number) EXPECT_TRUE(is_right(client->call(addition(number)).get(), number));
  stranger.expect("right");
  stranger.end();
  provider.end();
}

// Calls from another user, whose answers are large at first.
ROLE(foreign_asker) {
  become_stranger();
  auto node = Node::create("stranger");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  for (std::uint64_t number = 1; number <= 16; ++number) {
    const auto kind = kind_of_error(client->call(addition(number, 1, 1'300'000)));
    require(!kind || *kind == ServiceError::Kind::no_memory, "another error");
  }
  for (std::uint64_t number = 1; number <= 16; ++number) {
    require(is_right(client->call(addition(number, 1, 100)).get(), number, 1, 100), "wrong answer to " + std::to_string(number));
  }
  say("right");
  until_finished();
}

TEST_F(ForeignServices, LargeAnswersLeaveRoomForThoseAfterThem) {
  auto node = Node::create("provider");
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "provider"); }, {.memory_budget = 4 << 20});
  Child stranger("foreign_asker");
  stranger.expect("right");
  stranger.end();
}

class ServiceAccess : public Domain {};

TEST_F(ServiceAccess, WhoMayNotPublishResponsesCannotProvideAndMayStillCall) {
  set_rules(R"({"access": [{"name": "none but us provide", "topic": "work@response", "publish": "none"}]})");
  auto node = Node::create("node");
  try {
    (void)node->create_service_provider<Work::Request, Work::Response>("work", [](const Work::Request&) { return Work::Response{}; });
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::denied);
    EXPECT_NE(std::string(error.what()).find("none but us provide"), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW(((void)node->create_service_client<Work::Request, Work::Response>("work")));
}

// --- paths -------------------------------------------------------------------------------------------------------------------------------

class ServicesOn : public Paths {};

// The provider is where the path says; requests go there and responses come back the same way.
TEST_P(ServicesOn, CallsAreAnsweredInOrderWhateverTheWay) {
  auto node = Node::create("client");  // first: the manager is this user's
  ProviderOn provided(GetParam());
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  std::vector<PendingCall<Work::Response>> calls;
  for (std::uint64_t number = 1; number <= 500; ++number) calls.push_back(client->call(addition(number, 1, number * 100)));
  for (std::uint64_t number = 1; number <= 500; ++number) ASSERT_TRUE(is_right(calls[number - 1].get(), number, 1, number * 100)) << number;
  EXPECT_EQ(client->statistics().answered, 500u);
  EXPECT_EQ(client->statistics().strays, 0u);
  if (provided.child) {
    auto waits = client->call({.what = "wait", .terms = {}});
    provided.child->expect("waits");
    waits.cancel();
    provided.child->expect("cancelled");
    EXPECT_EQ(error_of(client->call({.what = "throw up", .terms = {}})), "up");
    provided.child->end();
  }
}

// Messages of services are read as they can be: nobody can ask for another way.
SINEW_ON_PATHS(ServicesOn, unasked_paths());

}  // namespace
}  // namespace sinew::system
