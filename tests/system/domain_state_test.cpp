// What a node is told of its domain.
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "sinew/msg/reflect.hpp"
#include "tests/system/paths.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

ROLE(domain_member) {
  auto node = Node::create(arguments.at(0));
  auto publisher = node->create_publisher<Sample>("topic");
  say("ready");
  until_finished();
}

class DomainStates : public Domain {};

template <class T>
const T* with_id(const std::vector<T>& all, std::uint64_t id) {
  const auto found = std::ranges::find(all, id, &T::id);
  return found == all.end() ? nullptr : &*found;
}

template <class T>
const T* named(const std::vector<T>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &T::name);
  return found == all.end() ? nullptr : &*found;
}

/// A state that a watch keeps up to date.
class Watched {
 public:
  explicit Watched(Node& node)
      : watch_(node.watch_domain([this](const DomainUpdate& update) {
          const std::lock_guard lock(mutex_);
          apply(update, state_);
          complete_ = update.complete;
          if (update.anew) ++anew_;
        })) {}
  std::uint64_t anew() const {
    const std::lock_guard lock(mutex_);
    return anew_;
  }
  DomainState state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  bool shows(const std::function<bool(const DomainState&)>& condition) const {
    return eventually([&] {
      const std::lock_guard lock(mutex_);
      return complete_ && condition(state_);
    });
  }

 private:
  mutable std::mutex mutex_;
  DomainState state_;
  bool complete_ = false;
  std::uint64_t anew_ = 0;
  std::shared_ptr<DomainWatch> watch_;
};

TEST_F(DomainStates, AQueryTellsTheNodesOfAllProcesses) {
  Child child("domain_member", {"elsewhere"});
  child.expect("ready");
  auto node = Node::create("here");
  const DomainState state = node->domain_state();
  const DomainNode *const here = named(state.nodes, "here"), *const elsewhere = named(state.nodes, "elsewhere");
  ASSERT_TRUE(here && elsewhere);
  EXPECT_EQ(state.nodes.size(), 2u);
  EXPECT_EQ(here->pid, ::getpid());
  EXPECT_EQ(elsewhere->pid, child.pid());
  EXPECT_EQ(elsewhere->uid, ::geteuid());
  EXPECT_EQ(elsewhere->gid, ::getegid());
  EXPECT_EQ(elsewhere->container, "");
  child.end();
}

TEST_F(DomainStates, AQueryTellsTopicsWithTheirTypesAndSchemas) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("/some/topic");
  const DomainState state = node->domain_state();
  ASSERT_EQ(state.topics.size(), 1u);
  EXPECT_EQ(state.topics[0].name, "some/topic");
  const msg::Message type = msg::message_of<Sample>();
  EXPECT_EQ(state.topics[0].type, type.name);
  EXPECT_EQ(state.topics[0].schema, type.signature);
  EXPECT_EQ(state.topics[0].hash, type.hash);
}

