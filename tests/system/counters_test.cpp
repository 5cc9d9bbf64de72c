// What nodes count, read by a node that has nothing to do with them (spec/shared-memory.md, "Counters").
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "os/memory.hpp"
#include "shm/counters.hpp"
#include "tests/system/paths.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

/// Publishes as many messages as each order says.
ROLE(counted_publisher) {
  auto node = Node::create(arguments.at(0));
  auto publisher = node->create_publisher<Sample>("topic");
  say("ready");
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    if (order == "await") {
      await_subscribers(*publisher, 1);
    } else {
      for (int n = 0; n < std::stoi(order); ++n) publish_in_place(*publisher, 1, static_cast<std::uint64_t>(n), 100'000);
    }
    say("done");
  }
}

/// Reads what is counted until it is as each order says: "PUBLISHER MESSAGES SUBSCRIBER MESSAGES", of nobody else anything.
ROLE(counting_tool) {
  auto node = Node::create("tool");
  const auto counters = node->domain_counters();
  say("ready");
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    std::string last;
    const bool is_so = eventually([&] {
      const DomainCounts counts = counters->read();
      last.clear();
      for (const DomainPublisherCounts& each : counts.publishers) {
        last += std::to_string(each.publisher) + " " + std::to_string(each.messages) + " ";
      }
      for (const DomainPairCounts& each : counts.pairs) last += std::to_string(each.subscriber) + " " + std::to_string(each.messages) + " ";
      return last == order;
    });
    require(is_so, "counted is '" + last + "' and not '" + order + "'");
    say("so it is");
  }
}

class CountersOfADomain : public Domain {
 protected:
  /// What is counted, once it is as it should be.
  template <class Condition>
  DomainCounts when(const DomainCounters& counters, Condition condition) {
    DomainCounts counts;
    EXPECT_TRUE(eventually([&] { return condition(counts = counters.read()); }));
    return counts;
  }
  static auto has_pair(std::uint64_t messages) {
    return [=](const DomainCounts& counts) { return counts.pairs.size() == 1 && counts.pairs[0].messages == messages; };
  }
};

std::uint64_t measured(const DomainPairCounts& pair) {
  std::uint64_t all = 0;
  for (const std::uint32_t bucket : pair.latency) all += bucket;
  return all;
}

TEST_F(CountersOfADomain, AreReadByWhoIsNeitherConnectedNorListed) {
  Child publishes("counted_publisher", {"publishes"});
  publishes.expect("ready");
  auto receives = Node::create("receives");
  std::vector<std::shared_ptr<const Sample>> held;
  auto subscriber = receives->create_subscriber<Sample>("topic", Qos{}.keep_last(50));
  auto tool = Node::create("tool");
  const auto counters = tool->domain_counters();
  publishes.order("await");
  publishes.expect("done");
  publishes.order("20");
  publishes.expect("done");
  for (int n = 0; n < 20; ++n) {
    held.push_back(subscriber->take(std::chrono::seconds(10)));
    ASSERT_TRUE(held.back());
  }
  const DomainState state = tool->domain_state();
  // What the two nodes count comes in files of their own.
  const DomainCounts counts = when(*counters, [](const DomainCounts& now) { return has_pair(20)(now) && !now.publishers.empty(); });
  ASSERT_EQ(counts.publishers.size(), 1u);
  EXPECT_EQ(state.endpoints.size(), 2u) << "no endpoint is the tool's";
  const auto published = std::ranges::find_if(state.endpoints, &DomainEndpoint::publishes);
  EXPECT_EQ(counts.publishers[0].publisher, published->id);
  EXPECT_EQ(counts.publishers[0].messages, 20u);
  EXPECT_GE(counts.publishers[0].bytes, 20u * 100'000);
  EXPECT_GT(counts.publishers[0].newest, 0);
  EXPECT_EQ(counts.pairs[0].publisher, published->id);
  EXPECT_NE(counts.pairs[0].subscriber, published->id);
  EXPECT_EQ(counts.pairs[0].missed, 0u);
  EXPECT_EQ(counts.pairs[0].bytes_copied, 0u);
  EXPECT_EQ(counts.pairs[0].held, 20u);
  EXPECT_GE(measured(counts.pairs[0]), 1u);
  EXPECT_GE(counts.pairs[0].latency_total, 100u) << "nanoseconds";
  held.resize(3);
  EXPECT_EQ(counters->read().pairs.at(0).held, 3u);
  held.clear();
  EXPECT_EQ(counters->read().pairs.at(0).held, 0u);
  publishes.order("end");
  publishes.end();
}

TEST_F(CountersOfADomain, TellWhatWasLost) {
  Child publishes("counted_publisher", {"publishes"});
  publishes.expect("ready");
  auto node = Node::create("node");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(5));
  const auto counters = node->domain_counters();
  publishes.order("await");
  publishes.expect("done");
  publishes.order("50");
  publishes.expect("done");
  EXPECT_TRUE(subscriber->take(std::chrono::seconds(10)));
  const DomainCounts counts = when(*counters, has_pair(1));
  EXPECT_EQ(counts.pairs[0].missed, 45u);
  publishes.order("end");
  publishes.end();
}

