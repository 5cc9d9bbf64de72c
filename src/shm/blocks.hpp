// Dividing areas of addresses into blocks. It only counts: not one byte of an area is read or written here, and all bookkeeping is private memory.
//
//   area   |span: 1 to 16 pages of blocks of one size|taken run|idle run       |span ...            |idle|
//   page    0                                      15 16     19 20           31 32
//
// Blocks up to 32 KiB share spans, larger ones get a run of whole pages. A span has as many pages as 16 blocks need, at most 16: one block that stays must
// not keep much from the other sizes. What was freed last is given out first, for it is still in the caches. Idle neighbours are
// therefore joined only when no idle run has exactly the size that is asked for.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>

#include "shm/size_class.hpp"

namespace sinew::shm {

/// Not thread-safe: the window's mutex guards it.
class Blocks {
  struct Run;
  struct FreeTable {
    void operator()(Run** table) const noexcept { std::free(static_cast<void*>(table)); }
  };

 public:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t largest_span = 16 * page;

  /// Addresses to take blocks from. Belongs to the caller, who keeps it in place between add() and remove().
  struct Area {
    Area(std::uintptr_t begin, std::size_t bytes) noexcept : address(begin), size(bytes) {}

    const std::uintptr_t address;  ///< a multiple of the page
    const std::size_t size;        ///< likewise
    std::uint64_t live = 0;        ///< blocks given out and neither freed nor abandoned

   private:
    friend class Blocks;
    std::unique_ptr<Run*[], FreeTable> runs_;  // by page: the run, at its first and last page; for spans at every page; else null
  };

  Blocks() = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  /// Throws std::bad_alloc, with nothing changed.
  void add(Area& area);
  /// Forgets the area with whatever is in it.
  void remove(Area& area) noexcept;

  /// The address of a block of at least `size` bytes, aligned to 16, to 64 from 4096 bytes on, and to `alignment` (a power of two). 0 when no area has
  /// room: bytes_needed() says how large a new one must be. Throws std::bad_alloc, with nothing given out.
  std::uintptr_t allocate(std::size_t size, std::size_t alignment);
  static std::size_t bytes_needed(std::size_t size, std::size_t alignment) noexcept;

  /// Takes a block back. False, with nothing changed, when no live block begins there. Allocates nothing.
  bool free(Area& area, std::uintptr_t address) noexcept;
  /// Gives a block up for ever: it counts as freed and its addresses are never given out again.
  bool abandon(Area& area, std::uintptr_t address) noexcept;

  std::uint64_t live() const noexcept { return live_; }
  std::size_t bytes() const noexcept { return bytes_; }  ///< of all live blocks, with what rounding added

 private:
  // Best fit, among equals the one freed last, then the lowest address.
  struct IdleKey {
    std::size_t pages;
    std::uint64_t age;
    std::uintptr_t address;
    friend auto operator<=>(const IdleKey&, const IdleKey&) = default;
  };
  using Idle = std::map<IdleKey, Run*>;

  /// A block, by its run and, in a span, its number there.
  struct Live {
    Run* run = nullptr;
    std::uint16_t block = 0;
  };
  struct RunList {
    Run* front = nullptr;
    void push_front(Run& run) noexcept;
    void remove(Run& run) noexcept;
  };

  static IdleKey key_of(const Run& run) noexcept;
  static Run* make_run(Area& area, std::size_t first, std::size_t pages);
  static void mark_ends(Run& run, Run* as) noexcept;
  void list(Run& run) noexcept;
  void unlist(Run& run) noexcept;
  Run* cut(Run& run, std::size_t pages);
  Run* join(Run& left, Run& right) noexcept;
  void join_pending() noexcept;
  bool give_up_empty_spans() noexcept;
  Run* find(std::size_t pages) noexcept;
  Run* take(std::size_t pages, std::size_t alignment);
  void put_back(Run& run) noexcept;
  void open_span(std::uint32_t size_class);
  void close_span(Run& span) noexcept;
  static Live live_at(Area& area, std::uintptr_t address) noexcept;
  void forget(const Run& run) noexcept;

  Idle idle_;
  RunList pending_;                         // idle runs whose neighbours were not looked at yet
  std::array<RunList, size_classes> open_;  // spans with a free block; the one freed into last stands first
  std::array<Run*, size_classes>
      empty_{};  // the one span of each size that is kept though empty, so that a loop of new and delete does not open and close it
  std::uint64_t clock_ = 0;  // counts frees
  std::uint64_t live_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace sinew::shm
