// The manager goes, and another one comes: what each side of it may rely on. (tests/storm does it a hundred times to a busy graph.)
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "api/service_impl.hpp"
#include "base/point.hpp"
#include "os/fault.hpp"
#include "os/memory.hpp"
#include "os/socket.hpp"
#include "tests/system/moved_folder.hpp"
#include "tests/system/restarts.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/service.hpp"
#include "tests/system/stranger.hpp"
#include "wire/topic_name.hpp"

namespace sinew::system {
namespace {

TEST_F(Restarts, PairsGoOnAndAreIntroducedOnce) {
  auto sender = Node::create("sender"), receiver = Node::create("receiver");
  auto publisher = sender->create_publisher<Sample>("topic", lossless());
  auto subscriber = receiver->create_subscriber<Sample>("topic", lossless(), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  std::uint64_t number = 0;
  for (int restart = 0; restart < 3; ++restart) {
    publish_in_place(*publisher, 1, ++number, 10'000);  // is taken when all is over
    restart_manager(*receiver, 1);
    ++number;
    publish_in_place(*publisher, 1, number, 300'000 * number);
    for (const std::uint64_t wanted : {number - 1, number}) {
      const auto message = take_soon(*subscriber);
      ASSERT_TRUE(message);
      EXPECT_TRUE(is_whole(*message) && message->number == wanted);
    }
    EXPECT_FALSE(subscriber->take()) << "it came twice";
    EXPECT_EQ(publisher->statistics().subscribers, 1u);
    EXPECT_EQ(subscriber->statistics().publishers, 1u);
  }
  publisher.reset();
  EXPECT_TRUE(eventually([&] { return subscriber->statistics().publishers == 0; }));
  subscriber.reset();
  EXPECT_TRUE(eventually([] { return all_windows_are_free(); })) << "of which the managers after the first knew";
}

TEST_F(Restarts, EveryWayIsToldToTheNextManager) {
  auto sender = Node::create("sender"), receiver = Node::create("receiver");
  auto publisher = sender->create_publisher<Sample>("topic");
  std::vector<std::shared_ptr<Subscriber<Sample>>> subscribers;
  for (const Delivery delivery : {Delivery::native, Delivery::view, Delivery::copy}) {
    SubscriberOptions options;
    options.delivery = delivery;
    subscribers.push_back(receiver->create_subscriber<Sample>("topic", Qos{}, options));
  }
  subscribers.push_back(receiver->create_subscriber<Sample>("topic"));
  await_subscribers(*publisher, 4);
  publish_in_place(*publisher, 1, 1, 3'000'000);
  restart_manager(*receiver, 4);
  std::vector<Delivery> ways;
  const DomainState state = receiver->domain_state();
  for (const DomainPair& pair : state.pairs) ways.push_back(pair.delivery);
  std::ranges::sort(ways);
  EXPECT_EQ(ways, (std::vector{Delivery::pointer, Delivery::native, Delivery::view, Delivery::copy}));
  EXPECT_TRUE(eventually([&] {
    const DomainState now = receiver->domain_state();
    const auto endpoint = std::ranges::find_if(now.endpoints, &DomainEndpoint::publishes);
    return endpoint != now.endpoints.end() && endpoint->memory == publisher->statistics().memory_mapped;
  }));
}

TEST_F(Restarts, WhoComesWhileThereIsNoManagerWaitsForTheNext) {
  auto sender = Node::create("sender"), receiver = Node::create("receiver");
  for (int restart = 0; restart < 3; ++restart) {
    kill_manager();
    auto publisher = sender->create_publisher<Sample>("topic");
    auto subscriber = receiver->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
    await_subscribers(*publisher, 1);
    publish_in_place(*publisher, 1, 1, 10'000);
    EXPECT_TRUE(take_soon(*subscriber));
  }
}

TEST_F(Restarts, EndsOfOneProcessMeetAlsoWhenOnlyOneOfTheirNodesHasAManagerAgain) {
  auto sender = Node::create("sender"), receiver = Node::create("receiver");
  kill_manager();
  auto publisher = sender->create_publisher<Sample>("topic");
  auto subscriber = receiver->create_subscriber<Sample>("topic");
  EXPECT_EQ(publisher->publish(sample_of(1, 1, 10)), PublishResult::published);
  EXPECT_TRUE(subscriber->take());
}

TEST_F(Restarts, ALateSubscriberDoesNotGetTheHistoryOnceMore) {
  const Qos qos = Qos{}.keep_last(5).reliable().transient_local();
  auto sender = Node::create("sender"), receiver = Node::create("receiver");
  auto publisher = sender->create_publisher<Sample>("topic", qos);
  for (std::uint64_t number = 1; number <= 5; ++number) publish_in_place(*publisher, 1, number, 10'000);
  auto subscriber = receiver->create_subscriber<Sample>("topic", qos, as_from_elsewhere());
  for (std::uint64_t number = 1; number <= 5; ++number) ASSERT_TRUE(take_soon(*subscriber));
  restart_manager(*receiver, 1);
  publish_in_place(*publisher, 1, 6, 10'000);
  const auto message = take_soon(*subscriber);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->number, 6u);
}

TEST_F(Restarts, WhatDoesNotFitIsCountedOnce) {
  auto sender = Node::create("sender"), receiver = Node::create("receiver");
  auto publisher = sender->create_publisher<Sample>("topic", Qos{}.best_effort());
  auto misfit = receiver->create_subscriber<Sample>("topic", lossless(), as_from_elsewhere());
  auto subscriber = receiver->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  kill_manager();
  // Told in this order: of the pairs of the topic first, then of the new one.
  auto last = receiver->create_subscriber<Sample>("topic", lossless(), as_from_elsewhere());
  EXPECT_TRUE(eventually([&] { return publisher->statistics().incompatible == 2; }));
  EXPECT_EQ(misfit->statistics().incompatible, 1u);
}

TEST_F(Restarts, ACallThatIsUnderWayIsAnswered) {
  std::atomic<bool> has_begun{false}, may_go_on{false};
  auto serving = Node::create("serving"), calling = Node::create("calling");
  auto provider = serving->create_service_provider<Work::Request, Work::Response>("work", [&](const Work::Request& request) {
    has_begun = true;
    eventually([&] { return may_go_on.load(); });
    Work::Response response;
    response.number = request.number;
    return response;
  });
  auto client = calling->create_service_client<Work::Request, Work::Response>("work");
  auto answer = client->call(addition(7));
  ASSERT_TRUE(eventually([&] { return has_begun.load(); }));
  kill_manager();
  EXPECT_TRUE(eventually([&] { return services_of(calling->domain_state()).size() == 1; }));
  may_go_on = true;
  EXPECT_EQ(answer.get().number, 7u);
  EXPECT_EQ(client->call(addition(8)).get().number, 8u);
}

TEST_F(Restarts, AGhostComesBackWithItsTopicAndIsDetachedWithoutIt) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto anchor = node->create_publisher<Sample>("topic");
  std::atomic<int> detached{0};
  SubscriberOptions options;
  options.ghost = Ghost::observer;
  options.events.detached = [&](const DetachedEvent&) { ++detached; };
  auto ghost = tool->create_subscriber<Sample>("topic", Qos{}, options);
  await_subscribers(*anchor, 1);
  restart_manager(*tool, 1);
  EXPECT_EQ(detached, 0);
  EXPECT_EQ(anchor->statistics().subscribers, 1u);
  kill_manager();
  anchor.reset();  // also when the next one has been told of it already
  EXPECT_TRUE(eventually([&] { return detached == 1; }));
}

TEST_F(Restarts, AGhostThatIsDetachedDoesNotComeBackWithTheNextManager) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto goes = node->create_subscriber<Sample>("topic"), stays = node->create_subscriber<Sample>("other");
  auto detached = tool->create_publisher<Sample>("topic", Qos{}, {.ghost = Ghost::observer});
  auto ghost = tool->create_publisher<Sample>("other", Qos{}, {.ghost = Ghost::observer});  // announced after the first
  goes.reset();
  ASSERT_TRUE(eventually([&] { return detached->statistics().detached; }));
  kill_manager();
  goes = node->create_subscriber<Sample>("topic");
  EXPECT_TRUE(eventually([&] { return node->domain_state().endpoints.size() >= 3; })) << "the other ghost does not come back";
  EXPECT_EQ(node->domain_state().endpoints.size(), 3u);
  EXPECT_EQ(goes->statistics().publishers, 0u);
}

TEST_F(Restarts, ANodeThatCannotTellWhoseTheNextManagerIsSeeksAnother) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  for (int nth = 1; nth <= 3; ++nth) {  // one of them is that of the node that has just been registered
    os::fault::arm(os::fault::Call::getsockopt, nth, ENOBUFS);
    kill_manager();
    EXPECT_TRUE(node->create_publisher<Sample>("other"));
    os::fault::disarm();
  }
  EXPECT_EQ(node->domain_state().endpoints.size(), 1u);
}

// The first node is between two managers, while others have the second one already.
ROLE(node_between_managers) {
  auto node = Node::create("node");
  const auto subscribe = [&](const std::string& topic) { return node->create_subscriber<Sample>(topic, Qos{}, as_from_elsewhere()); };
  auto stays = node->create_publisher<Sample>("stays"), goes = node->create_publisher<Sample>("goes");
  auto goes_too = subscribe("goes"), stays_too = subscribe("stays");
  await_subscribers(*stays, 1);
  await_subscribers(*goes, 1);
  publish_in_place(*goes, 1, 1, 10'000);
  const auto held = take_soon(*goes_too);
  say("ready");
  next_order();
  require(eventually(base::is_held), "it does not seek a manager");
  goes.reset();
  goes_too.reset();
  std::shared_ptr<Subscriber<Sample>> comes;
  std::thread coming([&] { comes = subscribe("comes"); });
  base::let_go();
  coming.join();
  DomainState state;
  require(eventually([&] {
            state = node->domain_state();
            return state.topics.size() == 2 && state.endpoints.size() == 3;
          }),
          "another manager knows " + std::to_string(state.topics.size()) + " topics");
  require(is_whole(*held), "what is held has changed");
  stays.reset();
  stays_too.reset();
  comes.reset();
  require(eventually([&] { return node->domain_state().endpoints.empty(); }), "something was announced that is gone");
}

TEST_F(Restarts, WhatIsDeletedAndMadeBetweenTwoManagersIsToldToTheSecond) {
  Child child("node_between_managers", {}, {{"SINEW_AT", "manager_link.registered:1:hold"}});
  child.expect("ready");
  kill_manager();
  child.order("go on");
  EXPECT_EQ(child.wait(), 0) << child.errors();
}

TEST_F(Restarts, WhereNoManagerCanBeHadItIsSaidWhyAndItGoesOnWhenOneCan) {
  auto node = Node::create("node");
  {
    const pid_t pid = manager().value_or(0);
    const MovedFolder moved(folder());
    await_end(pid);
    try {
      (void)node->create_publisher<Sample>("topic");
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::disconnected) << error.what();
      EXPECT_NE(
          std::string(error.what()).find("within 5 s there was no other one to answer RegisterPublisher (sinew cannot lock the folder"),
          std::string::npos)
          << error.what();
    }
  }
  EXPECT_TRUE(node->create_publisher<Sample>("topic"));
}

// As if the manager had dropped the node, since it did not read what it was sent.
TEST_F(Restarts, ANodeThatItsManagerHasDroppedComesBackAndPairsAreIntroducedOnce) {
  auto sender = Node::create("sender");
  auto publisher = sender->create_publisher<Sample>("topic");
  Child child("path_reader", {"native", "reader", ""});
  child.expect("ready");
  await_subscribers(*publisher, 1);
  const pid_t pid = manager().value_or(0);
  int cut = 0;
  for (int fd = 3; fd < 1024; ++fd) {
    sockaddr_un peer{};
    socklen_t length = sizeof peer;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) != 0 || std::string(peer.sun_path) != socket()) continue;
    ::shutdown(fd, SHUT_RDWR);
    ++cut;
  }
  ASSERT_EQ(cut, 1);
  auto another = sender->create_publisher<Sample>("another");  // when it is there again
  EXPECT_EQ(manager(), pid);
  EXPECT_TRUE(eventually([&] {
    const DomainState state = sender->domain_state();
    return state.pairs.size() == 1 && state.pairs[0].connected && state.endpoints.size() == 3;
  }));
  EXPECT_EQ(publisher->statistics().subscribers, 1u);
  publisher.reset();
  another.reset();
  child.order("end");
  child.end();
  EXPECT_TRUE(eventually([] { return all_windows_are_free(); }));
}

// --- a manager by hand ---------------------------------------------------------------------------------------------------------------

// Ends while its second manager has yet to answer.
ROLE(leaves_unanswered) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  say("published");
  next_order();
  std::thread obeying([] {
    require(eventually(base::is_held), "it does not say goodbye");
    say("leaves");
    next_order();
    base::let_go();
  });
  publisher.reset();
  node.reset();
  obeying.join();
}

TEST_F(Restarts, W25_what_a_manager_registers_after_goodbye_is_not_deleted_there) {
  const os::Fd listener = os::listen_at(socket());
  const os::AddressRange range = os::probe_address_range();
  const wire::Window window{range.base, range.window_size};
  const wire::NodeRegistered welcome{range.base, range.window_size, range.count};
  Child child("leaves_unanswered", {}, {{"SINEW_AT", "manager_link.goodbye_said:1:hold"}});
  Talk first = next_node(listener);
  first.send(welcome);
  first.send(wire::PublisherRegistered{first.expect<wire::RegisterPublisher>().id, window});
  first.expect<wire::Counters>();
  child.expect("published");
  first.close();
  Talk second = next_node(listener);
  second.send(welcome);
  second.expect<wire::Counters>();
  const std::uint64_t id = second.expect<wire::RegisterPublisher>().id;
  child.order("leave");
  second.expect<wire::Goodbye>();
  child.expect("leaves");
  second.send(wire::PublisherRegistered{id, window});
  second.send(wire::SubscriberRegistered{99, 0});
  const auto [end, other_end] = os::socket_pair();
  wire::ConnectPublisher nobodys;
  nobodys.connection = 5;
  second.send(nobodys, {end.get()});
  auto last = second.receive();
  if (last && std::holds_alternative<wire::WindowReleased>(*last)) last = second.receive();
  EXPECT_TRUE(last && std::holds_alternative<wire::ConnectTaken>(*last)) << wire::name_of(*last);
  child.order("go on");
  EXPECT_EQ(child.wait(), 0) << child.errors();
}

TEST_F(Restarts, WhatAManagerSaysInsteadOfAnAnswerIsToldToWhoCreatesTheNode) {
  const os::Fd listener = os::listen_at(socket());
  std::thread answering(
      [&] { next_node(listener).send(wire::ErrorText{static_cast<std::uint32_t>(ErrorKind::exhausted), "there is no room"}); });
  try {
    (void)Node::create("node");
    ADD_FAILURE() << "created";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::exhausted);
    EXPECT_NE(std::string(error.what()).find("there is no room"), std::string::npos) << error.what();
  }
  answering.join();
}

