// Plain shared memory of one publisher: eight slots, a head, and a cursor for each subscriber.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared_memory.hpp"

namespace sinew::bench {

/// Made before the processes are forked, and shared by them. Nobody else ever sees the memory: it has no name.
class SharedSlots {
 public:
  static constexpr std::uint64_t slots = 8;

  /// Throws std::system_error when there is not enough memory.
  SharedSlots(std::size_t payload, unsigned readers);

  /// How many messages were written; the writer stores it with release.
  std::atomic<std::uint64_t>& head() const { return *word(0); }
  /// How many messages this reader has read.
  std::atomic<std::uint64_t>& cursor(unsigned reader) const { return *word(1 + reader); }
  /// True when message number `message` (from 0) may be written: all readers are done with the one in its slot.
  bool free_for(std::uint64_t message) const;
  std::int64_t& stamp(std::uint64_t message) const;
  std::span<std::uint8_t> payload(std::uint64_t message) const;

  /// Makes this process's page tables of it, so that no page fault falls into the measurement.
  void touch(bool writing) const;

 private:
  std::atomic<std::uint64_t>* word(std::size_t index) const;
  std::byte* slot(std::uint64_t message) const;

  std::size_t payload_;
  unsigned readers_;
  std::size_t words_, stride_, size_;
  SharedMemory memory_;
};

}  // namespace sinew::bench
