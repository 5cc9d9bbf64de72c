// Somebody who may join attacks the manager's socket, and the others do not notice.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iostream>
#include <limits>
#include <mutex>
#include <thread>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

/// How long messages take.
class Latencies {
 public:
  void add(std::chrono::nanoseconds taken) {
    const std::lock_guard lock(mutex_);
    all_.push_back(taken.count() / 1000);
  }
  /// "p50 / p99" of those since the last time, in microseconds.
  std::string text() {
    const std::lock_guard lock(mutex_);
    if (all_.empty()) return "none";
    std::ranges::sort(all_);
    const std::string text = std::to_string(all_[all_.size() / 2]) + " / " + std::to_string(all_[all_.size() * 99 / 100]);
    all_.clear();
    return text;
  }

 private:
  std::mutex mutex_;
  std::vector<std::int64_t> all_;
};

// Gets every message. At an order "latency" it says what those since the last one took, at a number that it has got as many.
ROLE(counting_subscriber) {
  auto node = Node::create("counting");
  std::atomic<std::uint64_t> last{0}, wrong{0};
  Latencies latencies;
  auto subscriber = node->create_subscriber<Sample>(
      "topic",
      [&](const Sample& sample, const MessageInfo& info) {
        wrong += is_whole(sample) && sample.number == last + 1 ? 0 : 1;
        last = sample.number;
        latencies.add(info.receive_time - info.source_time);
      },
      lossless());
  say("ready");
  std::string order;
  while ((order = next_order()) == "latency") say(latencies.text());
  const std::uint64_t end = std::stoull(order);
  require(eventually([&] { return last == end; }), "the last message does not come");
  require(wrong == 0, "messages are lost, or not whole");
  say("all");
  until_finished();
}

// Uses up a core.
ROLE(computing) {
  std::atomic<bool> over{false};
  std::thread computing([&] {
    while (!over) {
    }
  });
  say("ready");
  until_finished();
  over = true;
  computing.join();
}

class UnderAttack : public Domain {
 protected:
  static constexpr std::size_t megabyte = std::size_t{1} << 20;
  /// What waits for all nodes together, and as much again for what they are.
  static constexpr std::size_t most_private = 128 * megabyte;
  /// What an allocator keeps for the next time.
  static constexpr std::size_t most_kept = 16 * megabyte;

  /// On a machine that stands still for seconds the manager may seem to be stopped; anything else is a failure.
  static bool comes_in() {
    try {
      auto newcomer = Node::create("newcomer");
      (void)newcomer->create_publisher<Sample>("newcomer");
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unavailable) << error.what();
      return false;
    }
  }
};

