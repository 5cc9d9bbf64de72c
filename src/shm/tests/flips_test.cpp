// One and two bits that tip over in what lies between processes, all of them: whoever reads it believes no more than it says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/tests/flips.hpp"
#include "shm/bell.hpp"
#include "shm/ring.hpp"

namespace sinew::shm {
namespace {

using Outcome = Claims::Outcome;

/// What a reader and its own page say of a frame, beside what the ring's words are at that moment; null when it is the same.
const char* wrong_about(std::uint64_t sequence, const RingLayout& ring, const AckPage& page, Claims& claims) {
  const RingEntry& entry = ring.entries[sequence % ring_capacity];
  const bool is_there = entry.seq == sequence;
  if (claims.is_still_there(sequence) != is_there) return "a frame is there when its entry does not say so";
  if (claims.has_pieces(sequence) != (!is_there || entry.pieces != pieces_unknown)) return "the pieces of another frame are waited for";
  const auto time = claims.source_time(sequence);
  if (time.has_value() != is_there || (time && *time != static_cast<std::int64_t>(entry.source_time))) return "a frame has another's time";

  const auto claim = claims.claim_frame(sequence);
  std::vector<std::uint64_t> claimed;
  AckView(page).gather_claims(claimed);
  if (claim.outcome != (is_there && sequence != retired ? Outcome::claimed : Outcome::lost))
    return "what is not there is claimed, or not what is";
  if (claim.outcome == Outcome::claimed) {
    const Frame& frame = claim.frame;
    if (frame.sequence != sequence || frame.root != entry.root || frame.size != entry.size || frame.newest_chunk != entry.newest_chunk ||
        frame.pieces != entry.pieces || frame.source_time != static_cast<std::int64_t>(entry.source_time))
      return "a claimed frame is not what its entry says";
    if (claimed != std::vector{sequence}) return "the reader's page does not say what is claimed";
    claims.release(claim.slot);
    claimed.clear();
    AckView(page).gather_claims(claimed);
  }
  if (!claimed.empty()) return "the reader's page says of a claim that there is none of";
  return nullptr;
}

TEST(FlippedBits, of_a_ring_are_not_understood_or_believed_for_what_they_say_and_never_more) {
  const auto ring = std::make_unique<RingLayout>();
  const auto page = std::make_unique<AckPage>();
  initialise(*ring);
  initialise(*page);
  RingWriter writer(*ring);
  for (std::uint64_t n = 1; n <= 5; ++n) {
    writer.publish({.root = n << 20, .size = n * 10, .source_time = static_cast<std::int64_t>(n), .newest_chunk = 7, .pieces = n << 21});
  }
  PairCounts counts{};
  Claims claims(*page, *ring, counts);
  Ringer ringer(ring->header.blocked);
  std::uint64_t understood = 0, found = 0;
  const std::uint64_t last = 5;
  RingEntry& entry = ring->entries[last];
  // All but padding.
  RingHeader& header = ring->header;
  with_one_and_two_flipped_bits(
      {bytes_of(header).first(8), bytes_of(header.head), bytes_of(header.blocked), bytes_of(header).subspan(offsetof(RingHeader, alive)),
       bytes_of(entry)},
      [&]() -> const char* {
        const bool is_ours = ring->header.version == layout_version && ring->header.capacity == ring_capacity;
        if (is_understood(*ring) != is_ours) return "a ring of another version or size is understood, or one of ours is not";
        if (!is_ours) return nullptr;
        ++understood;
        const std::uint64_t head = claims.head();
        if (head != ring->header.head) return "the head is another one";
        if (newest_source_time(*ring) != static_cast<std::int64_t>(ring->entries[head % ring_capacity].source_time))
          return "the newest frame has another's time";
        if (ringer.must_ring() && (ring->header.blocked % 2 == 0 || ringer.must_ring()))
          return "a publisher that waits is woken twice, or without that it waits";
        claims.prefetch_next();
        found += entry.seq == last ? 1 : 0;
        // The frame itself, what its entry takes itself for, and the newest.
        for (const std::uint64_t sequence : {last, entry.seq.load(), head}) {
          if (const char* wrong = wrong_about(sequence, *ring, *page, claims)) return wrong;
        }
        return nullptr;
      });
  EXPECT_EQ(page->claims_used, 1U) << "one claim at a time";
  EXPECT_GT(understood, 500'000U);
  EXPECT_GT(found, 500'000U);
}

TEST(FlippedBits, of_a_page_of_claims_are_claims_of_used_slots_and_never_more_than_there_are) {
  const auto page = std::make_unique<AckPage>();
  initialise(*page);
  page->claims_used = 4;
  page->cursor = 100;
  page->claims[0] = 90;
  page->claims[2] = 1;
  page->claims[3] = 103;
  page->claims[4] = 77;  // of a slot that is not said to be used
  page->claims[max_claims - 1] = 99;
  const AckView reader(*page);
  std::vector<std::uint64_t> gathered, wanted;
  std::size_t most = 0;
  // The words before the claims, and the first of them.
  with_one_and_two_flipped_bits({bytes_of(*page).first(128)}, [&]() -> const char* {
    if (is_understood(*page) != (page->version == layout_version)) return "a page of another version is understood";
    if (reader.cursor() != page->cursor) return "the cursor is another one";
    gathered.clear();
    reader.gather_claims(gathered);
    if (gathered.size() > max_claims) return "there are more claims than slots";
    most = std::max(most, gathered.size());
    wanted.clear();
    std::uint32_t slot = 0;
    for (const Word64& claim : page->claims) {
      if (slot++ < page->claims_used && claim != 0) wanted.push_back(claim);
    }
    return gathered == wanted ? nullptr : "the claims are not those of used slots";
  });
  EXPECT_EQ(most, 6U) << "slots beyond those that were used have claims, too";
}

TEST(FlippedBits, of_a_bell_ring_it_once_for_each_epoch_that_somebody_sleeps_in) {
  for (const std::uint64_t epoch : {0x1000U, 0x1001U}) {
    BellWord bell{};
    bell.epoch = epoch;
    Ringer ringer(bell);
    std::uint64_t rung = 0, times = 0;
    with_one_and_two_flipped_bits({bytes_of(bell.epoch)}, [&]() -> const char* {
      const bool sleeps = bell.epoch % 2 == 1;
      if (ringer.must_ring() != (sleeps && bell.epoch != rung)) return "a sleeper is not woken, or one that was, or nobody";
      if (sleeps) rung = bell.epoch;
      ++times;
      return ringer.must_ring() ? "it rings twice" : nullptr;
    });
    EXPECT_EQ(times, 64U + 64U * 63 / 2);
  }
}

}  // namespace
}  // namespace sinew::shm
