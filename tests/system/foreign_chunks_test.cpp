// Chunks of publishers of another user.
#include <fstream>
#include <optional>
#include <string>

#include "tests/system/foreign.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

// A publisher of another user whose ring the subscriber has.
struct Connected {
  explicit Connected(const char* name) : stranger(name), pair(stranger.meet_subscriber<Sample>("topic")) {
    require(pair.receive().has_value(), "no AttachForeign");
    shm::initialise(ring.as<shm::RingLayout>());
    pair.send(wire::Ring{static_cast<std::uint32_t>(ring.mapping.size()), 1}, {ring.file.get()});
  }
  Stranger stranger;
  Talk pair;
  Page ring{(sizeof(shm::RingLayout) + 4095) / 4096 * 4096};
};

// One chunk more than an export may have, and than may be on its way out.
ROLE(foreign_with_many_chunks) {
  become_stranger();
  Connected publisher("many");
  Talk& pair = publisher.pair;
  const Page page;
  const auto send_chunk = [&](std::uint64_t id) {
    pair.send(wire::Chunk{id, (std::uint64_t{1} << 40) + id * os::page_size(), os::page_size()}, {page.file.get()});
    const auto answer = pair.receive();
    return answer && std::holds_alternative<wire::ChunkMapped>(*answer);
  };
  for (std::uint64_t id = 1; id <= shm::export_depth + 1; ++id) require(send_chunk(id), "chunk " + std::to_string(id) + " is refused");
  require(!send_chunk(shm::export_depth + 2), "it may have any number of chunks mapped");
  say("ended");
  until_finished();
}

TEST_F(Foreign, S5_APublisherThatHasMoreChunksMappedThanAnExportHasIsLeft) {
  auto node = Node::create("viewer");
  auto subscriber = node->create_subscriber<Sample>("topic", [](const Sample&) {});
  Child publisher("foreign_with_many_chunks");
  publisher.expect("ended");
  publisher.end();
}

// What of the files by hand this process has touched, in KiB; nothing when it has none mapped.
std::optional<std::uint64_t> touched_by_hand() {
  std::ifstream maps("/proc/self/smaps");
  std::optional<std::uint64_t> touched;
  bool is_by_hand = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(' ') < line.find(':')) is_by_hand = line.find("by-hand") != std::string::npos;  // the first line of a mapping
    if (is_by_hand && line.starts_with("Rss:")) touched = touched.value_or(0) + std::stoull(line.substr(4));
  }
  return touched;
}

// A publisher of another user that sends chunks without end: first each behind the answer to the one before it, then as fast as it can.
ROLE(foreign_flooder) {
  become_stranger();
  Connected publisher("flooder");
  Talk& pair = publisher.pair;
  const Page chunk(std::size_t{64} << 20);
  std::uint64_t id = 0;
  const auto send_chunk = [&] {
    ++id;
    return pair.send(wire::Chunk{id, id << 40, chunk.mapping.size()}, {chunk.file.get()}) && pair.send(wire::ChunkWithdrawn{id});
  };
  for (int chunks = 0; chunks < 100; ++chunks) {
    require(send_chunk(), "it is left though it waits for answers");
    for (int answers = 0; answers < 2; ++answers) require(pair.receive().has_value(), "an answer is missing");
  }
  ++id;
  require(pair.send(wire::Chunk{id, id << 40, chunk.mapping.size()}, {chunk.file.get()}) && pair.receive(), "no last chunk");
  say("waits for answers");
  next_order();
  bool goes_on = true;
  for (int chunks = 0; goes_on && chunks < 3000; ++chunks) goes_on = send_chunk();
  require(!goes_on, "it is not left");
  say("left");
  until_finished();
}

TEST_F(Foreign, W43_APublisherThatSendsChunksWithoutWaitingForAnswersIsLeftAndWhatItSendsIsMappedOnlyWhereItIsRead) {
  auto node = Node::create("viewer");
  auto subscriber = node->create_subscriber<Sample>("topic", [](const Sample&) {});
  Child flooder("foreign_flooder");
  flooder.expect("waits for answers");
  EXPECT_EQ(subscriber->statistics().publishers, 1U);
  const auto touched = touched_by_hand();
  ASSERT_TRUE(touched) << "no chunk is mapped";
  EXPECT_LT(*touched, 1024U) << "it is populated, which takes as long as its sender likes";
  flooder.order("flood");
  // The node's thread for sockets serves the others all the while.
  for (int own = 0; own < 20; ++own) EXPECT_TRUE(node->create_publisher<Sample>("own" + std::to_string(own)));
  flooder.expect("left");
  EXPECT_TRUE(eventually([&] { return subscriber->statistics().publishers == 0; }));
  flooder.end();
}

}  // namespace
}  // namespace sinew::system
