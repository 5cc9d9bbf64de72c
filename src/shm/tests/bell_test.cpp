#include "shm/bell.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "os/event.hpp"

namespace sinew::shm {
namespace {

TEST(Bell, S2_a_publisher_rings_once_per_epoch_however_often_it_publishes) {
  BellWord word{};
  Sleeper sleeper(word);
  Ringer ringer(word);
  EXPECT_FALSE(ringer.must_ring()) << "the thread is awake";
  sleeper.mark_asleep();
  EXPECT_TRUE(ringer.must_ring());
  EXPECT_FALSE(ringer.must_ring()) << "the thread has been rung in this sleep";
  sleeper.mark_awake();
  EXPECT_FALSE(ringer.must_ring());
  sleeper.mark_asleep();
  EXPECT_TRUE(ringer.must_ring()) << "a new sleep needs a new ring, though the publisher never saw the thread awake in between";
}

TEST(Bell, marking_twice_counts_once) {
  BellWord word{};
  Sleeper sleeper(word);
  sleeper.mark_awake();
  EXPECT_EQ(word.epoch, 0u);
  sleeper.mark_asleep();
  sleeper.mark_asleep();
  EXPECT_EQ(word.epoch, 1u);
  sleeper.mark_awake();
  sleeper.mark_awake();
  EXPECT_EQ(word.epoch, 2u);
}

TEST(Bell, S1_a_publisher_that_arrives_while_the_thread_sleeps_rings_it) {
  BellWord word{};
  Sleeper sleeper(word);
  sleeper.mark_asleep();
  Ringer newcomer(word);
  EXPECT_TRUE(newcomer.must_ring());
}

TEST(Bell, each_publisher_of_a_thread_rings_for_itself) {
  BellWord word{};
  Sleeper sleeper(word);
  Ringer first(word);
  Ringer second(word);
  sleeper.mark_asleep();
  EXPECT_TRUE(first.must_ring());
  EXPECT_TRUE(second.must_ring());
}

// One side of a rally: both threads are publisher of one head and sleeper on the other's.
struct Side {
  BellWord word{};
  Word64 head = 0;
  os::Fd event = os::create_eventfd();
};

void wait_for(Side& mine, const Word64& their_head, std::uint64_t wanted) {
  Sleeper sleeper(mine.word);
  for (;;) {
    sleeper.mark_awake();
    if (their_head.load(std::memory_order_seq_cst) >= wanted) return;
    sleeper.mark_asleep();
    if (their_head.load(std::memory_order_seq_cst) >= wanted) continue;
    os::wait_and_drain(mine.event.get());
  }
}

// A lost ring leaves both sides asleep for ever, and the test runs into its limit.
TEST(Bell, S2_a_waiting_thread_never_sleeps_through_a_head) {
  constexpr std::uint64_t rounds = 100'000;
  Side left;
  Side right;
  std::thread opponent([&] {
    Ringer ringer(left.word);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      wait_for(right, left.head, round);
      right.head.store(round, std::memory_order_seq_cst);
      if (ringer.must_ring()) os::ring(left.event.get());
    }
  });
  Ringer ringer(right.word);
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    left.head.store(round, std::memory_order_seq_cst);
    if (ringer.must_ring()) os::ring(right.event.get());
    wait_for(left, right.head, round);
  }
  opponent.join();
  EXPECT_EQ(left.head, rounds);
  EXPECT_EQ(right.head, rounds);
}

}  // namespace
}  // namespace sinew::shm
