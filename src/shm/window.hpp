// A publisher's window: chunks of shared memory and the allocator of message storage in them.
//
// Blocks are freed one by one, from any thread; a block that a user moved out of a message keeps its chunk mapped (F5). The allocator's own
// bookkeeping is private memory: nothing that readers see is needed to free a block, and freeing writes nothing into the block.
// The block freed last of a size is given out first, since it is still in the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "os/memory.hpp"

namespace sinew::shm {

/// One memfd mapped read-write by its owner at its final address, sealed for readers.
struct Chunk {
  std::uint64_t id = 0;  ///< ascending from 1 within a window, never used again
  std::uintptr_t address = 0;
  std::size_t size = 0;
  os::Fd memfd;  ///< kept open for readers that come later
  std::shared_ptr<const os::Mapping>
      mapping;  ///< at `address`, writable; shared with readers in this process, which cannot map it there a second time
};

class Window : public std::enable_shared_from_this<Window> {
 public:
  /// Base and size of a window are multiples of this: owner_of() finds windows by it.
  static constexpr std::size_t granule = std::size_t{1} << 30;

  struct Limits {
    std::size_t budget = 0;  ///< bytes of chunks, at most; and as many of dropped ones that readers have yet to unmap
    bool lock = false;       ///< chunks are locked into memory; one that cannot be is not made
    std::function<std::uint64_t()> available = os::available_memory;  ///< admission: asked before every new chunk (S4)
  };
  /// Why allocate() found no room.
  struct Refusal {
    std::size_t unreleased = 0;  ///< Usage::unreleased, when that is too much for another chunk; else 0
    bool may_fit = true;  ///< when enough blocks are freed; not where there can be no other chunk, and no one that there is could hold it
  };
  /// Told of every new chunk, before a block of it is given out, and of every chunk that holds no block any more and was dropped from the allocator.
  /// Called under the window's mutex from whatever thread allocates or frees: it must only take note.
  struct Observer {
    /// When it throws, the chunk is not made.
    virtual void chunk_added(const Chunk& chunk) = 0;
    /// It is mapped here no more, but by readers in this process. The address range is not used again before reuse_address(id). Must not throw: make room for this note when the chunk is added.
    virtual void chunk_dropped(std::uint64_t id) = 0;
    /// Unlike the others without the mutex, by a thread whose allocate() found no room: frees blocks if it can, and where readers have too much mapped of what was dropped, sees to it that they know. True: there may be room now.
    virtual bool make_room(const Refusal& /*refusal*/) noexcept { return false; }
    virtual ~Observer() = default;
  };

  /// Registers the window process-wide, so that owner_of() finds it. Maps nothing yet. `observer` (may be null) must outlive close() and every allocate().
  /// When the last shared_ptr goes, the window is closed as by close({}); it stays registered and its chunks mapped while blocks in them live (F5).
  /// Its addresses are free for another window of this process when owner_of(base) is null.
  /// Throws Error(invalid_argument) when base or size is no multiple of the granule, or another window of this process lies there.
  static std::shared_ptr<Window> create(std::uintptr_t base, std::size_t size, Limits limits, Observer* observer);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// A block of at least `size` bytes, aligned to at least 16, to 64 when size >= 4096, and to `alignment` (a power of two); contents undefined. Null when the
  /// budget, the window or the machine's memory forbids and the observer could not make room, or the window is closed (why_refused() has the sentence).
  /// Thread-safe. Makes system calls only when a new chunk is needed.
  void* allocate(std::size_t size, std::size_t alignment) noexcept;
  /// The same without asking the observer to make room.
  void* try_to_allocate(std::size_t size, std::size_t alignment) noexcept;
  /// Maps a chunk of at least `size` bytes that stays, empty or not, until close(): so that up to so much needs no system call later. False when it is
  /// refused (why_refused() has the sentence). Thread-safe.
  bool reserve(std::size_t size) noexcept;
  /// Thread-safe, also after close(). REQUIRES: `block` came from allocate() of this window and is not free. An address where no live block begins is ignored.
  /// A chunk that became empty stays mapped until trim(), or until the budget or the machine has no memory for another.
  void free(void* block) noexcept;
  /// The block stays as it is, whoever frees or abandons it, and whatever becomes of publisher and window, until the last copy of what is returned is gone: for who may look at it as long. Until then it counts as live.
  /// Thread-safe. Null in a child of fork(). Throws std::bad_alloc. REQUIRES: as free(), and that shared_ptrs own the window.
  std::shared_ptr<const void> keep(void* block);
  /// The same as free() for many blocks at once, which takes the window's mutex seldom: it may be held as long as this object lives. Blocks of other windows are ignored.
  class Freeing {
   public:
    explicit Freeing(Window& window) noexcept;
    ~Freeing();
    Freeing(const Freeing&) = delete;
    Freeing& operator=(const Freeing&) = delete;
    void free(void* block) noexcept;

