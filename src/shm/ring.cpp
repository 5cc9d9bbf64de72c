#include "shm/ring.hpp"

#include <algorithm>
#include <bit>

#include "base/point.hpp"
#include "shm/fence.hpp"

namespace sinew::shm {

namespace {

const RingEntry& entry_of(const RingLayout& ring, std::uint64_t sequence) noexcept {
  return ring.entries[sequence % ring_capacity];
}
RingEntry& entry_of(RingLayout& ring, std::uint64_t sequence) noexcept {
  return ring.entries[sequence % ring_capacity];
}

}  // namespace

void initialise(RingLayout& ring) noexcept {
  ring.header.capacity = ring_capacity;
  ring.header.version.store(layout_version, std::memory_order_release);  // sync: RING_READY (with is_understood)
}

bool is_understood(const RingLayout& ring) noexcept {
  return ring.header.version.load(std::memory_order_acquire) == layout_version  // sync: RING_READY (with initialise)
         && ring.header.capacity == ring_capacity;
}

std::int64_t newest_source_time(const RingLayout& ring) noexcept {
  const RingEntry& entry = entry_of(ring, ring.header.head.load(std::memory_order_acquire));  // sync: HEAD (with RingWriter::publish)
  // No look at its sequence: while it is being replaced, what is read is the time of a newer frame.
  return static_cast<std::int64_t>(entry.source_time.load(std::memory_order_acquire));  // sync: FIELDS (with RingWriter::fill)
}

void initialise(AckPage& page) noexcept {
  page.version.store(layout_version, std::memory_order_release);  // sync: ACK_READY (with is_understood)
}

bool is_understood(const AckPage& page) noexcept {
  return page.version.load(std::memory_order_acquire) == layout_version;  // sync: ACK_READY (with initialise)
}

// --- the publisher's side ------------------------------------------------------------------------------------------------------------

std::uint64_t RingWriter::publish(const Frame& frame) noexcept {
  const std::uint64_t sequence = head() + 1;
  // The caller has retired it already, or the Dekker pair RETIRE would not hold; once more costs one load and keeps the entry whole for a caller that forgot.
  if (sequence > ring_capacity) retire(sequence - ring_capacity);
  fill(sequence, frame);
  SINEW_POINT("ring.published");
  ring_->header.head.store(sequence, std::memory_order_seq_cst);  // sync: HEAD (with Claims::head)
  SINEW_POINT("ring.head");
  return sequence;
}

void RingWriter::fill(std::uint64_t sequence, const Frame& frame) noexcept {
  RingEntry& entry = entry_of(*ring_, sequence);
  // Release on each field, since there is no fence here: a reader that has seen one of the new values cannot find the old sequence at its second look.
  // sync: FIELDS (with Claims::claim_frame)
  entry.root.store(frame.root, std::memory_order_release);
  entry.size.store(frame.size, std::memory_order_release);
  entry.source_time.store(static_cast<std::uint64_t>(frame.source_time), std::memory_order_release);
  entry.newest_chunk.store(frame.newest_chunk, std::memory_order_release);
  entry.pieces.store(frame.pieces, std::memory_order_release);
  SINEW_POINT("ring.fields");
  entry.seq.store(sequence, std::memory_order_release);  // sync: PUBLISH (with Claims::claim_frame)
}

void RingWriter::retire(std::uint64_t sequence) noexcept {
  RingEntry& entry = entry_of(*ring_, sequence);
  if (entry.seq.load(std::memory_order_relaxed) != sequence) return;  // relaxed: only this side writes it
  entry.seq.store(retired, std::memory_order_seq_cst);                // sync: RETIRE (with Claims::claim_frame)
  SINEW_POINT("ring.retired");
}

void RingWriter::add_pieces(std::uint64_t sequence, std::uint64_t pieces) noexcept {
  entry_of(*ring_, sequence).pieces.store(pieces, std::memory_order_seq_cst);  // sync: PIECES (with Claims::has_pieces)
}

void RingWriter::skip_to(std::uint64_t sequence) noexcept {
  ring_->header.head.store(sequence, std::memory_order_release);  // sync: HEAD (with newest_source_time)
}

std::uint64_t RingWriter::head() const noexcept {
  return ring_->header.head.load(std::memory_order_relaxed);  // relaxed: only this side writes it
}

// --- the subscriber's side -----------------------------------------------------------------------------------------------------------

// The lowest free slot, so that the publisher has few to look at.
std::optional<std::uint32_t> Claims::take_slot(bool use_reserved) noexcept {
  for (std::uint32_t word = 0; word < 2; ++word) {
    // Only one thread at a time takes slots: a bit that is not set here stays so until this thread sets it.
    const std::uint64_t free = all_slots[word] & ~counts_->held[word].load(std::memory_order_acquire);  // sync: SLOT (with release)
    if (free == 0) continue;
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(free));
    // relaxed: the thread that gives slots back reads none
    counts_->held[word].fetch_or(std::uint64_t{1} << bit, std::memory_order_relaxed);
    return word * bits_per_word + bit;
  }
  if (use_reserved && !reserved_taken_.exchange(true, std::memory_order_acquire))
    return reserved_slot;  // sync: RESERVED_SLOT (with release)
  return std::nullopt;
}

