// What one reader is sent and nobody else.
#include "session/publisher/lane.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace sinew::session {
namespace {

/// A lane and its reader, as mapped by a process that was sent its ring.
struct Pair {
  Pair() : mapping(os::Mapping::map(lane.take_ring(), ring_file_size(), os::Access::read)) { shm::initialise(page); }

  const shm::RingLayout& ring() { return *std::launder(reinterpret_cast<const shm::RingLayout*>(mapping.data())); }
  std::uint64_t send(std::uint64_t root) { return lane.publish({.root = reinterpret_cast<void*>(root), .size = 8}, 0); }
  /// The roots of what is given back.
  std::vector<std::uint64_t> sweep() {
    lane.retire_up_to(shm::Reader(page).cursor());
    std::vector<std::uint64_t> claims, released;
    shm::Reader(page).gather_claims(claims);
    std::ranges::sort(claims);
    lane.sweep(claims, [&](const Lane::Frame& frame) { released.push_back(reinterpret_cast<std::uint64_t>(frame.root)); });
    return released;
  }

  Lane lane;
  os::Mapping mapping;
  shm::AckPage page{};
};

using Roots = std::vector<std::uint64_t>;

TEST(Lane, its_reader_finds_what_it_was_sent_in_order) {
  Pair pair;
  shm::Claims claims(pair.page, pair.ring());
  for (std::uint64_t number = 1; number <= 3; ++number) EXPECT_EQ(pair.send(number * 16), number);
  EXPECT_EQ(claims.head(), 3u);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    const auto claim = claims.claim_frame(number);
    ASSERT_EQ(claim.outcome, shm::Claims::Outcome::claimed);
    EXPECT_EQ(claim.frame.root, number * 16);
    claims.release(claim.slot);
  }
}

TEST(Lane, a_frame_is_given_back_once_its_reader_has_passed_it_and_holds_it_no_more) {
  Pair pair;
  shm::Claims claims(pair.page, pair.ring());
  for (std::uint64_t number = 1; number <= 3; ++number) pair.send(number * 16);
  EXPECT_EQ(pair.sweep(), Roots{});
  const auto claim = claims.claim_frame(2);
  claims.advance_cursor(2);
  EXPECT_EQ(pair.sweep(), Roots{16});
  EXPECT_EQ(pair.sweep(), Roots{});
  claims.release(claim.slot);
  EXPECT_EQ(pair.sweep(), Roots{32});
  EXPECT_EQ(claims.claim_frame(2).outcome, shm::Claims::Outcome::lost) << "it was given back";
  EXPECT_EQ(pair.lane.frames().size(), 1u);
}

TEST(Lane, a_reader_that_is_a_whole_ring_behind_leaves_no_room_until_it_goes_on) {
  Pair pair;
  for (std::uint64_t number = 1; number <= shm::ring_capacity; ++number) {
    ASSERT_TRUE(pair.lane.has_room(0)) << number;
    pair.send(number * 16);
  }
  EXPECT_FALSE(pair.lane.has_room(0));
  EXPECT_TRUE(pair.lane.has_room(1));
  EXPECT_FALSE(pair.lane.has_room(0)) << "whatever was asked before";
  shm::Claims claims(pair.page, pair.ring());
  claims.advance_cursor(1);
  EXPECT_EQ(pair.send(4), shm::ring_capacity + 1u);
  EXPECT_EQ(pair.sweep(), Roots{16});
}

TEST(Lane, a_frame_that_is_held_for_more_than_a_ring_stays) {
  Pair pair;
  shm::Claims claims(pair.page, pair.ring());
  pair.send(16);
  const auto held = claims.claim_frame(1);
  claims.advance_cursor(1);
  for (std::uint64_t number = 2; number <= 3 * shm::ring_capacity; ++number) {
    pair.send(number * 16);
    claims.advance_cursor(number);
    if (number % 100 == 0) pair.sweep();
  }
  pair.sweep();
  ASSERT_EQ(pair.lane.frames().size(), 1u);
  EXPECT_EQ(pair.lane.frames().front().sequence, 1u);
  claims.release(held.slot);
  EXPECT_EQ(pair.sweep(), Roots{16});
}

TEST(Lane, whatever_a_reader_says_nothing_is_retired_that_was_not_sent) {
  Pair pair;
  pair.send(16);
  pair.lane.retire_up_to(~std::uint64_t{0});
  EXPECT_TRUE(pair.lane.has_room(~std::uint64_t{0}));
  pair.send(32);
  shm::Claims claims(pair.page, pair.ring());
  EXPECT_EQ(claims.claim_frame(2).outcome, shm::Claims::Outcome::claimed);
}

}  // namespace
}  // namespace sinew::session
