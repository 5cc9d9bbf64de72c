// Frames of a ring, and a reader of it.
#include "session/publisher/kept_frames.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace sinew::session {
namespace {

/// The frames and their reader, as mapped by a process that was sent the ring.
struct Pair {
  Pair() : mapping(os::Mapping::map(frames.ring().take_file(), ring_file_size(), os::Access::read)) { shm::initialise(page); }

  const shm::RingLayout& ring() { return *std::launder(reinterpret_cast<const shm::RingLayout*>(mapping.data())); }
  std::uint64_t publish(std::uint64_t root) {
    frames.prepare(nothing_beside);
    frames.publish({.root = reinterpret_cast<void*>(root), .size = 8}, 0);
    return frames.head();
  }
  /// The roots of what is given back.
  std::vector<std::uint64_t> sweep() {
    frames.retire_up_to(shm::AckView(page).cursor(), nothing_beside);
    std::vector<std::uint64_t> claims, released;
    shm::AckView(page).gather_claims(claims);
    std::ranges::sort(claims);
    held = frames.sweep(claims, [&](const KeptFrame& frame) { released.push_back(reinterpret_cast<std::uint64_t>(frame.root)); });
    return released;
  }

  std::vector<std::uint64_t> sequences() {
    std::vector<std::uint64_t> all;
    frames.for_each([&](const KeptFrame& frame) { all.push_back(frame.sequence); });
    return all;
  }