   private:
    Window& window_;
    std::unique_lock<std::mutex> lock_;
    std::uint32_t freed_ = 0;
    bool is_dead_ = false;
  };
  /// Looks for chunks that were empty at the last call already, and were not used since, which may go, but for the largest of the empty ones; trim_next() unmaps them. False when the next call will find none, unless a chunk
  /// is mapped meanwhile. To be called in intervals that are longer than readers are late at times: mapping a chunk takes longer than many a message, and makes late readers later still. Thread-safe.
  bool look_for_idle() noexcept;
  /// Unmaps one of those that may go; nothing while readers have yet to unmap what was dropped before: what a reader that is stopped has mapped stays in memory, and an empty chunk that is
  /// kept serves the next message. True when it did. Others may allocate and free meanwhile. Thread-safe.
  bool trim_next() noexcept;
  /// Why allocate() gave null the last time: a complete sentence for a person; empty where the process had no memory for one. Thread-safe.
  std::string why_refused() const;

  /// True when [address, address + size) lies in one chunk of this window that is mapped now. Thread-safe, wait-free: two loads.
  bool contains(const void* address, std::size_t size) const noexcept;
  struct Range {
    std::uintptr_t begin = 0, end = 0;
  };
  /// The addresses of the chunk of this window in which `address` lies; empty when it lies in none. Thread-safe, wait-free: three loads. REQUIRES: a live block lies there, or
  /// nobody unmaps a chunk meanwhile.
  Range chunk_around(const void* address) const noexcept;
  /// Calls `visit` for every chunk in use, oldest first, under the window's mutex.
  void for_each_chunk(const std::function<void(const Chunk&)>& visit) const;

  /// Every reader has unmapped the dropped chunk: its memory is free, and its addresses may be given to a new chunk.
  void reuse_address(std::uint64_t chunk_id) noexcept;

  /// The publisher is gone. Thread-safe; the second call does nothing. Blocks listed in `abandoned` (of frames that readers still claim; addresses that are
  /// none are skipped) are never written, freed or reused (F2); chunks without other live blocks are unmapped now, the others when their last block is freed
  /// (F5). The observer is not called any more. allocate() gives null from now on.
  /// `when_dead`, if given, is called once, when the last chunk is dropped: before close() returns, or later by the thread that frees the last block.
  void close(const std::vector<const void*>& abandoned, std::function<void()> when_dead = nullptr) noexcept;

  struct Usage {
    std::size_t mapped = 0;      ///< bytes of chunks
    std::size_t in_use = 0;      ///< bytes of live blocks, with what rounding added
    std::uint64_t blocks = 0;    ///< live blocks
    std::size_t unreleased = 0;  ///< bytes of dropped chunks that readers may still have mapped
  };
  Usage usage() const noexcept;

  /// The window of this process that contains the address, or null. A lock-free look-up; the result lives as long as any of its chunks is mapped.
  static Window* owner_of(const void* address) noexcept;

 private:
  Window(std::uintptr_t base, std::size_t size, Limits limits, Observer* observer);
  ~Window();  // by whoever sees it without a publisher, closed and without chunks
  void let_go() noexcept;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sinew::shm