TEST_F(CountersOfADomain, TellOfPairsWithinAProcess) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto publisher = node->create_publisher<Sample>("topic");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(2));
  const auto counters = tool->domain_counters();
  for (std::uint64_t n = 1; n <= 5; ++n) publisher->publish(sample_of(1, n, 10));
  while (subscriber->take(std::chrono::seconds(0))) {
  }
  const DomainCounts counts = when(*counters, has_pair(2));
  ASSERT_EQ(counts.publishers.size(), 1u);
  EXPECT_EQ(counts.publishers[0].messages, 5u);
  EXPECT_EQ(counts.pairs[0].missed, 3u);
  EXPECT_GE(measured(counts.pairs[0]), 1u);
  EXPECT_EQ(counts.pairs[0].publisher_identity, counts.publishers[0].identity);
  EXPECT_NE(counts.pairs[0].subscriber_identity, counts.publishers[0].identity);
  EXPECT_NE(counts.pairs[0].subscriber_identity, 0u);
}

TEST_F(CountersOfADomain, AreGoneWithWhoWasCounted_AndBeginFromNothing) {
  auto node = Node::create("node"), tool = Node::create("tool");
  const auto counters = tool->domain_counters();
  for (int round = 0; round < 3; ++round) {
    auto publisher = node->create_publisher<Sample>("topic");
    publisher->publish(sample_of(1, 1, 10));
    const DomainCounts counts = when(*counters, [](const DomainCounts& now) { return now.publishers.size() == 1; });
    EXPECT_EQ(counts.publishers.at(0).messages, 1u);
    publisher.reset();
    when(*counters, [](const DomainCounts& now) { return now.publishers.empty(); });
  }
}

TEST_F(CountersOfADomain, OfAKilledProcessAreGone) {
  Child publishes("counted_publisher", {"publishes"});
  publishes.expect("ready");
  auto tool = Node::create("tool");
  const auto counters = tool->domain_counters();
  when(*counters, [](const DomainCounts& now) { return now.publishers.size() == 1; });
  publishes.kill();
  when(*counters, [](const DomainCounts& now) { return now.publishers.empty(); });
}

TEST_F(CountersOfADomain, AreOfAllEndpointsHoweverMany) {
  auto node = Node::create("node"), tool = Node::create("tool");
  const auto early = tool->domain_counters();
  std::vector<std::shared_ptr<Publisher<Sample>>> publishers;
  for (int n = 0; n < 200; ++n) publishers.push_back(node->create_publisher<Sample>("topic/" + std::to_string(n)));
  for (const auto& publisher : publishers) publisher->publish(sample_of(1, 1, 10));
  const auto late = tool->domain_counters();
  for (const auto& counters : {early, late}) {
    const DomainCounts counts = when(*counters, [](const DomainCounts& now) { return now.publishers.size() == 200; });
    EXPECT_TRUE(std::ranges::all_of(counts.publishers, [](const auto& each) { return each.messages == 1; }));
    EXPECT_TRUE(std::ranges::is_sorted(counts.publishers, {}, &DomainPublisherCounts::publisher));
  }
}

TEST_F(CountersOfADomain, GoOnWhileThereIsNoManagerAndWithTheNextOne) {
  Child publishes("counted_publisher", {"publishes"});
  publishes.expect("ready");
  auto tool = Node::create("tool");
  const auto counters = tool->domain_counters();
  const DomainCounts before = when(*counters, [](const DomainCounts& now) { return now.publishers.size() == 1; });
  const pid_t dead = manager().value_or(0);
  ASSERT_GT(dead, 0);
  ::kill(dead, SIGKILL);
  await_end(dead);
  publishes.order("7");
  publishes.expect("done");
  when(*counters, [](const DomainCounts& now) { return now.publishers.size() == 1 && now.publishers[0].messages == 7; });
  auto newcomer = Node::create("newcomer");
  const auto others = newcomer->domain_counters();
  const DomainCounts after =
      when(*others, [](const DomainCounts& now) { return now.publishers.size() == 1 && now.publishers[0].messages == 7; });
  EXPECT_NE(after.publishers.at(0).publisher, before.publishers.at(0).publisher) << "else this shows nothing";
  EXPECT_EQ(after.publishers.at(0).identity, before.publishers.at(0).identity);
  EXPECT_NE(before.publishers.at(0).identity, 0u);
  publishes.order("end");
  publishes.end();
}

