// The ring under load: readers claim as fast as they can while the publisher laps them and reuses storage, between threads and between processes.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "shm/ring.hpp"

namespace sinew::shm {
namespace {

constexpr std::uint32_t readers = 3;
constexpr std::uint64_t frames = 300'000;        // at least
constexpr std::uint64_t enough_claims = 30'000;  // on a busy machine the publisher may be through before the readers ever ran
constexpr std::uint64_t kept = 2;                // frames the publisher retains
constexpr std::uint64_t storage_slots = 512;

// What the processes share. A frame's root is the number of its storage slot, the canary in it is the sequence it was published with.
struct Shared {
  RingLayout ring;
  std::array<AckPage, readers> pages;
  std::array<PairCounts, readers> counts;
  std::array<Word64, storage_slots> canary;
  std::atomic<std::uint32_t> attached;
  std::atomic<bool> done;
  std::atomic<std::uint64_t> claimed;
  std::atomic<std::uint64_t> wrong;
};

void publish_all(Shared& shared) {
  RingWriter writer(shared.ring);
  const std::vector<AckView> others(shared.pages.begin(), shared.pages.end());
  std::vector<std::uint64_t> free(storage_slots);
  std::iota(free.begin(), free.end(), 0);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> alive;  // sequence and storage, retained or claimed
  std::vector<std::uint64_t> claims;

  while (writer.head() < frames || shared.claimed < enough_claims) {
    // Storage of frames that nobody claims goes back: retire first, look at claims second.
    if (alive.size() > kept) {
      const std::uint64_t newest = writer.head();
      const auto old = [&](const auto& frame) { return frame.first + kept <= newest; };
      for (const auto& frame : alive) {
        if (old(frame)) writer.retire(frame.first);
      }
      claims.clear();
      for (const AckView& reader : others) reader.gather_claims(claims);
      std::erase_if(alive, [&](const auto& frame) {
        if (!old(frame) || std::find(claims.begin(), claims.end(), frame.first) != claims.end()) return false;
        shared.canary[frame.second].store(0, std::memory_order_relaxed);
        free.push_back(frame.second);
        return true;
      });
    }
    if (free.empty()) {
      std::this_thread::yield();
      continue;
    }
    const std::uint64_t slot = free.back();
    free.pop_back();
    shared.canary[slot].store(writer.head() + 1, std::memory_order_relaxed);
    alive.emplace_back(writer.publish({.root = slot, .size = writer.head() + 1}), slot);
  }
  shared.done = true;
}

void claim_until_done(Shared& shared, std::uint32_t which) {
  Claims claims(shared.pages[which], shared.ring, shared.counts[which]);
  ++shared.attached;
  std::uint64_t claimed = 0;
  std::uint64_t wrong = 0;
  for (std::uint64_t round = 0; !shared.done; ++round) {
    const std::uint64_t head = claims.head();
    if (head <= kept) continue;
    const std::uint64_t sequence = head - round % (kept + 1);  // from the newest frame to the one that is being retired
    const auto claim = claims.claim_frame(sequence);
    if (claim.outcome != Claims::Outcome::claimed) continue;
    ++claimed;
    const auto whole = [&] {
      return claim.frame.size == sequence && claim.frame.root < storage_slots &&
             shared.canary[claim.frame.root].load(std::memory_order_relaxed) == sequence;
    };
    wrong += !whole();
    if (claimed % 64 == 0) {
      shared.claimed += 64;
      std::this_thread::yield();  // hold this one while the publisher goes on
    }
    wrong += !whole();
    claims.release(claim.slot);
  }
  shared.wrong += wrong;
}

class RingRace : public testing::Test {
 public:
  ~RingRace() override { munmap(shared_, sizeof(Shared)); }

 protected:
  RingRace() {
    void* at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ = new (at) Shared{};
    initialise(shared_->ring);
    for (AckPage& page : shared_->pages) initialise(page);
  }

  void start() const {
    while (shared_->attached < readers) std::this_thread::yield();
    publish_all(*shared_);
  }
  void verify() const {
    EXPECT_GE(shared_->ring.header.head, frames);
    EXPECT_GE(shared_->claimed, enough_claims);
    EXPECT_EQ(shared_->wrong, 0u) << "of " << shared_->claimed << " claims";
  }

  Shared* shared_;
};

TEST_F(RingRace, F1_threads_that_claim_while_the_publisher_laps_them_never_see_another_frame) {
  std::vector<std::thread> threads;
  threads.reserve(readers);
  for (std::uint32_t i = 0; i < readers; ++i) threads.emplace_back([this, i] { claim_until_done(*shared_, i); });
  start();
  for (std::thread& thread : threads) thread.join();
  verify();
}

TEST_F(RingRace, F1_processes_that_claim_while_the_publisher_laps_them_never_see_another_frame) {
  std::vector<pid_t> children;
  for (std::uint32_t i = 0; i < readers; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      claim_until_done(*shared_, i);
      _exit(0);
    }
    children.push_back(child);
  }
  start();
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  verify();
}

}  // namespace
}  // namespace sinew::shm