TEST_F(DomainStates, AQueryTellsEndpointsWithTheirQos) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_all().reliable().transient_local().lifespan(std::chrono::seconds(3)));
  auto subscriber = node->create_subscriber<Sample>(
      "topic", Qos{}.keep_last(5).deadline(std::chrono::seconds(1)).liveliness(Liveliness::manual_by_topic, std::chrono::seconds(2)));
  const DomainState state = node->domain_state();
  ASSERT_EQ(state.endpoints.size(), 2u);
  const DomainEndpoint &offers = state.endpoints[0], &asks = state.endpoints[1];
  EXPECT_TRUE(offers.publishes && !asks.publishes);
  EXPECT_EQ(offers.node, state.nodes[0].id);
  EXPECT_EQ(offers.topic, state.topics[0].id);
  EXPECT_TRUE(offers.qos.depth == 0 && offers.qos.reliable && offers.qos.transient_local && offers.qos.lifespan == 3'000'000'000);
  EXPECT_TRUE(asks.qos.depth == 5 && !asks.qos.reliable && asks.qos.deadline == 1'000'000'000);
  EXPECT_TRUE(asks.qos.manual_by_topic && asks.qos.lease == 2'000'000'000);
}

TEST_F(DomainStates, TheMemoryOfAPublisherIsTold) {
  Child reader("path_reader", {"native", "reader", ""});
  reader.expect("ready");
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, 5'000'000);
  EXPECT_TRUE(eventually([&] {
    const DomainState state = node->domain_state();
    const auto endpoint = std::ranges::find_if(state.endpoints, &DomainEndpoint::publishes);
    return endpoint->memory == publisher->statistics().memory_mapped && endpoint->memory >= 5'000'000;
  }));
  reader.order("end");
  reader.end();
}

TEST_F(DomainStates, ServicesAreToldWithTheirClientsAndProviders) {
  auto node = Node::create("client"), other = Node::create("provider");
  auto client = node->create_service_client<std::uint64_t, std::uint64_t>("sum");
  auto again = node->create_service_client<std::uint64_t, std::uint64_t>("sum");
  auto provider = other->create_service_provider<std::uint64_t, std::uint64_t>("sum", [](const std::uint64_t& number) { return number; });
  const DomainState state = node->domain_state();
  const std::vector<DomainService> services = services_of(state);
  ASSERT_EQ(services.size(), 1u);
  const std::uint64_t calls = named(state.nodes, "client")->id;
  EXPECT_EQ(services[0].name, "sum");
  EXPECT_EQ(services[0].clients, (std::vector{calls, calls}));
  EXPECT_EQ(services[0].providers, std::vector{named(state.nodes, "provider")->id});
  EXPECT_EQ(with_id(state.topics, services[0].requests)->name, "sum@request");
  EXPECT_EQ(with_id(state.topics, services[0].responses)->name, "sum@response");
}

TEST_F(DomainStates, AWatchIsToldOfWhatComesAndGoesAlsoByDeath) {
  auto node = Node::create("watcher");
  const Watched watched(*node);
  Child child("domain_member", {"elsewhere"});
  child.expect("ready");
  EXPECT_TRUE(watched.shows([](const DomainState& state) { return state.nodes.size() == 2 && state.topics.size() == 1; }));
  EXPECT_EQ(watched.state().nodes[1].name, "elsewhere");
  child.kill();
  EXPECT_TRUE(
      watched.shows([](const DomainState& state) { return state.nodes.size() == 1 && state.topics.empty() && state.endpoints.empty(); }));
}

TEST_F(DomainStates, AWatchTellsWhoDiedFromWhoLeft) {
  auto node = Node::create("watcher");
  std::mutex mutex;
  std::vector<std::uint64_t> gone, lost;
  auto watch = node->watch_domain([&](const DomainUpdate& update) {
    const std::lock_guard lock(mutex);
    gone.insert(gone.end(), update.gone.begin(), update.gone.end());
    lost.insert(lost.end(), update.lost.begin(), update.lost.end());
  });
  Child dies("domain_member", {"dies"}), leaves("domain_member", {"leaves"});
  dies.expect("ready");
  leaves.expect("ready");
  const DomainState state = node->domain_state();
  const std::uint64_t dying = named(state.nodes, "dies")->id, leaving = named(state.nodes, "leaves")->id;
  leaves.end();
  dies.kill();
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return std::ranges::count(gone, dying) == 1 && std::ranges::count(gone, leaving) == 1;
  }));
  EXPECT_EQ(lost, std::vector{dying});
}

TEST_F(DomainStates, ANodeThatIsDisconnectedComesAgainAndItsPairsGoOn) {
  auto node = Node::create("tool"), writer = Node::create("writer"), reader = Node::create("reader");
  auto publisher = writer->create_publisher<std::uint64_t>("topic", Qos{}.reliable().keep_all());
  auto subscriber = reader->create_subscriber<std::uint64_t>("topic", Qos{}.reliable().keep_all());
  await_subscribers(*publisher, 1);
  const Watched watched(*node);
  ASSERT_TRUE(watched.shows([](const DomainState& state) { return state.nodes.size() == 3 && state.pairs.size() == 1; }));
  const std::uint64_t before = named(watched.state().nodes, "writer")->id;
  node->disconnect("writer");
  EXPECT_TRUE(watched.shows([&](const DomainState& state) {
    const auto* const again = named(state.nodes, "writer");
    return again && again->id != before && state.pairs.size() == 1 && state.pairs[0].connected;
  }));
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(publisher->publish(i), PublishResult::published);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(*subscriber->take(std::chrono::minutes(1)), i);
  EXPECT_EQ(subscriber->statistics().publishers, 1u);
  try {
    node->disconnect("nobody");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_STREQ(error.what(), "there is no node 'nobody' in the domain");
  }
}