TEST_F(CountersOfADomain, AreNothingInAForkedChild_WhichDestroysThem) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(2));
  for (std::uint64_t n = 1; n <= 5; ++n) publisher->publish(sample_of(1, n, 10));
  auto counters = node->domain_counters();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool nothing = counters->read().publishers.empty();
    counters.reset();
    subscriber.reset();
    publisher.reset();
    node.reset();
    _exit(nothing ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(counters->read().publishers.size(), 1u);
}

/// A node by hand, with a publisher, and one that reads counters and is told of it.
struct Liar {
  explicit Liar(const std::string& name = "liar") : stranger(name) { window = register_publisher(1); }
  /// As another one with that window, if any.
  wire::Window register_publisher(std::uint64_t id, const wire::Window& its_window = {}) {
    stranger.manager.send(
        wire::RegisterPublisher{id, "its", Stranger::type<Sample>(), {.depth = 8}, 0, 0, wire::Ghost::no, own, its_window});
    return stranger.manager.expect<wire::PublisherRegistered>().window;
  }
  void register_subscriber(std::uint64_t id) {
    stranger.manager.send(wire::RegisterSubscriber{id, "hers", Stranger::type<Sample>(), {.depth = 8}, 0, 0, wire::Ghost::no, own_reader});
    stranger.manager.expect<wire::SubscriberRegistered>();
  }
  /// Shows it a file, and then, behind it, an honest one.
  void send(const os::Fd& file, std::uint32_t size) { stranger.manager.send(wire::Counters{size}, {file.get()}); }
  static void fill(Page& page, std::uint64_t identity, std::uint64_t messages, std::uint32_t slots = 9) {
    auto& header = page.as<shm::CounterHeader>();
    header.slots = slots;
    auto* const slot = reinterpret_cast<shm::CounterSlot*>(page.mapping.data() + sizeof header);
    shm::take(*slot, shm::Counted::publisher, identity, 0);
    slot->published.messages = messages;
    header.version = shm::layout_version;
  }

  static constexpr std::uint64_t own = 4711, own_reader = 4712;
  Stranger stranger;
  wire::Window window;
};

TEST_F(CountersOfADomain, OfANodeAreBelievedOfItsOwnEndpointsAlone) {
  auto node = Node::create("node"), tool = Node::create("tool");
  auto publisher = node->create_publisher<Sample>("topic");
  const auto counters = tool->domain_counters();
  when(*counters, [](const DomainCounts& now) { return now.publishers.size() == 1; });
  Stranger spy("spy");
  spy.manager.send(wire::WatchDomain{1});
  std::uint64_t victim = 0;
  while (victim == 0) {
    const auto message = spy.manager.receive();
    ASSERT_TRUE(message);
    if (const auto* const interface = std::get_if<wire::DomainInterface>(&*message)) victim = interface->identity;
  }
  Liar liar;
  Page lies, truth;
  Liar::fill(lies, victim, 1'000'000);
  Liar::fill(truth, Liar::own, 5);
  liar.send(lies.file, static_cast<std::uint32_t>(os::page_size()));
  liar.send(truth.file, static_cast<std::uint32_t>(os::page_size()));
  const DomainCounts counts = when(*counters, [](const DomainCounts& now) { return now.publishers.size() == 2; });
  EXPECT_EQ(counts.publishers.at(0).messages, 0u);
  EXPECT_EQ(counts.publishers.at(1).messages, 5u);
}

