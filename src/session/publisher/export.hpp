// What readers of other users get of a publisher: copies of its messages as CDR streams, in memory where nothing else ever lies (F6).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "os/fd.hpp"
#include "session/mappings.hpp"
#include "session/publisher/ring_memory.hpp"
#include "shm/layout.hpp"
#include "shm/ring.hpp"

namespace sinew::session {

/// A ring of its own, and the newest shm::export_depth frames. Readers' claims do not count, so that no stranger keeps memory or holds anybody back: a reader that is too
/// slow finds after decoding that the frame is gone (spec/shared-memory.md, "Export").
///
/// Sequences are those of the publisher's ring. Not thread-safe: see each function.
class Export {
 public:
  /// A frame lies in slot sequence % export_depth; the slot's chunk is replaced when a larger message comes. `address` is a number that readers know the chunk by.
  struct Slot {
    std::uint64_t chunk = 0;  ///< id; 0: there is none yet
    std::uint64_t address = 0, size = 0;
    os::Fd memfd;
    SharedMapping mapping;
  };

  /// `budget`: bytes of chunks, at most; `most`: of one of them, likewise; `topic`: for the log. Throws Error(exhausted).
  Export(std::string topic, std::uint64_t budget, std::uint64_t most);

  const os::Fd& ring() const noexcept { return ring_.file(); }
  /// Under the publisher's mutex.
  const std::array<Slot, shm::export_depth>& slots() const noexcept { return slots_; }

  std::uint64_t head() const noexcept { return writer_.head(); }
  /// The next frame is the one after `sequence`, which is not before the head. Where that skips any, none that was there before can be had any more. REQUIRES: no reader is attached.
  void skip_to(std::uint64_t sequence) noexcept;
  /// As Publisher::show_alive().
  void show_alive(std::int64_t now) noexcept;
  /// Makes sure that the next frame's slot holds a stream of so many bytes, if it can be; else the frame will be one that cannot be had. What the system refuses is said in the log, once until it refuses no more. Under the publisher's mutex, where there are readers.
  void prepare(std::uint64_t stream) noexcept;
  /// What prepare() made sure of.
  bool has_room_for(std::uint64_t stream) const noexcept;
  /// Exports the next frame, which was prepared, and whose stream write() writes; how many bytes were copied. Not under the mutex: a big message takes a while.
  std::uint64_t publish(std::uint64_t stream, std::int64_t source_time, const std::function<void(std::byte* into)>& write) noexcept;

 private:
  Slot& next_slot() noexcept { return slots_[(writer_.head() + 1) % shm::export_depth]; }
  void replace(Slot& slot, std::uint64_t size);
  void log_shortage(const std::exception& error) noexcept;

  const std::string topic_;
  const std::uint64_t budget_, most_;
  RingMemory ring_;
  shm::RingWriter writer_;
  std::array<Slot, shm::export_depth> slots_;
  std::uint64_t last_chunk_ = 0, mapped_ = 0;
  bool is_short_ = false;
};

}  // namespace sinew::session
