// Processes that vanish, or stand still, in the middle of the protocol: what is in their pages must mean something right to the others.
//
// Every actor runs in a child of its own, and so does whoever looks at the remains, because a process reads SINEW_AT only once.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "shm/ring.hpp"

namespace sinew::shm {
namespace {

struct Shared {
  RingLayout ring;
  AckPage page;
  PairCounts counts;
};

// Runs `actor` in a child with SINEW_AT = `at`.
pid_t start_child(const std::string& at, const std::function<void()>& actor) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("SINEW_AT", at.c_str(), 1);
    actor();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  return child;
}

// The status as waitpid() gives it, when the child has stopped or ended.
int wait_for(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, WUNTRACED), child);
  return status;
}

int run_in_child(const std::string& at, const std::function<void()>& actor) {
  return wait_for(start_child(at, actor));
}

class Death : public testing::Test {
 public:
  ~Death() override { munmap(shared_, sizeof(Shared)); }

 protected:
  Death() {
    void* at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared_ = new (at) Shared{};
    initialise(shared_->ring);
    initialise(shared_->page);
  }

  Shared* shared_;
};

constexpr std::uint64_t root_of(std::uint64_t sequence) {
  return sequence * 64;
}

// Publishes past the ring's end, so that the entry in which it dies held an older frame.
void publish_for_ever(RingLayout& ring) {
  RingWriter writer(ring);
  for (;;) {
    const std::uint64_t next = writer.head() + 1;
    if (next > 4) writer.retire(next - 4);
    writer.publish({.root = root_of(next), .size = next, .source_time = static_cast<std::int64_t>(next), .newest_chunk = next});
  }
}

// How many frames can be claimed; each must be whole.
std::uint64_t count_whole_frames(Shared& shared) {
  Claims claims(shared.page, shared.ring, shared.counts);
  std::uint64_t claimed = 0;
  for (std::uint64_t sequence = claims.head() + 1; sequence > 0; --sequence) {
    const auto claim = claims.claim_frame(sequence);
    if (claim.outcome != Claims::Outcome::claimed) continue;
    ++claimed;
    EXPECT_EQ(claim.frame.root, root_of(sequence));
    EXPECT_EQ(claim.frame.size, sequence);
    EXPECT_EQ(claim.frame.source_time, static_cast<std::int64_t>(sequence));
    EXPECT_EQ(claim.frame.newest_chunk, sequence);
    claims.release(claim.slot);
  }
  return claimed;
}

class PublisherDeath : public Death, public testing::WithParamInterface<const char*> {};

TEST_P(PublisherDeath, leaves_a_ring_from_which_a_reader_takes_only_whole_frames) {
  const std::string label = GetParam();
  const int status = run_in_child(label + ":2500:kill", [&] { publish_for_ever(shared_->ring); });
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(run_in_child("",
                         [&] {
                           const std::uint64_t whole = count_whole_frames(*shared_);
                           EXPECT_GE(whole, 3u);
                           EXPECT_LE(whole, 5u);
                         }),
            0);
}

INSTANTIATE_TEST_SUITE_P(At, PublisherDeath, testing::Values("ring.retired", "ring.fields", "ring.published", "ring.head"),
                         [](const auto& label) { return std::string(label.param).substr(5); });

class Preemption : public Death, public testing::WithParamInterface<const char*> {};

TEST_P(Preemption, F1_a_preempted_reader_never_takes_the_pointer_of_a_later_frame) {
  const std::string label = GetParam();
  const auto publish_until = [&](std::uint64_t last) {
    RingWriter writer(shared_->ring);
    while (writer.head() < last) {
      const std::uint64_t next = writer.head() + 1;
      if (next > 1) writer.retire(next - 1);
      writer.publish({.root = root_of(next), .size = next});
    }
  };
  ASSERT_EQ(run_in_child("", [&] { publish_until(7); }), 0);
  const pid_t reader = start_child(label + ":1:stop", [&] {
    Claims claims(shared_->page, shared_->ring, shared_->counts);
    const auto claim = claims.claim_frame(7);
    const bool was_in_time = label == "claim.second_look";
    EXPECT_EQ(claim.outcome, was_in_time ? Claims::Outcome::claimed : Claims::Outcome::lost);
    EXPECT_TRUE(!was_in_time || claim.frame.root == root_of(7));
  });
  ASSERT_TRUE(WIFSTOPPED(wait_for(reader)));
  ASSERT_EQ(run_in_child("", [&] { publish_until(7 + ring_capacity); }), 0);
  ASSERT_EQ(shared_->ring.entries[7].seq, 7u + ring_capacity);
  std::vector<std::uint64_t> claimed;
  AckView(shared_->page).gather_claims(claimed);
  EXPECT_EQ(claimed, (std::vector<std::uint64_t>{7})) << "its storage must be kept while the reader stands still";
  kill(reader, SIGCONT);
  EXPECT_EQ(wait_for(reader), 0);
}

INSTANTIATE_TEST_SUITE_P(At, Preemption, testing::Values("claim.stored", "claim.first_look", "claim.copied", "claim.second_look"),
                         [](const auto& label) { return std::string(label.param).substr(6); });

class ReaderDeath : public Death, public testing::WithParamInterface<const char*> {};

TEST_P(ReaderDeath, leaves_claims_that_the_publisher_sees) {
  const std::string label = GetParam();
  ASSERT_EQ(run_in_child("",
                         [&] {
                           RingWriter writer(shared_->ring);
                           for (std::uint64_t i = 1; i <= 3; ++i) writer.publish({.root = root_of(i)});
                         }),
            0);
  const int status = run_in_child(label + ":3:kill", [&] {
    Claims claims(shared_->page, shared_->ring, shared_->counts);
    for (std::uint64_t sequence = 1; sequence <= 3; ++sequence) {
      claims.claim_frame(sequence);
      claims.advance_cursor(sequence);
    }
  });
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  std::vector<std::uint64_t> claimed;
  const AckView reader(shared_->page);
  reader.gather_claims(claimed);
  EXPECT_EQ(claimed, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(reader.cursor(), label == "claim.cursor" ? 3u : 2u);
}

INSTANTIATE_TEST_SUITE_P(At, ReaderDeath,
                         testing::Values("claim.stored", "claim.first_look", "claim.copied", "claim.second_look", "claim.cursor"),
                         [](const auto& label) { return std::string(label.param).substr(6); });

}  // namespace
}  // namespace sinew::shm