// --- endpoints, whose owners are not there yet ---------------------------------------------------------------------------------------

using Responses = ServiceResponse<Work::Response>;
constexpr wire::Qos service_qos{.depth = 0, .reliable = true};

// Calls "work" on order, or provides it.
ROLE(one_of_work) {
  auto node = Node::create("victim");
  std::shared_ptr<WorkClient> client;
  std::shared_ptr<WorkProvider> provider;
  if (arguments[0] == "calls") {
    client = node->create_service_client<Work::Request, Work::Response>("work");
    await_providers(*client, 1);
  } else {
    provider = node->create_service_provider<Work::Request, Work::Response>(
        "work", [](const Work::Request& request) { return result_of(request, "victim"); });
    await_clients(*provider, 1);
  }
  say("ready");
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    say(is_right(client->call(addition(std::stoull(order))).get(), std::stoull(order)) ? "right" : "wrong");
  }
}

// Wants the responses of "work", or to send them, under another one's endpoint.
ROLE(impostor) {
  const bool is_foreign = arguments[0] == "stranger";
  const std::uint64_t endpoint = std::stoull(arguments[2]);
  const std::string responses = wire::response_topic("work");
  if (is_foreign) become_stranger();
  Stranger impostor("impostor");
  bool is_served = false;
  if (arguments[1] == "calls") {
    Talk pair = impostor.meet_publisher<Responses>(responses, service_qos, endpoint);
    if (is_foreign) {
      pair.send(wire::AttachForeign{});
      const auto answer = pair.receive();
      is_served = answer && std::holds_alternative<wire::Ring>(*answer);
    } else {
      is_served = HandSubscriber(std::move(pair)).attach();
    }
  } else {
    Talk pair = impostor.meet_subscriber<Responses>(responses, service_qos, endpoint);
    is_served = pair.receive().has_value();  // its first word
  }
  say(is_served ? "served" : "refused");
  until_finished();
}

