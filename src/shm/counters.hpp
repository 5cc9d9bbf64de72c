// What a node counts, in memory that tools read without asking anybody: who watches counts costs nothing to who is counted. Normative text: spec/shared-memory.md, "Counters".
//
// A file of counters belongs to a node, which alone writes it. It has a slot for each of its publishers, and one for each publisher that one of its subscribers reads from. All words are relaxed but the one that says whose
// a slot is: nothing is decided by them.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "shm/fence.hpp"
#include "shm/layout.hpp"

namespace sinew::shm {

/// What a slot is about.
enum class Counted : std::uint32_t {
  nothing = 0,    ///< it is free
  publisher = 1,  ///< `published`
  pair = 2,       ///< `taken`: what a subscriber has had from one publisher
};

struct PublisherCounts {
  // relaxed: nothing is decided by them
  alignas(64) Word64 messages;  ///< published
  Word64 bytes;                 ///< of them
  Word64 bytes_copied;          ///< while publishing
  Word64 bytes_exported;        ///< to readers of other users
  Word64 refused;               ///< messages that were not published: no memory, or a reliable subscriber held the publisher back
  Word64 withdrawn;             ///< messages taken back for want of memory while a subscriber could still want them
  Word64 newest;                ///< when the newest one was published, CLOCK_MONOTONIC nanoseconds; 0: none was
  Word64 reserved;
};

inline constexpr std::uint32_t latency_buckets = 48;

struct PairCounts {
  // pair SLOT: the zero of whoever had a claim slot before comes before the claim of whoever takes it next. relaxed: where one only counts them
  alignas(64)
      Word64 held[2];  ///< bit set: the claim slot of this number is taken (spec/shared-memory.md, "Claiming"), but for the reserved one
  // relaxed: nothing is decided by them
  Word64 messages;       ///< handed out
  Word64 bytes_copied;   ///< of them
  Word64 missed;         ///< messages that were lost to this reader
  Word64 latency_total;  ///< nanoseconds, of all that are in `latency`
  Word64 latency_at;     ///< when the last of them was published
  Word64 reserved;
  // relaxed: likewise
  alignas(64) Word64 skipped;  ///< not wanted: every n-th, or a rate
  Word64 withdrawn;            ///< of `missed`, those that the publisher took back
  Word64 expired;              ///< too old
  Word64 over_quota;           ///< copied since too much was held
  Word64 reserved_too[4];
  // relaxed: likewise
  alignas(64) Word32 latency[latency_buckets];  ///< how many messages took so long (bucket_of) from being published to being handed out
};

struct CounterSlot {
  // pair COUNTER_SLOT: who finds what a slot is about finds whose it is, and no count of whoever had it before. relaxed: the second look, behind a fence
  Word32 counted;  ///< a Counted
  std::uint32_t zero;
  // relaxed: stored before `counted`, and looked at behind it
  Word64 identity;   ///< of the publisher, or of the subscriber: the number that it has drawn by lot ([W81])
  Word64 publisher;  ///< of a pair: the publisher's
  Word64 reserved[5];
  PublisherCounts published;
  PairCounts taken;
};

struct CounterHeader {
  // pair COUNTERS_READY: who finds the version finds how many slots there are.
  Word32 version;  ///< layout_version, stored last by the creator
  std::uint32_t slots;
  std::uint64_t zero[7];
};

// --- whose a slot is -----------------------------------------------------------------------------------------------------------------

namespace detail {
template <class Word, class... Words>
void zero(Word& word, Words&... words) noexcept {
  word.store(0, std::memory_order_relaxed);  // relaxed: as below
  if constexpr (sizeof...(words) > 0) zero(words...);
}
}  // namespace detail

/// The slot is about this from now on, and all its counts are 0. REQUIRES: it is free.
inline void take(CounterSlot& slot, Counted what, std::uint64_t identity, std::uint64_t publisher) noexcept {
  PublisherCounts& published = slot.published;
  PairCounts& taken = slot.taken;
  fence(
      std::
          memory_order_release);  // sync: COUNTER_SLOT (with look): who finds one of the zeros does not find at its second look whose the slot was
  detail::zero(published.messages, published.bytes, published.bytes_copied, published.bytes_exported, published.refused,
               published.withdrawn, published.newest, taken.held[0], taken.held[1], taken.messages, taken.bytes_copied, taken.missed,
               taken.latency_total, taken.latency_at, taken.skipped, taken.withdrawn, taken.expired, taken.over_quota);
  for (Word32& bucket : taken.latency) detail::zero(bucket);
  slot.identity.store(identity, std::memory_order_relaxed);
  slot.publisher.store(publisher, std::memory_order_relaxed);
  slot.counted.store(static_cast<std::uint32_t>(what), std::memory_order_release);  // sync: COUNTER_SLOT (with look)
}

/// It is free.
inline void give_back(CounterSlot& slot) noexcept {
  slot.counted.store(static_cast<std::uint32_t>(Counted::nothing),
                     std::memory_order_relaxed);  // relaxed: before the fence of who takes it next
}

/// Calls use(what, identity, publisher) unless the slot is free, and then true if it is still the same one's, so that what was read of it meanwhile is that one's.
template <class Use>
bool look(const CounterSlot& slot, Use use) {
  const std::uint32_t counted = slot.counted.load(std::memory_order_acquire);  // sync: COUNTER_SLOT (with take)
  if (counted != static_cast<std::uint32_t>(Counted::publisher) && counted != static_cast<std::uint32_t>(Counted::pair)) return false;
  const std::uint64_t identity = slot.identity.load(std::memory_order_relaxed), publisher = slot.publisher.load(std::memory_order_relaxed);
  use(static_cast<Counted>(counted), identity, publisher);
  fence(std::memory_order_acquire);  // sync: COUNTER_SLOT (with take)
  return slot.counted.load(std::memory_order_relaxed) == counted && slot.identity.load(std::memory_order_relaxed) == identity &&
         slot.publisher.load(std::memory_order_relaxed) == publisher;
}

// --- latency -------------------------------------------------------------------------------------------------------------------------

/// Buckets are half octaves from 512 ns on: [512, 768), [768, 1024), [1024, 1536) ... The first also has what took less, the last, from 6.4 s on, what took longer.
inline constexpr std::uint32_t first_latency_octave = 9;

constexpr std::uint32_t bucket_of(std::uint64_t latency) noexcept {
  const std::uint64_t at_least = std::max(latency, std::uint64_t{1} << first_latency_octave);
  const auto octave = static_cast<std::uint32_t>(std::bit_width(at_least)) - 1;
  const std::uint32_t upper_half = at_least >> (octave - 1) & 1;
  return std::min(2 * (octave - first_latency_octave) + upper_half, latency_buckets - 1);
}

/// A message every so often is enough, since who wants to know when it was handed out has to ask for the time.
inline constexpr std::int64_t latency_interval = 1'000'000;

/// Whether a message that was published then is one whose latency counts. By one thread at a time, for each pair.
inline bool wants_latency(const PairCounts& counts, std::int64_t published) noexcept {
  // Unsigned: of what a stranger says there may be no difference.
  const std::uint64_t since = static_cast<std::uint64_t>(published) - counts.latency_at.load(std::memory_order_relaxed);
  return since >= static_cast<std::uint64_t>(latency_interval);
}

/// By one thread at a time.
inline void add(Word64& to, std::uint64_t more) noexcept {
  to.store(to.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);  // relaxed: as where it is declared
}

/// REQUIRES: wants_latency().
inline void count_latency(PairCounts& counts, std::int64_t published, std::int64_t now) noexcept {
  const auto latency = now > published ? static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(published) : 0;
  counts.latency_at.store(static_cast<std::uint64_t>(published), std::memory_order_relaxed);
  add(counts.latency_total, latency);
  Word32& bucket = counts.latency[bucket_of(latency)];
  bucket.store(bucket.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // relaxed: as where it is declared
}

static_assert(sizeof(CounterSlot) % 64 == 0 && sizeof(CounterHeader) == 64);

}  // namespace sinew::shm