TEST_F(DomainStates, AnUpdateOfEverythingBeginsAnewAndEndsComplete) {
  auto node = Node::create("node");
  std::vector<std::shared_ptr<Subscriber<Sample>>> many;
  for (int i = 0; i < 300; ++i) many.push_back(node->create_subscriber<Sample>("topic" + std::to_string(i)));
  std::mutex mutex;
  std::vector<DomainUpdate> updates;
  auto watch = node->watch_domain([&](const DomainUpdate& update) {
    const std::lock_guard lock(mutex);
    updates.push_back(update);
  });
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return !updates.empty() && updates.back().complete;
  }));
  watch.reset();
  EXPECT_GT(updates.size(), 5u);
  DomainState state;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    EXPECT_EQ(updates[i].anew, i == 0);
    EXPECT_EQ(updates[i].complete, i + 1 == updates.size());
    apply(updates[i], state);
  }
  EXPECT_EQ(state.topics.size(), 300u);
  EXPECT_EQ(state.endpoints.size(), 300u);
}

TEST_F(DomainStates, AWatchCanBeDestroyedByItsCallback) {
  std::atomic<int> calls = 0;
  std::mutex mutex;
  std::shared_ptr<DomainWatch> watch;
  auto node = Node::create("node");
  {
    const std::lock_guard lock(mutex);
    watch = node->watch_domain([&](const DomainUpdate&) {
      const std::lock_guard wait(mutex);
      ++calls;
      watch.reset();
    });
  }
  ASSERT_TRUE(eventually([&] { return calls == 1; }));
  for (int i = 0; i < 10; ++i) (void)node->create_subscriber<Sample>("topic");
  EXPECT_EQ(node->domain_state().topics.size(), 0u);
  EXPECT_EQ(calls, 1);
}

TEST_F(DomainStates, NoCallbackComesAfterTheWatchIsDestroyedOrTheNode) {
  auto node = Node::create("node"), busy = Node::create("busy");
  const std::jthread churn([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) (void)busy->create_subscriber<Sample>("topic");
  });
  for (int i = 0; i < rounds(200); ++i) {
    auto alive = std::make_shared<std::atomic<bool>>(true);
    auto watch = node->watch_domain([alive](const DomainUpdate&) { EXPECT_TRUE(*alive); });
    if (i % 3 == 0) {
      node.reset();
      *alive = false;
      node = Node::create("node");
    }
    watch.reset();
    *alive = false;
  }
}

TEST_F(DomainStates, ASlowCallbackIsToldInTheEndHowThingsStandAndHoldsNobodyUp) {
  auto node = Node::create("watcher"), other = Node::create("other");
  std::mutex mutex;
  std::unique_lock busy(mutex);
  std::atomic<int> updates = 0;
  DomainState state;
  auto watch = node->watch_domain([&](const DomainUpdate& update) {
    const std::lock_guard lock(mutex);
    apply(update, state);
    ++updates;
  });
  for (int i = 0; i < 2000; ++i) (void)other->create_subscriber<Sample>("topic" + std::to_string(i));
  auto last = other->create_subscriber<Sample>("last");
  busy.unlock();
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard lock(mutex);
    return state.topics.size() == 1 && state.topics[0].name == "last";
  }));
  EXPECT_LT(updates, 100) << "what came and went meanwhile is not told";
}

TEST_F(DomainStates, ANodeThatWatchesTooOftenIsToldSoAndGoesOn) {
  auto node = Node::create("node");
  std::vector<std::shared_ptr<DomainWatch>> watches;
  for (int i = 0; i < 16; ++i) watches.push_back(node->watch_domain([](const DomainUpdate&) {}));
  try {
    node->domain_state();
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::exhausted);
    EXPECT_STREQ(error.what(),
                 "node 'node' watches the domain, or asks for its state, 16 times already: destroy a DomainWatch, or share one");
  }
  watches.pop_back();
  EXPECT_EQ(node->domain_state().nodes.size(), 1u);
}