  KeptFrames frames{"test", 0};
  os::Mapping mapping;
  shm::AckPage page{};
  shm::PairCounts counts{};
  std::uint64_t held = 0;  ///< bytes, at the last sweep
};

using Roots = std::vector<std::uint64_t>;
using Sequences = std::vector<std::uint64_t>;

TEST(KeptFrames, a_reader_finds_them_in_order) {
  Pair pair;
  shm::Claims claims(pair.page, pair.ring(), pair.counts);
  for (std::uint64_t number = 1; number <= 3; ++number) EXPECT_EQ(pair.publish(number * 16), number);
  EXPECT_EQ(claims.head(), 3u);
  for (std::uint64_t number = 1; number <= 3; ++number) {
    const auto claim = claims.claim_frame(number);
    ASSERT_EQ(claim.outcome, shm::Claims::Outcome::claimed);
    EXPECT_EQ(claim.frame.root, number * 16);
    claims.release(claim.slot);
  }
}

TEST(KeptFrames, a_frame_is_given_back_once_its_reader_has_passed_it_and_holds_it_no_more) {
  Pair pair;
  shm::Claims claims(pair.page, pair.ring(), pair.counts);
  for (std::uint64_t number = 1; number <= 3; ++number) pair.publish(number * 16);
  EXPECT_EQ(pair.sweep(), Roots{});
  const auto claim = claims.claim_frame(2);
  claims.advance_cursor(2);
  EXPECT_EQ(pair.sweep(), Roots{16});
  EXPECT_EQ(pair.sweep(), Roots{});
  claims.release(claim.slot);
  EXPECT_EQ(pair.sweep(), Roots{32});
  EXPECT_EQ(claims.claim_frame(2).outcome, shm::Claims::Outcome::lost) << "it was given back";
  EXPECT_EQ(pair.sequences(), Sequences{3});
}

TEST(KeptFrames, a_reader_that_is_a_whole_ring_behind_leaves_no_room_until_it_goes_on) {
  Pair pair;
  for (std::uint64_t number = 1; number <= shm::ring_capacity; ++number) {
    ASSERT_TRUE(pair.frames.has_room(0)) << number;
    pair.publish(number * 16);
  }
  EXPECT_FALSE(pair.frames.has_room(0));
  EXPECT_TRUE(pair.frames.has_room(1));
  EXPECT_FALSE(pair.frames.has_room(0)) << "whatever was asked before";
  shm::Claims claims(pair.page, pair.ring(), pair.counts);
  claims.advance_cursor(1);
  EXPECT_EQ(pair.publish(4), shm::ring_capacity + 1u);
  EXPECT_EQ(pair.sweep(), Roots{16});
}

TEST(KeptFrames, a_frame_that_is_held_for_more_than_a_ring_stays) {
  Pair pair;
  shm::Claims claims(pair.page, pair.ring(), pair.counts);
  pair.publish(16);
  const auto held = claims.claim_frame(1);
  claims.advance_cursor(1);
  for (std::uint64_t number = 2; number <= 3 * shm::ring_capacity; ++number) {
    pair.publish(number * 16);
    claims.advance_cursor(number);
    if (number % 100 == 0) pair.sweep();
  }
  pair.sweep();
  EXPECT_EQ(pair.sequences(), Sequences{1});
  EXPECT_EQ(pair.held, 8u);
  claims.release(held.slot);
  EXPECT_EQ(pair.sweep(), Roots{16});
}

TEST(KeptFrames, when_there_are_more_than_there_was_room_for_each_stays_what_it_is) {
  Pair pair;
  for (std::uint64_t number = 1; number <= 5; ++number) pair.publish(number * 16);
  shm::Claims(pair.page, pair.ring(), pair.counts).advance_cursor(5);
  EXPECT_EQ(pair.sweep().size(), 5u);  // so that the oldest is not in the first place
  for (std::uint64_t number = 6; number <= 100; ++number) pair.publish(number * 16);
  for (std::uint64_t number = 6; number <= 100; ++number) {
    const KeptFrame* const frame = pair.frames.find(number);
    ASSERT_NE(frame, nullptr) << number;
    EXPECT_EQ(frame->root, reinterpret_cast<void*>(number * 16));
  }
  EXPECT_EQ(pair.sequences().size(), 95u);
}

TEST(KeptFrames, stay_what_they_are_when_more_room_is_made_for_them) {
  Pair pair;
  for (std::uint64_t number = 1; number <= 11; ++number) pair.publish(number * 16);
  pair.frames.reserve(64);
  pair.frames.reserve(8);
  for (std::uint64_t number = 12; number <= 40; ++number) pair.publish(number * 16);
  for (std::uint64_t number = 1; number <= 40; ++number) EXPECT_EQ(pair.frames.find(number)->root, reinterpret_cast<void*>(number * 16));
}

TEST(KeptFrames, what_went_by_pointer_only_and_is_in_no_history_is_not_kept) {
  Pair pair;
  for (int i = 0; i < 3; ++i) {
    pair.frames.prepare(nothing_beside);
    EXPECT_TRUE(pair.frames.empty());
    pair.frames.skip({});
  }
}

TEST(KeptFrames, one_that_somebody_of_this_process_holds_stays_and_is_found_until_it_is_forgotten) {
  Pair pair;
  pair.frames.prepare(nothing_beside);
  pair.frames.publish({.root = reinterpret_cast<void*>(16), .size = 8, .pins = 1}, 0);
  pair.publish(32);
  shm::Claims(pair.page, pair.ring(), pair.counts).advance_cursor(2);
  EXPECT_EQ(pair.sweep(), Roots{32});
  KeptFrame* const pinned = pair.frames.find(1);
  ASSERT_NE(pinned, nullptr);
  EXPECT_EQ(pinned->pins, 1u);
  EXPECT_EQ(pair.frames.find(2), nullptr);
  EXPECT_EQ(pair.frames.find(3), nullptr) << "it is none yet";
  pair.frames.forget(*pinned);
  EXPECT_TRUE(pair.frames.empty());
}

TEST(KeptFrames, what_one_has_beside_the_window_leaves_when_it_is_retired) {
  Pair pair;
  const auto beside = std::make_shared<int>(1);
  pair.frames.prepare(nothing_beside);
  pair.frames.skip({.local = beside});
  EXPECT_EQ(pair.frames.find(1), nullptr) << "it is not in the window";
  ASSERT_NE(pair.frames.waiting(1), nullptr);
  std::shared_ptr<const void> left;
  pair.frames.retire_up_to(1, [&](KeptFrame& frame) { left = std::move(frame.local); });
  EXPECT_EQ(left, beside);
  EXPECT_EQ(pair.frames.waiting(1), nullptr);
  EXPECT_TRUE(pair.frames.empty());
}

TEST(KeptFrames, one_that_was_skipped_is_found_by_readers_once_it_is_filled) {
  Pair pair;
  pair.frames.prepare(nothing_beside);
  pair.frames.skip({.source_time = 7});
  shm::Claims claims(pair.page, pair.ring(), pair.counts);
  EXPECT_EQ(claims.claim_frame(1).outcome, shm::Claims::Outcome::lost);
  KeptFrame& frame = *pair.frames.waiting(1);
  frame.root = reinterpret_cast<void*>(16);
  pair.frames.fill(frame, 0);
  const auto claim = claims.claim_frame(1);
  ASSERT_EQ(claim.outcome, shm::Claims::Outcome::claimed);
  EXPECT_EQ(claim.frame.root, 16u);
  EXPECT_EQ(claim.frame.source_time, 7);
}

TEST(KeptFrames, one_that_is_withdrawn_is_lost_to_readers_and_given_back_and_those_before_it_are_not) {
  Pair pair;
  for (std::uint64_t number = 1; number <= 4; ++number) pair.publish(number * 16);
  pair.frames.withdraw(3, nothing_beside);
  shm::Claims claims(pair.page, pair.ring(), pair.counts);
  EXPECT_EQ(claims.claim_frame(3).outcome, shm::Claims::Outcome::lost);
  EXPECT_EQ(pair.sweep(), Roots{48});
  EXPECT_EQ(pair.frames.find(3), nullptr);
  EXPECT_TRUE(pair.frames.waiting(3)->is_nothing());
  EXPECT_EQ(pair.sequences(), (Sequences{1, 2, 4}));
  EXPECT_EQ(claims.claim_frame(2).outcome, shm::Claims::Outcome::claimed);
  claims.advance_cursor(4);
  EXPECT_EQ(pair.sweep(), (Roots{16, 64}));
}

TEST(KeptFrames, one_that_is_claimed_and_withdrawn_nevertheless_stays_and_is_found_as_those_that_are_retired_later) {
  Pair pair;
  shm::Claims claims(pair.page, pair.ring(), pair.counts);
  for (std::uint64_t number = 1; number <= 4; ++number) pair.publish(number * 16);
  for (const std::uint64_t number : {1U, 3U}) EXPECT_EQ(claims.claim_frame(number).outcome, shm::Claims::Outcome::claimed);
  pair.frames.withdraw(3, nothing_beside);
  EXPECT_EQ(pair.sweep(), Roots{});
  claims.advance_cursor(2);
  EXPECT_EQ(pair.sweep(), Roots{32});
  for (const std::uint64_t number : {1U, 3U}) {
    const KeptFrame* const frame = pair.frames.find(number);
    ASSERT_NE(frame, nullptr) << number;
    EXPECT_EQ(frame->root, reinterpret_cast<void*>(number * 16));
  }
  EXPECT_EQ(pair.sequences(), (Sequences{1, 3, 4}));
}

TEST(KeptFrames, pieces_are_made_once_of_those_that_are_waiting_and_have_an_object) {
  Pair pair;
  for (std::uint64_t number = 1; number <= 4; ++number) pair.publish(number * 16);
  pair.frames.retire_up_to(1, nothing_beside);
  Sequences made;
  const auto make = [&](const KeptFrame& frame) {
    made.push_back(frame.sequence);
    return reinterpret_cast<void*>(std::uintptr_t{4096});
  };
  pair.frames.write_missing_pieces(3, make);
  EXPECT_EQ(made, (Sequences{3, 4}));
  pair.frames.write_missing_pieces(0, make);
  EXPECT_EQ(made, (Sequences{3, 4, 2}));
  shm::Claims claims(pair.page, pair.ring(), pair.counts);
  EXPECT_TRUE(claims.has_pieces(4));
}

TEST(KeptFrames, those_that_are_abandoned_can_still_be_taken_and_none_is_left_but_pinned_ones) {
  Pair pair;
  pair.publish(16);
  pair.frames.prepare(nothing_beside);
  pair.frames.publish({.root = reinterpret_cast<void*>(32), .size = 8, .pins = 1}, 0);
  pair.frames.abandon(nothing_beside);
  EXPECT_EQ(pair.sequences(), (Sequences{1, 2}));
  pair.frames.forget_all_but_pinned();
  EXPECT_EQ(pair.sequences(), Sequences{2});
  shm::Claims claims(pair.page, pair.ring(), pair.counts);
  EXPECT_EQ(claims.claim_frame(1).outcome, shm::Claims::Outcome::claimed);
}

TEST(KeptFrames, whatever_a_reader_says_nothing_is_retired_that_was_not_sent) {
  Pair pair;
  pair.publish(16);
  pair.frames.retire_up_to(~std::uint64_t{0}, nothing_beside);
  EXPECT_TRUE(pair.frames.has_room(~std::uint64_t{0}));
  pair.publish(32);
  shm::Claims claims(pair.page, pair.ring(), pair.counts);
  EXPECT_EQ(claims.claim_frame(2).outcome, shm::Claims::Outcome::claimed);
}

}  // namespace
}  // namespace sinew::session