// As one does that could not be served for a moment (W88): the next registration stands before the first is deleted.
TEST_F(CountersOfADomain, GoOnWithWhoIsRegisteredOnceMore_WhateverTheToolHasHeardByThenAndWhoeverHasTakenTheIdentity) {
  auto node = Node::create("node");
  const auto order_for = [&] {
    std::uint64_t publisher = 0, subscriber = 0;
    for (const DomainEndpoint& end : node->domain_state().endpoints) (end.publishes ? publisher : subscriber) = end.id;  // the newest
    return std::to_string(publisher) + " 5 " + std::to_string(subscriber) + " 3 ";
  };
  for (const bool hears_all_at_once : {false, true}) {
    SCOPED_TRACE(hears_all_at_once);
    ASSERT_TRUE(eventually([&] { return node->domain_state().nodes.size() == 1; }));
    Child tool("counting_tool");
    tool.expect("ready");
    Page page, lies;
    Liar liar;
    liar.register_subscriber(1);
    Liar::fill(page, Liar::own, 5);
    auto* const slot = reinterpret_cast<shm::CounterSlot*>(page.mapping.data() + sizeof(shm::CounterHeader)) + 1;
    shm::take(*slot, shm::Counted::pair, Liar::own_reader, Liar::own);
    slot->taken.messages = 3;
    liar.send(page.file, static_cast<std::uint32_t>(os::page_size()));
    tool.order(order_for());
    tool.expect("so it is");
    if (hears_all_at_once) tool.stop();
    Liar thief("thief");
    Liar::fill(lies, Liar::own, 1'000'000);
    thief.send(lies.file, static_cast<std::uint32_t>(os::page_size()));
    liar.register_publisher(2, liar.window);
    liar.register_subscriber(2);
    const std::string order = order_for();
    liar.stranger.manager.send(wire::DeletePublisher{1});
    liar.stranger.manager.send(wire::DeleteSubscriber{1});
    ASSERT_TRUE(eventually([&] { return node->domain_state().endpoints.size() == 3; }));
    if (hears_all_at_once) tool.go_on();
    tool.order(order);
    tool.expect("so it is");
    tool.order("end");
    tool.end();
  }
}

// A node that was dropped is back before the manager has noticed, or has told of it.
TEST_F(CountersOfADomain, GoOnWithWhoComesBackBeforeItIsToldOfAsGone) {
  auto tool = Node::create("tool");
  const auto counters = tool->domain_counters();
  std::optional<Liar> first("first");
  Liar second("second");
  Page page;
  Liar::fill(page, Liar::own, 7);
  second.send(page.file, static_cast<std::uint32_t>(os::page_size()));
  first.reset();
  const DomainCounts counts = when(*counters, [](const DomainCounts& now) { return now.publishers.size() == 1; });
  EXPECT_EQ(counts.publishers.at(0).messages, 7u);
}

TEST_F(CountersOfADomain, InFilesThatAreNoneAreNotRead) {
  auto tool = Node::create("tool");
  const auto counters = tool->domain_counters();
  Liar liar;
  const auto size = static_cast<std::uint32_t>(os::page_size());
  Page unsealed(os::page_size(), false), of_another_size, of_another_version, with_too_many, honest;
  for (Page* const page : {&unsealed, &of_another_size, &of_another_version, &with_too_many}) Liar::fill(*page, Liar::own, 1, 0xffffffff);
  of_another_version.as<shm::CounterHeader>().version = shm::layout_version + 1;
  const os::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  liar.send(null, size);
  liar.send(unsealed.file, size);
  liar.send(of_another_size.file, 2 * size);
  liar.send(of_another_version.file, size);
  liar.send(with_too_many.file, size);
  const DomainCounts counts = when(*counters, [](const DomainCounts& now) { return !now.publishers.empty(); });
  EXPECT_EQ(counts.publishers.size(), 1u) << "of that which says that it has four billion slots, those that it has";
}

TEST_F(CountersOfADomain, OfSlotsThatSayAnythingAreReadWithoutHarm) {
  auto tool = Node::create("tool");
  const auto counters = tool->domain_counters();
  Liar liar;
  Page page;
  Liar::fill(page, Liar::own, 1);
  liar.send(page.file, static_cast<std::uint32_t>(os::page_size()));
  when(*counters, [](const DomainCounts& now) { return now.publishers.size() == 1; });
  std::mt19937_64 random(7);
  auto* const words = reinterpret_cast<shm::Word64*>(page.mapping.data() + sizeof(shm::CounterHeader));
  for (int n = 0; n < 100'000; ++n) {
    words[random() % (9 * sizeof(shm::CounterSlot) / 8)] = random() % 4 == 0 ? random() : random() % 3 == 0 ? Liar::own : random() % 3;
    if (n % 10 != 0) continue;
    EXPECT_LE(counters->read().publishers.size(), 9u);
  }
}

}  // namespace
}  // namespace sinew::system