Claims::Claim Claims::claim_frame(std::uint64_t sequence, bool use_reserved) noexcept {
  if (sequence == retired) return {};
  const std::optional<std::uint32_t> slot = take_slot(use_reserved);
  if (!slot) return {.outcome = Outcome::exhausted, .slot = 0, .frame = {}};

  if (page_->claims_used.load(std::memory_order_relaxed) <= *slot) {  // relaxed: only this side writes it
    page_->claims_used.store(*slot + 1, std::memory_order_seq_cst);   // sync: CLAIM (with AckView::for_each_claim)
  }
  page_->claims[*slot].store(sequence, std::memory_order_seq_cst);  // sync: CLAIM (with AckView::for_each_claim)
  SINEW_POINT("claim.stored");

  const RingEntry& entry = entry_of(*ring_, sequence);
  Claim claim;
  claim.slot = *slot;
  claim.frame.sequence = sequence;
  if (entry.seq.load(std::memory_order_seq_cst) == sequence) {  // sync: PUBLISH (with RingWriter::fill), RETIRE (with RingWriter::retire)
    SINEW_POINT("claim.first_look");
    // sync: FIELDS (with RingWriter::fill)
    claim.frame.root = entry.root.load(std::memory_order_acquire);
    claim.frame.size = entry.size.load(std::memory_order_acquire);
    claim.frame.source_time = static_cast<std::int64_t>(entry.source_time.load(std::memory_order_acquire));
    claim.frame.newest_chunk = entry.newest_chunk.load(std::memory_order_acquire);
    // sync: FIELDS (with RingWriter::fill), PIECES (with RingWriter::add_pieces)
    claim.frame.pieces = entry.pieces.load(std::memory_order_acquire);
    __builtin_prefetch(reinterpret_cast<const void*>(claim.frame.root));  // its reader will look at it soon; harmless whatever it is
    SINEW_POINT("claim.copied");
    if (entry.seq.load(std::memory_order_seq_cst) == sequence) {  // sync: RETIRE (with RingWriter::retire)
      SINEW_POINT("claim.second_look");
      claim.outcome = Outcome::claimed;
      return claim;
    }
  }
  release(*slot);
  return claim;
}

void Claims::release(std::uint32_t slot) noexcept {
  page_->claims[slot].store(0, std::memory_order_release);  // sync: UNCLAIM (with AckView::for_each_claim)
  // After the zero: whoever takes the slot next must not have its claim overwritten by it.
  if (slot == reserved_slot) {
    reserved_taken_.store(false, std::memory_order_release);  // sync: RESERVED_SLOT (with take_slot)
  } else {
    const std::uint64_t bit = std::uint64_t{1} << slot % bits_per_word;
    counts_->held[slot / bits_per_word].fetch_and(~bit, std::memory_order_release);  // sync: SLOT (with take_slot)
  }
}

void Claims::advance_cursor(std::uint64_t sequence) noexcept {
  if (sequence <= cursor()) return;
  page_->cursor.store(sequence, std::memory_order_seq_cst);  // sync: CURSOR (with AckView::cursor)
  SINEW_POINT("claim.cursor");
}

std::optional<std::int64_t> Claims::source_time(std::uint64_t sequence) const noexcept {
  const RingEntry& entry = entry_of(*ring_, sequence);
  if (entry.seq.load(std::memory_order_acquire) != sequence) return std::nullopt;                  // sync: PUBLISH (with RingWriter::fill)
  const auto time = static_cast<std::int64_t>(entry.source_time.load(std::memory_order_acquire));  // sync: FIELDS (with RingWriter::fill)
  if (entry.seq.load(std::memory_order_relaxed) != sequence) return std::nullopt;  // relaxed: behind the acquire of the time
  return time;
}

std::uint64_t Claims::cursor() const noexcept {
  return page_->cursor.load(std::memory_order_relaxed);  // relaxed: only this side writes it
}

std::uint64_t Claims::head() const noexcept {
  return ring_->header.head.load(std::memory_order_seq_cst);  // sync: HEAD (with RingWriter::publish)
}

bool Claims::is_still_there(std::uint64_t sequence) const noexcept {
  fence(std::memory_order_acquire);                                                   // sync: EXPORT (with Export::publish)
  return entry_of(*ring_, sequence).seq.load(std::memory_order_relaxed) == sequence;  // relaxed: behind the fence
}

bool Claims::has_pieces(std::uint64_t sequence) const noexcept {
  const RingEntry& entry = entry_of(*ring_, sequence);
  // sync: PIECES (with RingWriter::add_pieces), RETIRE (with RingWriter::retire)
  return entry.pieces.load(std::memory_order_seq_cst) != pieces_unknown || entry.seq.load(std::memory_order_seq_cst) != sequence;
}

void Claims::prefetch_next() const noexcept {
  __builtin_prefetch(&ring_->header.head);
  __builtin_prefetch(&entry_of(*ring_, cursor() + 1));
  __builtin_prefetch(page_, 1);
}

// --- what the publisher sees of a reader ---------------------------------------------------------------------------------------------

std::uint64_t AckView::cursor() const noexcept {
  return page_->cursor.load(std::memory_order_seq_cst);  // sync: CURSOR (with Claims::advance_cursor)
}

template <class Visit>
void AckView::for_each_claim(Visit visit) const {
  const std::uint32_t used =
      std::min(page_->claims_used.load(std::memory_order_seq_cst), max_claims);  // sync: CLAIM (with Claims::claim_frame)
  for (std::uint32_t slot = 0; slot < used; ++slot) {
    const std::uint64_t sequence =
        page_->claims[slot].load(std::memory_order_seq_cst);  // sync: CLAIM (with Claims::claim_frame), UNCLAIM (with Claims::release)
    if (sequence != 0) visit(sequence);
  }
}

void AckView::gather_claims(std::vector<std::uint64_t>& into) const {
  for_each_claim([&](std::uint64_t sequence) { into.push_back(sequence); });
}

// The kernel, which closed the reader's socket, orders that as well; in the language only the zeros do (pair UNCLAIM).
void AckView::part() const noexcept {
  for_each_claim([](std::uint64_t) {});
}

}  // namespace sinew::shm
