// What publishers needed once and need no more.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

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

constexpr std::size_t to_be_kept = 1001;  // bytes, by which it is told from others

// in its callback, or later
ROLE(keeper_of_a_heap) {
  const bool in_callback = arguments.at(0) == "in its callback";
  auto node = Node::create("keeper");
  std::mutex mutex;
  std::shared_ptr<Subscriber<Heap>> subscriber;
  std::shared_ptr<const Heap> kept;
  {
    const std::lock_guard lock(mutex);
    subscriber = node->create_subscriber<Heap>(
        "heaps",
        [&](std::shared_ptr<const Heap> heap) {
          const std::lock_guard in_turn(mutex);
          if (heap->content.size() != to_be_kept) return;
          kept = std::move(heap);
          if (in_callback) subscriber.reset();
        },
        Qos{}.keep_last(1));
  }
  const auto has_kept = [&] {
    const std::lock_guard lock(mutex);
    return kept != nullptr;
  };
  require(eventually(has_kept), "there is nothing to be kept");
  subscriber.reset();
  say("kept");
  until_finished();
  require(std::ranges::count(kept->content, 1) == to_be_kept, "what is kept changes");
}

class TrimmingBesideAKeeper : public Trimming, public ::testing::WithParamInterface<const char*> {};

TEST_P(TrimmingBesideAKeeper, MemoryIsGivenBackThoughAMessageOutlivesItsSubscriber) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Heap>("heaps", lossless());
  Child keeper("keeper_of_a_heap", {GetParam()});
  await_subscribers(*publisher, 1);
  {
    std::vector<Loan<Heap>> burst;
    for (int i = 0; i < 30; ++i) {
      burst.push_back(publisher->loan());
      burst.back().build([](Heap& heap) { heap.content.assign(3'000'000, 1); });
    }
    ASSERT_EQ(publisher->publish(std::move(burst.back())), PublishResult::published);
    EXPECT_TRUE(eventually([&] { return chunks_mapped_by(keeper.pid()) >= chunks_mapped_by(::getpid()); }));
    auto last = publisher->loan();
    last.build([](Heap& heap) { heap.content.assign(to_be_kept, 1); });
    ASSERT_EQ(publisher->publish(std::move(last)), PublishResult::published);
    keeper.expect("kept");
  }
  EXPECT_TRUE(eventually([&] { return publisher->statistics().memory_mapped < 70'000'000; })) << publisher->statistics().memory_mapped;
  EXPECT_TRUE(eventually([&] { return chunks_mapped_by(keeper.pid()) == chunks_mapped_by(::getpid()); })) << chunks_mapped_by(keeper.pid());
  keeper.end();
}

INSTANTIATE_TEST_SUITE_P(Resets, TrimmingBesideAKeeper, ::testing::Values("in its callback", "later"),
                         [](const auto& way) { return way.index == 0 ? "InItsCallback" : "Later"; });

// Chunks that somebody has mapped, by what tells files apart, with their sizes.
using Chunks = std::map<std::string, std::size_t>;
void add_chunks_of(pid_t process, Chunks& to) {
  Chunks own;
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("sinew-chunk") == std::string::npos) continue;
    std::istringstream words(line);
    std::string range, access, offset, device, inode;
    words >> range >> access >> offset >> device >> inode;
    const std::size_t dash = range.find('-');
    own[device + inode] += std::stoull(range.substr(dash + 1), nullptr, 16) - std::stoull(range.substr(0, dash), nullptr, 16);
  }
  to.merge(own);
}

ROLE(heap_reader_that_is_stopped) {
  auto node = Node::create("reader" + arguments.at(0));
  auto subscriber = node->create_subscriber<Heap>("heaps", [](const Heap&) {});
  until_finished();
}

TEST_F(Trimming, M4_WhatStoppedReadersHaveMappedIsNoMoreThanTheBudgetAndOneChunkTogetherWithThePublishers) {
  constexpr std::size_t budget = 40 << 20;
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Heap>("heaps", Qos{}.keep_last(1), {.memory_budget = budget});
  std::vector<Child> stopped;
  for (int reader = 0; reader < 3; ++reader) {
    stopped.emplace_back("heap_reader_that_is_stopped", Arguments{std::to_string(reader)});
    await_subscribers(*publisher, static_cast<std::uint64_t>(reader) + 1);
    {
      std::vector<Loan<Heap>> burst;
      for (int i = 0; i < 30; ++i) {
        burst.push_back(publisher->loan());
        burst.back().build([](Heap& heap) { heap.content.assign(1'000'000, 1); });
      }
      ASSERT_EQ(publisher->publish(std::move(burst.back())), PublishResult::published);
      const auto has_all = [&] { return chunks_mapped_by(stopped.back().pid()) >= chunks_mapped_by(::getpid()); };
      EXPECT_TRUE(eventually(has_all));
      stopped.back().stop();
    }
    std::this_thread::sleep_for(std::chrono::seconds(4));  // for what is given back to be so: nothing is concluded from how much that is
    Chunks chunks;
    add_chunks_of(::getpid(), chunks);
    for (const Child& each : stopped) add_chunks_of(each.pid(), chunks);
    std::size_t all = 0, largest = 0;
    for (const auto& [file, size] : chunks) {
      all += size;
      largest = std::max(largest, size);
    }
    EXPECT_LE(all, budget + largest) << "with " << stopped.size() << " readers";
  }
  for (Child& each : stopped) each.kill();
  EXPECT_TRUE(eventually([&] { return publisher->statistics().memory_mapped < 20'000'000; })) << "nothing is given back when they are gone";
}

