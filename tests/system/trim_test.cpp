// What publishers needed once and need no more.
#include <fstream>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {

/// Published in this file only.
struct Heap {
  std::vector<std::uint8_t> content;
};

namespace {

class Trimming : public Domain {};

ROLE(heap_reader) {
  auto node = Node::create("reader");
  auto subscriber = node->create_subscriber<Heap>("heaps", [](const Heap&) {}, lossless());
  until_finished();
}

int chunks_mapped_by(pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  int chunks = 0;
  for (std::string line; std::getline(maps, line);) chunks += line.find("sinew-chunk") != std::string::npos;
  return chunks;
}

TEST_F(Trimming, MemoryThatWasNeededOnceIsGivenBackAlsoWhenNothingMoreIsPublished) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Heap>("heaps", lossless());
  auto holder = node->create_subscriber<Heap>("heaps", lossless(), as_from_elsewhere());
  Child reader("heap_reader");
  await_subscribers(*publisher, 2);
  const auto publish_and_hold = [&](int count) {
    std::vector<std::shared_ptr<const Heap>> held;
    for (int i = 0; i < count; ++i) {
      auto loan = publisher->loan();
      loan.build([](Heap& heap) { heap.content.assign(3'000'000, 1); });
      ASSERT_EQ(publisher->publish(std::move(loan)), PublishResult::published);
      held.push_back(take_soon(*holder));
    }
    EXPECT_GE(publisher->statistics().memory_mapped, static_cast<std::uint64_t>(count) * 3'000'000);  // now: it may be given back at once
  };
  publish_and_hold(30);
  EXPECT_TRUE(eventually([&] { return publisher->statistics().memory_mapped < 70'000'000; }));
  EXPECT_TRUE(eventually([&] { return chunks_mapped_by(reader.pid()) == 1; })) << chunks_mapped_by(reader.pid());
  publish_and_hold(1);  // and what stayed serves
  EXPECT_LT(publisher->statistics().memory_mapped, 70'000'000U);
  reader.end();
}

}  // namespace
}  // namespace sinew::system
