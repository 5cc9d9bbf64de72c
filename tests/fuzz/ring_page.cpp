// A reader before a ring that holds whatever its publisher likes, and changes between any two of the reader's calls: what the reader's page says of its claims stays true, since a publisher
// that is honest believes it.
#include <array>
#include <map>
#include <memory>
#include <vector>

#include "input.hpp"
#include "shm/bell.hpp"
#include "shm/ring.hpp"

namespace {

using namespace sinew::shm;
using sinew::fuzz::Input;
using sinew::fuzz::require;

/// The reader's side, and what it should have written into its page.
class Subscriber {
 public:
  explicit Subscriber(RingLayout& ring) : ring_(ring), claims_(*page_, ring, *counts_) { initialise(*page_); }

  void claim(std::uint64_t sequence, bool use_reserved) {
    const auto claim = claims_.claim_frame(sequence, use_reserved);
    const std::size_t room = max_claims - (use_reserved ? 0 : 1);
    const bool has_room = held_.size() < room && !(held_.size() == max_claims - 1 && held_.contains(max_claims - 1));
    const RingEntry& entry = ring_.entries[sequence % ring_capacity];
    const bool is_there = sequence != 0 && entry.seq == sequence;
    if (claim.outcome != Claims::Outcome::claimed) {
      require(claim.outcome == Claims::Outcome::lost || (sequence != 0 && held_.size() >= max_claims - 2),
              "claims run out when they are in use");
      require(!(is_there && has_room) || held_.contains(max_claims - 1), "a frame that is there can be claimed");
      return;
    }
    require(is_there, "what is not there cannot be claimed");
    require(claim.slot < max_claims && !held_.contains(claim.slot), "each claim has a slot of its own");
    require(claim.slot != max_claims - 1 || use_reserved, "the last slot is kept for those who ask for it");
    const Frame& frame = claim.frame;
    require(frame.sequence == sequence && frame.root == entry.root && frame.size == entry.size &&
                frame.newest_chunk == entry.newest_chunk && frame.pieces == entry.pieces &&
                frame.source_time == static_cast<std::int64_t>(entry.source_time.load()),
            "a claimed frame is what its entry said");
    held_[claim.slot] = sequence;
  }
  void release(std::size_t n) {
    if (held_.empty()) return;
    const auto one = std::next(held_.begin(), static_cast<std::ptrdiff_t>(n % held_.size()));
    claims_.release(one->first);
    held_.erase(one);
  }
  void advance(std::uint64_t sequence) {
    cursor_ = std::max(cursor_, sequence);
    claims_.advance_cursor(sequence);
  }
  void look(std::uint64_t sequence) {
    const RingEntry& entry = ring_.entries[sequence % ring_capacity];
    const bool is_there = entry.seq == sequence;
    require(claims_.is_still_there(sequence) == is_there, "a frame is there when its entry says so");
    require(claims_.source_time(sequence).has_value() == is_there, "a frame that is there has a time");
    require(claims_.has_pieces(sequence) == (!is_there || entry.pieces != pieces_unknown),
            "a reader waits for the pieces of no frame but this");
    newest_source_time(ring_);
    claims_.prefetch_next();
  }
  /// What the publisher sees of it.
  void check() {
    const AckView seen(*page_);
    std::vector<std::uint64_t> claimed, expected;
    seen.gather_claims(claimed);
    for (const auto& [slot, sequence] : held_) expected.push_back(sequence);
    require(claimed == expected, "the publisher sees what is claimed, and nothing else");
    require(seen.cursor() == cursor_, "the cursor never goes back");
    std::map<std::uint32_t, int> held;
    claims_.for_each_held([&](std::uint32_t slot) { ++held[slot]; });
    require(held.size() == held_.size(), "the reader itself knows how many it holds");
  }
  std::uint64_t head() const { return claims_.head(); }
  std::uint64_t cursor() const { return cursor_; }

 private:
  RingLayout& ring_;
  std::unique_ptr<AckPage> page_ = std::make_unique<AckPage>();
  std::unique_ptr<PairCounts> counts_ = std::make_unique<PairCounts>();
  Claims claims_;
  std::map<std::uint32_t, std::uint64_t> held_;  // by slot
  std::uint64_t cursor_ = 0;
};

void write_anything(Input& input, RingLayout& ring) {
  if (input.pick(4) == 0) {
    const std::array header{&ring.header.head, &ring.header.blocked, &ring.header.alive};
    header[input.pick(header.size())]->store(input.number());
    return;
  }
  RingEntry& entry = ring.entries[input.number() % ring_capacity];
  const std::array fields{&entry.seq, &entry.root, &entry.size, &entry.source_time, &entry.newest_chunk, &entry.flags, &entry.pieces};
  fields[input.pick(fields.size())]->store(input.number());
}

std::uint64_t sequence(Input& input, const Subscriber& reader) {
  switch (input.pick(4)) {
    case 0:
      return reader.head() - input.pick(256);
    case 1:
      return reader.cursor() + 1 + input.pick(256);
    default:
      return input.number();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const auto ring = std::make_unique<RingLayout>();
  ring->header.version = static_cast<std::uint32_t>(input.pick(3));
  ring->header.capacity = input.flip() ? ring_capacity : static_cast<std::uint32_t>(input.number());
  const bool is_ours = ring->header.version == layout_version && ring->header.capacity == ring_capacity;
  require(is_understood(*ring) == is_ours, "only rings of this version and size are understood");
  if (!is_ours) return 0;
  Subscriber reader(*ring);
  RingWriter writer(*ring);
  Ringer ringer(ring->header.blocked);
  while (!input.at_end()) {
    switch (input.pick(8)) {
      case 0:
        write_anything(input, *ring);
        break;
      case 1:
        for (std::size_t n = input.pick(256); n > 0; --n) writer.publish({.root = n, .size = n, .newest_chunk = 1});
        break;
      case 2:
        writer.retire(sequence(input, reader));
        break;
      case 3:
        for (std::size_t n = input.pick(256); n > 0; --n) reader.claim(reader.head() - n, false);
        break;
      case 4:
        reader.claim(sequence(input, reader), input.flip());
        break;
      case 5:
        for (std::size_t n = input.pick(128); n > 0; --n) reader.release(input.byte());
        break;
      case 6:
        reader.advance(sequence(input, reader));
        break;
      default:
        reader.look(sequence(input, reader));
        require(!(ringer.must_ring() && ringer.must_ring()), "an epoch is rung for once");
    }
    reader.check();
  }
  return 0;
}
