// What lies in shared memory between the two processes of a pair: ring, ack page, bell page. Normative text: spec/shared-memory.md.
//
// One writer per word: the publisher writes the ring (and its chunks); each subscriber writes the ack page of its connection; each execution
// thread writes its bell page. Nobody else can: the memfds are sealed FUTURE_WRITE before they are handed out.
//
//   publisher --writes--> RingLayout  --read by--> subscribers, tools
//   publisher <--read by- AckPage     <-written by- one subscriber
//   publisher <--read by- BellWord    <-written by- one execution thread
//
// Every number of these structs is held by tests/layout_freeze.cpp: change one, and layout_version goes up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sinew::shm {

inline constexpr std::uint32_t layout_version = 1;

using Word32 = std::atomic<std::uint32_t>;
using Word64 = std::atomic<std::uint64_t>;

/// `seq` of an entry that holds no frame to claim: never published, or withdrawn.
inline constexpr std::uint64_t retired = 0;

/// One published frame. Fields other than seq are valid for a reader only between two looks at seq (spec/shared-memory.md, "Claiming").
struct alignas(64) RingEntry {
  Word64 seq;          ///< sequence of the frame, from 1; `retired` while it is being replaced or must not be claimed
  Word64 root;         ///< address of the message object in the publisher's window; 0: there is none, and the pieces are all of the message
  Word64 size;         ///< bytes of the message: the object and all its storage; without root, of the stream
  Word64 source_time;  ///< CLOCK_MONOTONIC nanoseconds at publish
  Word64 newest_chunk;  ///< id of the newest chunk when the frame was published: a reader that has not mapped it yet must wait
  Word64 flags;         ///< reserved, zero
  Word64
      pieces;  ///< address of the frame's PieceTable; pieces_unknown, or pieces_impossible. May be stored later than the other fields, once
  Word64 reserved;
};

inline constexpr std::uint64_t pieces_unknown = 0;     ///< not made, or not yet: no reader needed them when the frame was published
inline constexpr std::uint64_t pieces_impossible = 1;  ///< for want of memory, or because CDR cannot say the message

/// The frame as a CDR stream: its pieces, in their order, each in one chunk of the window. Written before its address is stored, and not changed then.
struct PieceTable {
  std::uint64_t count;
};
/// Behind the table, one after the other.
struct PieceEntry {
  std::uint64_t address, size;
};

inline constexpr std::uint32_t ring_capacity = 1024;  ///< entries; the deepest history a subscriber can ask for is half of it

/// Readers of another user can take the newest so many frames: there are no more in what is exported to them.
inline constexpr std::uint32_t export_depth = 8;

struct RingHeader {
  Word32 version;  ///< layout_version, stored last (release) by the creator
  std::uint32_t capacity;
  alignas(64) Word64 head;  ///< sequence of the newest frame, 0 before the first (release)
  alignas(64) Word64
      blocked;  ///< epoch, odd while the publisher waits for space (seq_cst); a reader that moves its cursor then rings the Space eventfd once per epoch
  // relaxed: a time by itself
  alignas(
      64) Word64 alive;  ///< CLOCK_MONOTONIC nanoseconds: when the publisher last showed itself alive beside its messages; 0: it never did
  Word64 reserved[7];
};

struct RingLayout {
  RingHeader header;
  alignas(64) RingEntry entries[ring_capacity];
};

inline constexpr std::uint32_t max_claims = 120;

/// A subscriber's page towards one publisher. The cursor and the first claims share a cache line: a reader that holds few messages hands one line to and fro, not two.
struct alignas(64) AckPage {
  Word32 version;               ///< layout_version, stored last (release) by the creator
  Word32 claims_used;           ///< slots of `claims` that were ever used; stored (seq_cst) before the slot is (high-water mark, S14)
  Word64 cursor;                ///< the newest sequence this reader has decided about: it will claim none up to it (seq_cst)
  Word64 claims[max_claims];    ///< sequence of a claimed frame, or 0 (seq_cst, zero: release)
  alignas(64) Word64 received;  ///< counters for the publisher to tell; relaxed: nothing is decided by them
  Word64 missed;                ///< relaxed: likewise
  Word64 reserved[6];
};

/// A word per execution thread: epoch, odd while the thread sleeps or is about to (seq_cst).
struct alignas(64) BellWord {
  Word64 epoch;
};

static_assert(Word64::is_always_lock_free && sizeof(Word64) == 8 && Word32::is_always_lock_free && sizeof(Word32) == 4);

}  // namespace sinew::shm
