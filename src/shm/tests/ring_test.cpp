#include "shm/ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace sinew::shm {
namespace {

using Outcome = Claims::Outcome;

struct Pair {
  std::unique_ptr<RingLayout> ring = std::make_unique<RingLayout>();
  std::unique_ptr<AckPage> page = std::make_unique<AckPage>();
  RingWriter writer{*ring};
  std::unique_ptr<PairCounts> counts = std::make_unique<PairCounts>();
  Claims claims{*page, *ring, *counts};
  AckView reader{*page};

  Pair() {
    initialise(*ring);
    initialise(*page);
  }
  std::uint64_t publish() {
    const std::uint64_t next = writer.head() + 1;
    return writer.publish({.root = next * 1000, .size = next * 10, .source_time = static_cast<std::int64_t>(next), .newest_chunk = 7});
  }
  std::vector<std::uint64_t> claimed() const {
    std::vector<std::uint64_t> all;
    reader.gather_claims(all);
    std::sort(all.begin(), all.end());
    return all;
  }
};

TEST(Ring, a_zeroed_file_is_understood_only_after_it_was_initialised) {
  RingLayout ring{};
  AckPage page{};
  EXPECT_FALSE(is_understood(ring));
  EXPECT_FALSE(is_understood(page));
  initialise(ring);
  initialise(page);
  EXPECT_TRUE(is_understood(ring));
  EXPECT_TRUE(is_understood(page));
}

TEST(Ring, another_version_or_capacity_is_not_understood) {
  RingLayout ring{};
  initialise(ring);
  ring.header.capacity = ring_capacity / 2;
  EXPECT_FALSE(is_understood(ring));
  initialise(ring);
  ring.header.version = layout_version + 1;
  EXPECT_FALSE(is_understood(ring));
  AckPage page{};
  page.version = layout_version + 1;
  EXPECT_FALSE(is_understood(page));
}

TEST(Ring, a_claim_gives_the_frame_as_it_was_published) {
  Pair pair;
  EXPECT_EQ(pair.claims.head(), 0u);
  EXPECT_EQ(pair.writer.publish({.root = 0x1234, .size = 99, .source_time = -5, .newest_chunk = 3}), 1u);
  EXPECT_EQ(pair.claims.head(), 1u);
  const auto claim = pair.claims.claim_frame(1);
  ASSERT_EQ(claim.outcome, Outcome::claimed);
  EXPECT_EQ(claim.frame.sequence, 1u);
  EXPECT_EQ(claim.frame.root, 0x1234u);
  EXPECT_EQ(claim.frame.size, 99u);
  EXPECT_EQ(claim.frame.source_time, -5);
  EXPECT_EQ(claim.frame.newest_chunk, 3u);
}

TEST(Ring, a_claim_is_seen_until_it_is_released) {
  Pair pair;
  pair.publish();
  pair.publish();
  const auto first = pair.claims.claim_frame(1);
  const auto second = pair.claims.claim_frame(2);
  EXPECT_EQ(pair.claimed(), (std::vector<std::uint64_t>{1, 2}));
  pair.claims.release(first.slot);
  EXPECT_EQ(pair.claimed(), (std::vector<std::uint64_t>{2}));
  pair.claims.release(second.slot);
  EXPECT_TRUE(pair.claimed().empty());
}

TEST(Ring, one_frame_can_be_claimed_twice_and_is_claimed_until_both_are_released) {
  Pair pair;
  pair.publish();
  const auto first = pair.claims.claim_frame(1);
  const auto second = pair.claims.claim_frame(1);
  ASSERT_NE(first.slot, second.slot);
  pair.claims.release(first.slot);
  EXPECT_EQ(pair.claimed(), (std::vector<std::uint64_t>{1}));
}

TEST(Ring, a_retired_frame_is_lost_and_leaves_no_claim) {
  Pair pair;
  pair.publish();
  pair.writer.retire(1);
  pair.writer.retire(1);
  EXPECT_EQ(pair.claims.claim_frame(1).outcome, Outcome::lost);
  EXPECT_TRUE(pair.claimed().empty());
}

TEST(Ring, an_overwritten_frame_is_lost_and_retiring_it_late_leaves_its_successor_alone) {
  Pair pair;
  for (std::uint32_t i = 0; i < ring_capacity + 1; ++i) {
    if (i >= ring_capacity) pair.writer.retire(1);
    pair.publish();
  }
  EXPECT_EQ(pair.claims.claim_frame(1).outcome, Outcome::lost);
  pair.writer.retire(1);
  const auto claim = pair.claims.claim_frame(ring_capacity + 1);
  ASSERT_EQ(claim.outcome, Outcome::claimed);
  EXPECT_EQ(claim.frame.root, (ring_capacity + 1) * 1000u);
}

TEST(Ring, a_frame_that_was_never_published_cannot_be_claimed) {
  Pair pair;
  EXPECT_EQ(pair.claims.claim_frame(0).outcome, Outcome::lost);
  EXPECT_EQ(pair.claims.claim_frame(ring_capacity).outcome, Outcome::lost);
  EXPECT_TRUE(pair.claimed().empty());
}

TEST(Ring, S14_when_claims_are_exhausted_one_reserved_slot_is_left_for_a_short_look) {
  Pair pair;
  pair.publish();
  std::vector<std::uint32_t> slots;
  for (std::uint32_t i = 0; i < max_claims - 1; ++i) {
    const auto claim = pair.claims.claim_frame(1);
    ASSERT_EQ(claim.outcome, Outcome::claimed);
    slots.push_back(claim.slot);
  }
  std::sort(slots.begin(), slots.end());
  EXPECT_EQ(std::unique(slots.begin(), slots.end()), slots.end()) << "a slot was given out twice";
  EXPECT_EQ(pair.claims.claim_frame(1).outcome, Outcome::exhausted);

  const auto reserved = pair.claims.claim_frame(1, true);
  ASSERT_EQ(reserved.outcome, Outcome::claimed);
  EXPECT_EQ(pair.claimed().size(), max_claims) << "the publisher sees the reserved claim, too";
  EXPECT_EQ(pair.claims.claim_frame(1, true).outcome, Outcome::exhausted);
  pair.claims.release(reserved.slot);
  EXPECT_EQ(pair.claims.claim_frame(1).outcome, Outcome::exhausted) << "the reserved slot is for short looks only";

  pair.claims.release(slots[40]);
  EXPECT_EQ(pair.claims.claim_frame(1).slot, slots[40]);
}

TEST(Ring, S14_the_publisher_looks_only_at_slots_that_were_ever_used) {
  Pair pair;
  pair.publish();
  EXPECT_EQ(pair.page->claims_used, 0u);
  const auto first = pair.claims.claim_frame(1);
  pair.claims.release(first.slot);
  pair.claims.release(pair.claims.claim_frame(1).slot);
  EXPECT_EQ(pair.page->claims_used, 1u) << "the lowest free slot is taken";
  pair.page->claims[5] = 1;
  EXPECT_TRUE(pair.claimed().empty());
}

TEST(Ring, S14_whatever_a_peers_page_says_no_more_than_its_slots_are_read) {
  Pair pair;
  pair.page->claims_used = 0xffffffff;
  for (auto& claim : pair.page->claims) claim = ~std::uint64_t{0};
  EXPECT_EQ(pair.claimed().size(), max_claims);
}

TEST(Ring, the_cursor_never_goes_back) {
  Pair pair;
  pair.claims.advance_cursor(5);
  pair.claims.advance_cursor(3);
  EXPECT_EQ(pair.claims.cursor(), 5u);
  EXPECT_EQ(pair.reader.cursor(), 5u);
}

}  // namespace
}  // namespace sinew::shm
