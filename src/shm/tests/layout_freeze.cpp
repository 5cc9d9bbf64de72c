// The layouts of shared memory, frozen: no test code, compiling it is the check. Change a number only together with layout_version.
#include <cstddef>
#include <type_traits>

#include "shm/counters.hpp"
#include "shm/layout.hpp"

namespace sinew::shm {

static_assert(layout_version == 1 && ring_capacity == 1024 && max_claims == 120 && retired == 0);

static_assert(sizeof(RingEntry) == 64 && alignof(RingEntry) == 64);
static_assert(offsetof(RingEntry, seq) == 0 && offsetof(RingEntry, root) == 8 && offsetof(RingEntry, size) == 16);
static_assert(offsetof(RingEntry, source_time) == 24 && offsetof(RingEntry, newest_chunk) == 32 && offsetof(RingEntry, flags) == 40);
static_assert(offsetof(RingEntry, pieces) == 48 && offsetof(RingEntry, reserved) == 56);
static_assert(sizeof(PieceTable) == 8 && sizeof(PieceEntry) == 16 && offsetof(PieceEntry, size) == 8);

static_assert(sizeof(RingHeader) == 256 && alignof(RingHeader) == 64);
static_assert(offsetof(RingHeader, version) == 0 && offsetof(RingHeader, capacity) == 4);
static_assert(offsetof(RingHeader, head) == 64 && offsetof(RingHeader, blocked) == 128);
static_assert(offsetof(RingHeader, alive) == 192 && offsetof(RingHeader, reserved) == 200);

static_assert(sizeof(RingLayout) == 256 + 64 * 1024 && offsetof(RingLayout, header) == 0 && offsetof(RingLayout, entries) == 256);

static_assert(sizeof(AckPage) == 1088 && alignof(AckPage) == 64);
static_assert(offsetof(AckPage, version) == 0 && offsetof(AckPage, claims_used) == 4 && offsetof(AckPage, cursor) == 8);
static_assert(offsetof(AckPage, claims) == 16);
static_assert(offsetof(AckPage, received) == 1024 && offsetof(AckPage, missed) == 1032 && offsetof(AckPage, reserved) == 1040);

static_assert(sizeof(CounterHeader) == 64 && offsetof(CounterHeader, version) == 0 && offsetof(CounterHeader, slots) == 4);
static_assert(sizeof(CounterSlot) == 448 && alignof(CounterSlot) == 64);
static_assert(offsetof(CounterSlot, counted) == 0 && offsetof(CounterSlot, identity) == 8 && offsetof(CounterSlot, publisher) == 16);
static_assert(offsetof(CounterSlot, reserved) == 24 && offsetof(CounterSlot, published) == 64 && offsetof(CounterSlot, taken) == 128);
static_assert(static_cast<int>(Counted::nothing) == 0 && static_cast<int>(Counted::publisher) == 1 && static_cast<int>(Counted::pair) == 2);
static_assert(offsetof(PublisherCounts, messages) == 0 && offsetof(PublisherCounts, bytes) == 8 &&
              offsetof(PublisherCounts, bytes_copied) == 16);
static_assert(offsetof(PublisherCounts, bytes_exported) == 24 && offsetof(PublisherCounts, refused) == 32);
static_assert(offsetof(PublisherCounts, withdrawn) == 40 && offsetof(PublisherCounts, newest) == 48 && sizeof(PublisherCounts) == 64);
static_assert(offsetof(PairCounts, held) == 0 && offsetof(PairCounts, messages) == 16 && offsetof(PairCounts, bytes_copied) == 24);
static_assert(offsetof(PairCounts, missed) == 32 && offsetof(PairCounts, latency_total) == 40 && offsetof(PairCounts, latency_at) == 48);
static_assert(offsetof(PairCounts, skipped) == 64 && offsetof(PairCounts, withdrawn) == 72 && offsetof(PairCounts, expired) == 80);
static_assert(offsetof(PairCounts, over_quota) == 88 && offsetof(PairCounts, latency) == 128 && sizeof(PairCounts) == 320);
static_assert(latency_buckets == 48 && first_latency_octave == 9);

static_assert(sizeof(BellWord) == 64 && alignof(BellWord) == 64 && offsetof(BellWord, epoch) == 0);

static_assert(std::is_standard_layout_v<RingLayout> && std::is_standard_layout_v<AckPage> && std::is_standard_layout_v<BellWord>);
static_assert(std::is_trivially_destructible_v<RingLayout> && std::is_trivially_destructible_v<AckPage>);
static_assert(Word64::is_always_lock_free && Word32::is_always_lock_free && sizeof(Word64) == 8 && sizeof(Word32) == 4);

}  // namespace sinew::shm
