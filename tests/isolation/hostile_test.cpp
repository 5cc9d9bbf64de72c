// Somebody who may join attacks the manager's socket, and the others do not notice.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

// Gets every message, and says the number of the last when it is asked for it.
ROLE(counting_subscriber) {
  auto node = Node::create("counting");
  std::atomic<std::uint64_t> last{0}, wrong{0};
  auto subscriber = node->create_subscriber<Sample>(
      "topic",
      [&](const Sample& sample) {
        wrong += is_whole(sample) && sample.number == last + 1 ? 0 : 1;
        last = sample.number;
      },
      lossless());
  say("ready");
  const std::uint64_t end = std::stoull(next_order());
  require(eventually([&] { return last == end; }), "the last message does not come");
  require(wrong == 0, "messages are lost, or not whole");
  say("all");
  until_finished();
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
      newcomer->create_publisher<Sample>("newcomer");
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unavailable) << error.what();
      return false;
    }
  }
};

TEST_F(UnderAttack, EverybodyGetsEveryMessageNewNodesComeAndTheManagerGrowsNotForEver) {
  auto node = Node::create("publishing");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  Child counting("counting_subscriber");
  counting.expect("ready");
  await_subscribers(*publisher, 1);
  const pid_t manager_pid = manager().value_or(0);
  ASSERT_GT(manager_pid, 0);
  const std::size_t descriptors = descriptors_of(manager_pid), bytes = private_bytes_of(manager_pid);

  std::vector<Child> attackers;
  for (const char* const seed : {"1", "2"}) attackers.emplace_back("hostile", Arguments{seed});
  for (Child& attacker : attackers) attacker.expect("ready");
  std::atomic<bool> over{false};
  std::uint64_t published = 0;
  std::thread publishing([&] {
    while (!over) {
      EXPECT_EQ(publish_in_place(*publisher, 1, ++published, 2000), PublishResult::published);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  std::size_t most_descriptors = 0, most_bytes = 0;
  int newcomers = 0;
  const auto until = std::chrono::steady_clock::now() + soak();
  for (int tries = 0; std::chrono::steady_clock::now() < until || (newcomers < 3 && tries < 20); ++tries) {
    newcomers += comes_in() ? 1 : 0;
    most_descriptors = std::max(most_descriptors, descriptors_of(manager_pid));
    most_bytes = std::max(most_bytes, private_bytes_of(manager_pid));
  }
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
  RecordProperty("rounds", std::to_string(rounds));
  RecordProperty("newcomers", newcomers);
  RecordProperty("messages", std::to_string(published));
  RecordProperty("most_descriptors", std::to_string(most_descriptors));
  RecordProperty("most_private_bytes", std::to_string(most_bytes));
  RecordProperty("kept_private_bytes", std::to_string(private_bytes_of(manager_pid)));
  EXPECT_LE(most_descriptors, descriptors + 2 * 2000 + 400);
  EXPECT_GT(rounds, 0U);
  counting.end();
}

}  // namespace
}  // namespace sinew::system