TEST_F(UnderAttack, EverybodyGetsEveryMessageNewNodesComeAndTheManagerGrowsNotForEver) {
  auto node = Node::create("publishing");
  auto publisher = node->create_publisher<Sample>("topic", lossless(), {.max_blocking = std::chrono::seconds(60)});
  Child counting("counting_subscriber");
  counting.expect("ready");
  await_subscribers(*publisher, 1);
  const pid_t manager_pid = manager().value_or(0);
  ASSERT_GT(manager_pid, 0);
  static_cast<void>(node->domain_state());  // whose answer comes after the manager has closed what it has sent
  const std::size_t descriptors = descriptors_of(manager_pid), bytes = private_bytes_of(manager_pid);

  std::atomic<bool> over{false};
  std::uint64_t published = 0;
  std::thread publishing([&] {
    while (!over) {
      EXPECT_EQ(publish_in_place(*publisher, 1, ++published, 2000), PublishResult::published);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  const auto latency = [&counting] {
    counting.order("latency");
    return counting.line().value_or("");
  };
  std::this_thread::sleep_for(soak() / 4);
  const std::string alone = latency();
  {
    std::array<Child, 2> computing = {Child("computing"), Child("computing")};
    for (Child& child : computing) child.expect("ready");
    latency();
    std::this_thread::sleep_for(soak() / 4);
    for (Child& child : computing) child.end();
  }
  const std::string beside_others = latency();
  std::vector<Child> attackers;
  for (const char* const seed : {"1", "2"}) attackers.emplace_back("hostile", Arguments{seed});
  for (Child& attacker : attackers) attacker.expect("ready");
  latency();
  std::size_t most_descriptors = 0, most_bytes = 0;
  int newcomers = 0;
  const auto until = std::chrono::steady_clock::now() + soak();
  for (int tries = 0; std::chrono::steady_clock::now() < until || (newcomers < 3 && tries < 20); ++tries) {
    newcomers += comes_in() ? 1 : 0;
    most_descriptors = std::max(most_descriptors, descriptors_of(manager_pid));
    most_bytes = std::max(most_bytes, private_bytes_of(manager_pid));
  }
  const std::string under_attack = latency();
  std::uint64_t rounds = 0;
  for (Child& attacker : attackers) {
    attacker.finish();
    rounds += std::stoull(attacker.line().value_or("0"));
    attacker.end();
  }
  over = true;
  publishing.join();
  counting.order(std::to_string(published));
  counting.expect("all");
  EXPECT_EQ(managers(), 1U);
  EXPECT_EQ(manager().value_or(0), manager_pid);
  EXPECT_TRUE(eventually([&] { return descriptors_of(manager_pid) == descriptors; }))
      << descriptors_of(manager_pid) << " instead of " << descriptors;
  EXPECT_GE(newcomers, 3);
  if (!sanitized) {  // whose allocators keep what was freed
    EXPECT_TRUE(eventually([&] { return private_bytes_of(manager_pid) <= bytes + most_kept; }))
        << private_bytes_of(manager_pid) << " instead of " << bytes;
    EXPECT_LT(most_bytes, bytes + most_private);
  }
  EXPECT_LE(most_descriptors, descriptors + 2 * 2000 + 400);
  EXPECT_GT(rounds, 0U);
  const bool is_left = descriptors_of(manager_pid) != descriptors;
  counting.end();
  report({"a client that may join attacks the manager's socket", static_cast<int>(rounds), HasFailure() ? 1 : 0, is_left ? 1 : 0});
  const std::string latencies = "While two clients attacked the manager's socket, " + std::to_string(published) +
                                " messages went from one process to another. Latency, p50 / p99 in microseconds: " + alone + " before, " +
                                beside_others + " beside two processes that only compute, " + under_attack +
                                " beside those that attack. The manager had at most " + std::to_string(most_bytes / megabyte) +
                                " MiB of private memory and " + std::to_string(most_descriptors) + " descriptors.";
  std::cout << latencies << "\n";
  report(latencies);
}

TEST_F(UnderAttack, WhoMakesEachOfItsPacketsDearForTheManagerKeepsNobodyOut) {
  const auto node = Node::create("publishing");
  Child dear("dear", {std::to_string(rounds(100'000))});
  dear.expect("ready");
  std::this_thread::sleep_for(std::chrono::seconds(1));  // until as many wait as find room
  const auto publishers = [&] {
    dear.order("count");
    return std::stoull(dear.line().value_or("0"));
  };
  // Where the newcomer stands still for a moment, the manager goes on with the others: the least of some tries is what it asked for.
  auto ahead = std::numeric_limits<unsigned long long>::max();
  for (int tries = 0; tries < 20 && ahead >= 20; ++tries) {
    const auto before = publishers();
    EXPECT_TRUE(comes_in());
    ahead = std::min(ahead, publishers() - before);
  }
  EXPECT_LT(ahead, 20U) << "as if each turn of it had 64 packets";
  const auto before = publishers();
  EXPECT_TRUE(eventually([&] { return publishers() > before; })) << "it was dropped";
  dear.end();
}

}  // namespace
}  // namespace sinew::system
