// What a node takes beside the messages that it shares: threads, and memory of its process alone.
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Cost : public Domain {};

constexpr std::size_t of_each = 50;
constexpr std::uint64_t most_bytes = 10'000'000;
constexpr std::size_t most_threads = 6;
constexpr std::size_t message_bytes = 1000;

/// What nobody else has mapped: messages that a reader has mapped as well are not among it. With "Private_Dirty" only what it has written.
std::uint64_t private_bytes(const std::string& process = "self", const std::string& kind = "Private_") {
  std::ifstream rollup("/proc/" + process + "/smaps_rollup");
  std::uint64_t sum = 0;
  for (std::string line; std::getline(rollup, line);) {
    if (line.starts_with(kind)) sum += std::stoull(line.substr(line.find(':') + 1)) * 1024;
  }
  return sum;
}

std::size_t threads() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

/// Publishers of some topics, and subscribers with callbacks of others.
struct Ends {
  Ends(Node& node, const std::string& published, const std::string& subscribed) {
    for (std::size_t i = 0; i < of_each; ++i) {
      publishers.push_back(node.create_publisher<Sample>(published + std::to_string(i)));
      subscribers.push_back(
          node.create_subscriber<Sample>(subscribed + std::to_string(i), [this](const Sample& sample) { received += is_whole(sample); }));
    }
  }
  void exchange() {
    for (const auto& publisher : publishers) await_subscribers(*publisher, 1);
    std::uint64_t number = 0;
    for (const auto& publisher : publishers) publish_in_place(*publisher, 1, ++number, message_bytes);
    require(eventually([&] { return received == of_each; }), "messages are lost");
  }

  std::atomic<std::size_t> received{0};
  std::vector<std::shared_ptr<Publisher<Sample>>> publishers;
  std::vector<std::shared_ptr<Subscriber<Sample>>> subscribers;
};

ROLE(peer_of_a_hundred) {
  auto node = Node::create("peer");
  Ends ends(*node, "from_peer_", "to_peer_");
  ends.exchange();
  say("done");
  until_finished();
}

ROLE(node_of_a_hundred) {
  const std::uint64_t bytes_before = private_bytes();
  const std::size_t threads_before = threads();
  auto node = Node::create("many");
  Ends ends(*node, "to_peer_", "from_peer_");
  ends.exchange();
  say("done");
  next_order();  // the peer has all, too
  say(std::to_string(private_bytes() - bytes_before));
  say(std::to_string(threads() - threads_before));
  until_finished();
}

TEST_F(Cost, a_node_with_fifty_connected_publishers_and_fifty_subscribers_takes_at_most_six_threads_and_ten_megabytes_of_its_own) {
  Child many("node_of_a_hundred"), peer("peer_of_a_hundred");
  many.expect("done");
  peer.expect("done");
  many.order("look");
  const std::uint64_t bytes = std::stoull(many.line().value_or("0"));
  const std::size_t more_threads = std::stoull(many.line().value_or("0"));
  RecordProperty("private_bytes", std::to_string(bytes));
  EXPECT_GT(bytes, 0U);
  if (!sanitized) {
    EXPECT_LE(bytes, most_bytes);  // a sanitizer keeps books of its own
  }
  EXPECT_GT(more_threads, 0U);
  EXPECT_LE(more_threads, most_threads);
  many.end();
  peer.end();
}

// Not even the ids that they had.
TEST_F(Cost, what_comes_and_goes_leaves_nothing_with_the_manager) {
  auto node = Node::create("node");
  const auto rounds = [&](int count) {
    for (int round = 0; round < count; ++round) {
      const auto publisher = node->create_publisher<Sample>("topic");
      const auto subscriber = node->create_subscriber<Sample>("other", [](const Sample&) {});
      const auto watch = node->watch_domain([](const DomainUpdate&) {});
      const auto second = node->create_subscriber<Sample>("topic", [](const Sample&) {});
    }
  };
  const std::string pid = std::to_string(*manager());
  rounds(200);
  const std::uint64_t before = private_bytes(pid, "Private_Dirty");
  rounds(4000);
  EXPECT_GT(before, 0U);
  if (!sanitized) {
    EXPECT_LE(private_bytes(pid, "Private_Dirty"), before + 65'536);
  }
}

}  // namespace
}  // namespace sinew::system