template <class Domain>
class Endpoints : public WithRestarts<Domain> {
 protected:
  /// The manager goes, and there is another one that knows those of `node`.
  void next_manager(Node& node) const {
    this->kill_manager();
    EXPECT_TRUE(eventually([&] { return node.domain_state().endpoints.size() == 2; }));
  }
  static std::uint64_t endpoint_of_client() {
    Stranger curious("curious");
    curious.meet_subscriber<Responses>(wire::response_topic("work"), service_qos);
    return curious.met_subscriber.endpoint;
  }
  static std::uint64_t endpoint_of_provider() {
    Stranger curious("curious");
    curious.meet_publisher<Responses>(wire::response_topic("work"), service_qos);
    return curious.met_publisher.endpoint;
  }
  void nobody_reads_as_a_client_that_is_connected(const std::string& who) {
    auto node = Node::create("serving");
    auto provider = node->create_service_provider<Work::Request, Work::Response>(
        "work", [](const Work::Request& request) { return result_of(request, "serving"); });
    Child client("one_of_work", {"calls"});
    client.expect("ready");
    const std::uint64_t endpoint = endpoint_of_client();
    client.stop();
    next_manager(*node);
    Child impostor("impostor", {who, "calls", std::to_string(endpoint)});
    impostor.expect("refused");
    client.go_on();
    client.order("7");
    client.expect("right");
    EXPECT_TRUE(is_refused(client));
    impostor.end();
    EXPECT_TRUE(eventually([&] { return node->domain_state().endpoints.size() == 4; })) << "those of the client are there again";
    auto next = Node::create("next");
    auto other_provider = next->create_service_provider<Work::Request, Work::Response>(
        "work", [](const Work::Request& request) { return result_of(request, "next"); });
    await_clients(*other_provider, 1);
    provider.reset();
    client.order("8");
    client.expect("right");
    client.order("end");
    client.end();
  }
};