TEST_F(DomainStates, ACallbackMayForkAndItsChildIsInert) {
  auto node = Node::create("node");
  std::atomic<pid_t> child = 0;
  auto watch = node->watch_domain([&](const DomainUpdate&) {
    if (child == 0) child = ::fork();
    if (child != 0) return;
    child = -1;
    std::atexit([] { ::_exit(0); });  // before the leak sanitizer looks for threads that the child does not have
  });
  ASSERT_TRUE(eventually([&] { return child > 0; }));
  EXPECT_EQ(::kill(child, 0), 0);
  auto subscriber = node->create_subscriber<Sample>("topic");
  EXPECT_EQ(node->domain_state().topics.size(), 1u) << "the manager was told nothing by the child";
  // Its only thread is done when it has returned.
  int status = 0;
  EXPECT_TRUE(eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; }));
}

TEST_F(DomainStates, AQueryWithoutAManagerWaitsForTheNext) {
  auto node = Node::create("node");
  end_manager();
  EXPECT_EQ(node->domain_state().nodes.size(), 1u);
}

TEST_F(DomainStates, AWatchBeginsAnewWithTheNextManager) {
  auto node = Node::create("node"), watcher = Node::create("watcher");
  auto publisher = node->create_publisher<Sample>("topic");
  const Watched watched(*watcher);
  const auto is_right = [](const DomainState& state) {
    return state.nodes.size() == 2 && state.topics.size() == 1 && state.endpoints.size() == 1;
  };
  ASSERT_TRUE(watched.shows(is_right));
  const std::uint64_t before = watched.anew();
  end_manager();
  ASSERT_TRUE(eventually([&] { return watched.anew() > before; }));
  ASSERT_TRUE(watched.shows(is_right)) << "and nothing of what the manager before told";
  publisher.reset();
  EXPECT_TRUE(watched.shows([](const DomainState& state) { return state.endpoints.empty(); }));
}

TEST_F(DomainStates, ItIsMadeOfMessages) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<DomainUpdate>("domain/updates");
  auto whole = node->create_publisher<DomainState>("domain/state");
  auto services = node->create_publisher<DomainService>("domain/services");
  auto subscriber = node->create_subscriber<DomainState>("domain/state");
  whole->publish(node->domain_state());
  const auto received = subscriber->take();
  ASSERT_TRUE(received);
  EXPECT_EQ(received->topics.size(), 3u);
}

class PairsOfTheDomain : public Paths {};

TEST_P(PairsOfTheDomain, AreToldWithTheWayThatMessagesComeAndWhy) {
  auto node = Node::create("writer");
  auto publisher = node->create_publisher<Sample>("topic");
  const Reader reader(GetParam(), "");
  await_subscribers(*publisher, 1);
  const Watched watched(*node);
  EXPECT_TRUE(watched.shows([](const DomainState& state) {
    return state.pairs.size() == 1 && state.pairs[0].connected && state.pairs[0].delivery == GetParam().expected;
  })) << "it says "
      << to_string(watched.state().pairs.at(0).delivery) << ": " << watched.state().pairs.at(0).why;
  const DomainState state = watched.state();
  const DomainPair& pair = state.pairs[0];
  EXPECT_TRUE(with_id(state.endpoints, pair.publisher)->publishes);
  EXPECT_EQ(with_id(state.nodes, with_id(state.endpoints, pair.subscriber)->node)->name, "reader");
  const bool is_plain = GetParam().expected == Delivery::pointer || GetParam().expected == Delivery::native;
  EXPECT_EQ(pair.why, is_plain                                ? ""
                      : GetParam().where == Where::other_user ? "its process belongs to another user"
                                                              : "the subscriber asks for it");
}

SINEW_ON_ALL_PATHS(PairsOfTheDomain);

TEST_F(DomainStates, PairsThatAreNotConnectedAreToldWithTheReason) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("qos");
  auto subscriber = node->create_subscriber<Sample>("qos", Qos{}.reliable());
  Child child("domain_member", {"elsewhere"});
  child.expect("ready");
  SubscriberOptions own;
  own.delivery = Delivery::pointer;
  auto choosy = node->create_subscriber<Sample>("topic", Qos{}, own);
  const Watched watched(*node);
  EXPECT_TRUE(watched.shows([](const DomainState& state) {
    std::vector<std::string> reasons;
    for (const DomainPair& pair : state.pairs) {
      if (!pair.connected) reasons.push_back(pair.why);
    }
    std::ranges::sort(reasons);
    return reasons == std::vector<std::string>{"reliability: the publisher offers best_effort, the subscriber asks for reliable",
                                               "the subscriber takes messages of its own process only"};
  }));
  child.end();
}

}  // namespace
}  // namespace sinew::system