constexpr std::size_t kib = 1024;

PublishResult publish(Publisher<Heap>& publisher, std::size_t size) {
  auto loan = publisher.loan();
  loan.build([&](Heap& heap) { heap.content.assign(size, 1); });
  return publisher.publish(std::move(loan));
}

ROLE(reader_of_the_newest_heap) {
  auto node = Node::create("reader");
  auto subscriber = node->create_subscriber<Heap>("heaps", [](const Heap&) {}, Qos{}.keep_last(1));
  until_finished();
}

/// A publisher of 8 MiB. When it has published 6600 KiB next, a reader that is stopped has so much mapped of what was given back that there can be no chunk but this one.
class BesideAStoppedReader {
 public:
  explicit BesideAStoppedReader(PublisherOptions options) {
    options.memory_budget = 8192 * kib;
    publisher = node->create_publisher<Heap>("heaps", Qos{}.keep_last(1), options);
    stopped.emplace("reader_of_the_newest_heap");
    await_subscribers(*publisher, 1);
    for (const std::size_t size : {1024 * kib, 3072 * kib}) publish_and_leave(size);
    EXPECT_TRUE(eventually([&] { return chunks_mapped_by(stopped->pid()) >= chunks_mapped_by(::getpid()); }));
    stopped->stop();
    publish_and_leave(5120 * kib);
  }
  void publish_and_leave(std::size_t size) {
    EXPECT_EQ(publish(*publisher, size), PublishResult::published);
    EXPECT_TRUE(eventually([&] { return publisher->subscribers().at(0).waiting == 0 || stopped->is_stopped(); }));
    EXPECT_EQ(publish(*publisher, kib), PublishResult::published);
  }

  std::shared_ptr<Node> node = Node::create("node");
  std::shared_ptr<Publisher<Heap>> publisher;
  std::optional<Child> stopped;
};

TEST_F(Trimming, M4_ThereIsRoomForMessagesOfAnotherSizeBesideOneThatOutlivesItsSubscriber) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Heap>("heaps", Qos{}.keep_last(1), {.memory_budget = 8192 * kib});
  Child keeper("keeper_of_a_heap", {"later"});
  await_subscribers(*publisher, 1);
  for (const std::size_t size : {1024 * kib, 3072 * kib, kib}) ASSERT_EQ(publish(*publisher, size), PublishResult::published);
  EXPECT_TRUE(eventually([&] { return chunks_mapped_by(keeper.pid()) >= chunks_mapped_by(::getpid()); }));
  ASSERT_EQ(publish(*publisher, to_be_kept), PublishResult::published);
  keeper.expect("kept");
  auto other = node->create_subscriber<Heap>("heaps", Qos{}.keep_last(1), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  // As with BesideAStoppedReader.
  for (const std::size_t size : {5120 * kib, 6600 * kib, 6900 * kib}) {
    EXPECT_TRUE(eventually([&] { return publish(*publisher, size) == PublishResult::published; })) << size;
    EXPECT_EQ(publish(*publisher, kib), PublishResult::published);
  }
  keeper.end();
}

TEST_F(Trimming, M4_WhoIsToWaitForRoomDoesSoBesideAStoppedReaderToo) {
  BesideAStoppedReader all({.when_full = WhenFull::wait, .max_blocking = std::chrono::hours(1)});
  auto holder = all.node->create_subscriber<Heap>("heaps", Qos{}.keep_last(1), as_from_elsewhere());
  await_subscribers(*all.publisher, 2);
  ASSERT_EQ(publish(*all.publisher, 6600 * kib), PublishResult::published);
  std::shared_ptr<const Heap> held = take_soon(*holder);
  ASSERT_EQ(publish(*all.publisher, kib), PublishResult::published);
  const auto publish_until = [&](std::size_t size, const std::function<void()>& makes_room) {
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));  // so that it is waited for; else nothing is shown
      makes_room();
    });
    EXPECT_EQ(publish(*all.publisher, size), PublishResult::published);
    later.join();
  };
  publish_until(6144 * kib, [&] { held.reset(); });
  while (holder->take()) continue;
  publish_until(7168 * kib, [&] { all.stopped->go_on(); });
  holder.reset();
  all.stopped->end();
}

TEST_F(Trimming, M4_NothingIsWithdrawnForAMessageThatAStoppedReaderIsInTheWayOf) {
  BesideAStoppedReader all({.max_blocking = std::chrono::nanoseconds(0)});
  ASSERT_EQ(publish(*all.publisher, 6600 * kib), PublishResult::published);
  auto slow = all.node->create_subscriber<Heap>("heaps", Qos{}.keep_last(100), as_from_elsewhere());
  await_subscribers(*all.publisher, 2);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(publish(*all.publisher, kib), PublishResult::published);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(publish(*all.publisher, 7168 * kib), PublishResult::no_memory);
  EXPECT_EQ(all.publisher->statistics().withdrawn, 0U);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(publish(*all.publisher, 6400 * kib), PublishResult::published) << "there is a chunk for it";
  EXPECT_GT(all.publisher->statistics().withdrawn, 0U);
  EXPECT_NE(take_soon(*slow), nullptr);
  slow.reset();
  all.stopped->kill();
}

}  // namespace
}  // namespace sinew::system