class EndpointsOfOneUser : public Endpoints<Domain> {};
class EndpointsOfTwoUsers : public Endpoints<Foreign> {};

TEST_F(EndpointsOfOneUser, NobodyReadsAsAClientThatIsConnectedThoughTheManagerDoesNotKnowOfIt) {
  nobody_reads_as_a_client_that_is_connected("own");
}

TEST_F(EndpointsOfTwoUsers, NobodyReadsAsAClientThatIsConnectedThoughTheManagerDoesNotKnowOfIt) {
  nobody_reads_as_a_client_that_is_connected("stranger");
}

TEST_F(EndpointsOfOneUser, NobodyAnswersAsAProviderThatIsConnectedThoughTheManagerDoesNotKnowOfIt) {
  auto node = Node::create("calling");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  Child provider("one_of_work", {"provides"});
  provider.expect("ready");
  const std::uint64_t endpoint = endpoint_of_provider();
  provider.stop();
  next_manager(*node);
  Child impostor("impostor", {"own", "provides", std::to_string(endpoint)});
  impostor.expect("refused");
  provider.go_on();
  EXPECT_TRUE(is_right(client->call(addition(7)).get(), 7));
  impostor.end();
  EXPECT_TRUE(is_right(client->call(addition(8)).get(), 8));
  provider.order("end");
  provider.end();
}

}  // namespace
}  // namespace sinew::system
