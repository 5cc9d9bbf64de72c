// What an adversarial reading of the design found beside the large things: a test for each that no other file has.
#include <sys/mman.h>
#include <unistd.h>

#include <fstream>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Review : public Domain {};

/// One mapping as /proc/self/smaps describes it.
struct Region {
  std::string name, flags;
  std::uint64_t size = 0, resident = 0;
};
std::vector<Region> shared_regions() {
  std::vector<Region> all;
  std::ifstream smaps("/proc/self/smaps");
  bool ours = false;
  for (std::string line; std::getline(smaps, line);) {
    if (const auto at = line.find("/memfd:"); at != line.npos) {
      ours = line.compare(at, 13, "/memfd:sinew-") == 0;
      if (ours) all.push_back({line.substr(at), {}, 0, 0});
    } else if (line.find('-') != line.npos && line.find(':') > line.find(' ')) {
      ours = false;
    } else if (ours) {
      if (line.starts_with("Size:")) all.back().size = std::stoull(line.substr(5));
      if (line.starts_with("Rss:")) all.back().resident = std::stoull(line.substr(4));
      if (line.starts_with("VmFlags:")) all.back().flags = line.substr(8);
    }
  }
  return all;
}

class Busy {  // a publisher and a subscriber of each kind, with a message on its way
 public:
  Busy() {
    publish_in_place(*publisher, 1, 1, 100'000);
    message = take_soon(*subscriber);
    require(message && is_whole(*message), "nothing comes");
  }
  std::shared_ptr<Node> node = Node::create("node");
  std::shared_ptr<Publisher<Sample>> publisher = node->create_publisher<Sample>("topic");
  std::shared_ptr<Subscriber<Sample>> subscriber = [this] {
    auto made = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
    await_subscribers(*publisher, 1);
    return made;
  }();
  std::shared_ptr<const Sample> message;
};

ROLE(reader_with_mappings) {
  auto node = Node::create("reader");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  const auto message = take_soon(*subscriber);
  require(message && is_whole(*message), "nothing comes");
  std::size_t chunks = 0;
  for (const Region& region : shared_regions()) {
    require(region.flags.find(" dd") != region.flags.npos, "would be dumped: " + region.name);
    require(region.flags.find(" dc") != region.flags.npos, "a child would have it: " + region.name);
    require(region.resident == region.size, "is not populated: " + region.name);
    chunks += region.name.find("chunk") != region.name.npos;
  }
  require(chunks > 0, "no chunk is mapped");
  say("checked");
  until_finished();
}

TEST_F(Review, S9_M5_NoSharedMemoryIsDumpedWithACoreAndAllOfItIsPopulatedWhenItIsMapped) {
  const Busy busy;
  EXPECT_GE(shared_regions().size(), 4U);
  for (const Region& region : shared_regions()) {
    EXPECT_NE(region.flags.find(" dd"), std::string::npos) << region.name;
    EXPECT_NE(region.flags.find(" dc"), std::string::npos) << region.name;
    EXPECT_EQ(region.resident, region.size) << region.name;
  }
  Child reader("reader_with_mappings");
  await_subscribers(*busy.publisher, 2);
  publish_in_place(*busy.publisher, 1, 2, 100'000);
  reader.expect("checked");
  reader.end();
}

ROLE(holder) {
  auto node = Node::create("holder");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(10), as_from_elsewhere());
  std::vector<std::shared_ptr<const Sample>> held;
  say("ready");
  while (held.size() < 3) held.push_back(take_soon(*subscriber));
  say("holds");
  next_order();
  require(are_unchanged(held), "a held message has changed");
  say("whole");
  until_finished();
}

TEST_F(Review, M4_ASubscriberThatIsStoppedKeepsWhatItHoldsAndNoMore) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(10));
  Child holder("holder");
  holder.expect("ready");
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 3; ++number) publish_in_place(*publisher, 1, number, 100'000);
  holder.expect("holds");
  ::kill(holder.pid(), SIGSTOP);
  for (std::uint64_t number = 4; number <= 2000; ++number) {
    ASSERT_EQ(publish_in_place(*publisher, 1, number, 100'000), PublishResult::published);
  }
  const std::vector<MatchedSubscriber> shares = publisher->subscribers();
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].held, 3U);
  EXPECT_EQ(shares[0].waiting, 10U);
  EXPECT_LT(publisher->statistics().memory_in_use, 20U * 100'000);
  ::kill(holder.pid(), SIGCONT);
  holder.order("look");
  holder.expect("whole");
  holder.end();
}

ROLE(idle_subscriber) {
  auto node = Node::create("idle");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  say("ready");
  next_order();
}

TEST_F(Review, M6_TheDeathOfAPeerIsSeenWhileTheManagerLives) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  Child idle("idle_subscriber");
  idle.expect("ready");
  await_subscribers(*publisher, 1);
  idle.kill();
  EXPECT_TRUE(eventually([&] { return publisher->statistics().subscribers == 0; }));
  EXPECT_NO_THROW((void)node->create_publisher<Sample>("another"));  // the manager answers
}

}  // namespace
}  // namespace sinew::system
