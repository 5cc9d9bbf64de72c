// Long because: all of it is one state under one mutex.
#include "shm/window.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "base/point.hpp"
#include "shm/blocks.hpp"
#include "shm/chunk_size.hpp"
#include "shm/kept_blocks.hpp"
#include "shm/scope.hpp"
#include "shm/window_table.hpp"
#include "sinew/error.hpp"

namespace sinew::shm {

namespace {

constexpr std::size_t most_chunks = 4096;  // per window; few by how they grow, but for small chunks taken one by one in a full machine
constexpr std::uint32_t frees_per_holding = 256;  // of the mutex, by who frees many blocks

struct Free {
  void operator()(void* block) const noexcept { std::free(block); }
};

}  // namespace

struct Window::Impl {
  // By id of a dropped chunk: the addresses that readers may still map (F3).
  using Unreleased = std::map<std::uint64_t, std::pair<std::uintptr_t, std::size_t>>;

  struct Mapped {
    Chunk chunk;
    Blocks::Area area;
    bool reserved = false;             // stays when it is empty
    unsigned idle_looks = 0;           // up to two, of look_for_idle(), that found it empty, and not used since the one before
    Unreleased::node_type to_release;  // made with the chunk, since dropping one must not fail

    Mapped(std::uintptr_t address, std::size_t bytes) noexcept : area(address, bytes) {}
    bool is_idle() const noexcept { return area.live == 0 && !reserved; }
    bool may_go() const noexcept { return is_idle() && idle_looks == 2; }
  };

  // Constant after construction.
  const std::uintptr_t base;
  const std::size_t size;
  const Limits limits;

  // Written under the mutex, read without: the addresses of each of `chunks`, written before its units.
  // From calloc, and one block with the units, which is large enough to become memory only where there are chunks.
  // pair UNIT: who finds a chunk's number in a unit finds its addresses in `ranges`.
  std::unique_ptr<Range[], Free> ranges;
  std::uint16_t* units = nullptr;  // likewise: the index + 1 in `chunks` of the chunk that covers each unit of the window, or 0

  // Guarded by the mutex.
  mutable std::mutex mutex;
  Observer* observer;
  Blocks blocks;
  KeptBlocks kept;
  std::vector<std::unique_ptr<Mapped>> chunks;  // null where one was dropped
  std::uint64_t newest = 0;                     // the id of the newest chunk
  std::size_t mapped = 0;
  std::size_t most_mapped = 0;                      // ever
  std::map<std::uintptr_t, std::size_t> addresses;  // ranges of the window that no reader maps
  Unreleased unreleased;
  std::size_t unreleased_bytes = 0;
  std::string refusal;
  bool awaits_readers = false;  // the last refusal was for what they have yet to unmap
  bool closed = false;
  bool has_publisher = true;
  std::function<void()> when_dead;

  Impl(std::uintptr_t window_base, std::size_t window_size, Limits window_limits, Observer* window_observer)
      : base(window_base), size(window_size), limits(std::move(window_limits)), observer(window_observer) {
    ranges.reset(static_cast<Range*>(std::calloc(1, most_chunks * sizeof(Range) + size / chunk_unit * sizeof(std::uint16_t))));
    if (!ranges) throw std::bad_alloc();
    units = reinterpret_cast<std::uint16_t*>(ranges.get() + most_chunks);
    addresses.emplace(base, size);
  }

  std::uint16_t unit(std::uintptr_t address) const noexcept {
    if (address < base || address - base >= size) return 0;
    return std::atomic_ref(units[(address - base) / chunk_unit]).load(std::memory_order_acquire);  // sync: UNIT (with mark_units)
  }

  void mark_units(const Chunk& chunk, std::size_t value) noexcept {
    if (value != 0) {
      // relaxed: the units say that they are there
      std::atomic_ref(ranges[value - 1].begin).store(chunk.address, std::memory_order_relaxed);
      std::atomic_ref(ranges[value - 1].end).store(chunk.address + chunk.size, std::memory_order_relaxed);
    }
    for (std::size_t i = (chunk.address - base) / chunk_unit, end = i + chunk.size / chunk_unit; i < end; ++i) {
      std::atomic_ref(units[i]).store(static_cast<std::uint16_t>(value), std::memory_order_release);  // sync: UNIT (with unit)
    }
  }

  Mapped* chunk_at(std::uintptr_t address) noexcept {
    const std::uint16_t index = unit(address);
    return index == 0 ? nullptr : chunks[index - 1u].get();
  }

  void refuse(std::string sentence) { refusal = std::move(sentence); }
  // Not even the bookkeeping could be had, or the sentence: the last one was about something else.
  void refuse_without_words() noexcept {
    const std::lock_guard lock(mutex);
    refusal.clear();
  }

  bool is_dead() const noexcept { return closed && mapped == 0; }

  std::uintptr_t allocate(std::size_t bytes, std::size_t alignment);
  Mapped* add_chunk(std::size_t needed);
  // A chunk for so much, however little is in use.
  bool may_ever_be_admitted(std::size_t needed) const noexcept { return needed <= limits.budget && in_units(needed) <= limits.budget; }
  std::size_t admit(std::size_t needed);
  std::uintptr_t take_address(std::size_t bytes, std::size_t alignment);
  void put_address(std::uintptr_t address, std::size_t bytes);
  Mapped& map_chunk(std::uintptr_t address, std::size_t bytes);
  std::unique_ptr<Mapped> take_out(Mapped& chunk);
  void tell_dropped(std::uint64_t id) const noexcept;
  void drop(Mapped& chunk);
  bool has_chunk_for(std::size_t needed) const noexcept;
  Mapped* largest_idle() noexcept;
  bool drop_largest_idle();
  bool free(std::uintptr_t address);
};

// How large the next chunk is to be: 0 when it is not allowed.
//
// A dropped chunk is memory until its last reader has unmapped it, which one that is stopped never does: so such count as well. But it must not keep others from getting messages of another size than before, for which the
// empty chunks must give way: so there is room for as much again, and what is more than is needed has to fit into the budget with them.
std::size_t Window::Impl::admit(std::size_t needed) {
  if (!may_ever_be_admitted(needed)) {
    refuse("A message needs " + in_mib(needed) + " of shared memory in one piece, more than its publisher's whole memory_budget of " +
           in_mib(limits.budget) + ": create the publisher with a larger memory_budget, or make the message smaller.");
    return 0;
  }
  const std::size_t allowance = 2 * std::min(limits.budget, ~std::size_t{0} / 2);
  awaits_readers = allowance - needed < mapped + unreleased_bytes;
  if (awaits_readers) {  // before anything is dropped: that would leave less for messages that have room
    refuse("A message needs " + in_mib(needed) +
           " more shared memory, but subscribers that do not answer, as a process does that is stopped, still have " +
           in_mib(unreleased_bytes) + " mapped that the publisher has given back: continue or end them, or raise its memory_budget of " +
           in_mib(limits.budget) + ".");
    return 0;
  }
  while (limits.budget < mapped + needed && drop_largest_idle()) {
  }
  if (limits.budget < mapped + needed) {
    refuse("A message needs " + in_mib(needed) + " more shared memory, but " + in_mib(mapped) + " of the publisher's memory_budget of " +
           in_mib(limits.budget) + " are taken: raise its memory_budget, or let publisher and subscribers keep fewer messages.");
    return 0;
  }
  // In whole messages half as much again as is in use, or a quarter of what once was mapped: else dropping chunks would make every new one small again.
  const std::size_t more = std::min(std::max((blocks.bytes() + needed) / 2, most_mapped / 4), largest_step);
  std::size_t wanted = std::max(with_slack(needed), more / needed * needed);
  wanted = in_huge_pages(wanted);
  const std::size_t room = limits.budget - mapped;
  wanted = std::max(needed, std::min(wanted, (room - std::min(room, unreleased_bytes)) / chunk_unit * chunk_unit));
  std::uint64_t available = limits.available();
  if (available < wanted) wanted = needed;
  while (available < wanted && drop_largest_idle()) available = limits.available();
  if (available < wanted) {
    refuse("A message needs " + in_mib(needed) + " more shared memory, but the machine (or this process's memory cgroup) has only " +
           in_mib(available) + " left to give: end something, or raise the cgroup's limit.");
    return 0;
  }
  return wanted;
}

std::uintptr_t Window::Impl::allocate(std::size_t bytes, std::size_t alignment) {
  if (closed || bytes > size || alignment > size) {
    refuse(closed ? "The publisher of this message is gone." : "No message can be larger than its publisher's window of addresses.");
    return 0;
  }
  awaits_readers = false;
  std::uintptr_t address = blocks.allocate(bytes, alignment);
  if (address == 0 && add_chunk(Blocks::bytes_needed(bytes, alignment)) != nullptr) address = blocks.allocate(bytes, alignment);
  return address;
}

std::uintptr_t Window::Impl::take_address(std::size_t bytes, std::size_t alignment) {
  for (auto range = addresses.begin(); range != addresses.end(); ++range) {
    const auto [begin, free] = *range;
    const std::size_t before = (alignment - begin % alignment) % alignment;
    if (free < before || free - before < bytes) continue;
    const std::uintptr_t address = begin + before;
    if (free > before + bytes) addresses.emplace(address + bytes, free - before - bytes);
    if (before > 0) {
      range->second = before;
    } else {
      addresses.erase(range);
    }
    return address;
  }
  return 0;
}

void Window::Impl::put_address(std::uintptr_t address, std::size_t bytes) {
  auto range = addresses.emplace(address, bytes).first;
  if (const auto after = std::next(range); after != addresses.end() && address + bytes == after->first) {
    range->second += after->second;
    addresses.erase(after);
  }
  if (range == addresses.begin()) return;
  if (const auto before = std::prev(range); before->first + before->second == address) {
    before->second += range->second;
    addresses.erase(range);
  }
}

// Null when it is refused.
Window::Impl::Mapped* Window::Impl::add_chunk(std::size_t needed) {
  if (needed > size) {
    refuse("No message can be larger than its publisher's window of addresses.");
    return nullptr;
  }
  needed = in_units(needed);
  std::size_t bytes = admit(needed);
  if (bytes == 0) return nullptr;
  const std::size_t huge = os::huge_page_size();
  std::uintptr_t address = take_address(bytes, bytes < huge ? chunk_unit : huge);
  if (address == 0) address = take_address(bytes = needed, chunk_unit);
  if (address == 0) {
    refuse("A message needs " + in_mib(bytes) + " more shared memory, but the publisher's window of " + in_mib(size) +
           " of addresses has no gap of that size: let publisher and subscribers keep fewer messages, or make them smaller.");
    return nullptr;
  }
  try {
    return &map_chunk(address, bytes);
  } catch (const std::exception& problem) {
    put_address(address, bytes);
    refuse(problem.what());
    return nullptr;
  }
}

Window::Impl::Mapped& Window::Impl::map_chunk(std::uintptr_t address, std::size_t bytes) {
  auto made = std::make_unique<Mapped>(address, bytes);
  made->chunk = {.id = newest + 1, .address = address, .size = bytes, .memfd = os::create_memfd("sinew-chunk", bytes), .mapping = nullptr};
  std::string why;
  std::optional<os::Mapping> mapping = os::Mapping::map_at(made->chunk.memfd, address, bytes, os::Access::read_write, &why);
  if (!mapping) throw Error(ErrorKind::exhausted, "A message needs " + in_mib(bytes) + " more shared memory, but " + why + ".");
  if (limits.lock) mapping->lock();
  made->chunk.mapping = std::make_shared<const os::Mapping>(std::move(*mapping));
  os::seal_for_readers(made->chunk.memfd);
  SINEW_POINT("window.sealed");

  auto place = std::find(chunks.begin(), chunks.end(), nullptr);
  if (place == chunks.end()) {
    if (chunks.size() == most_chunks) {
      throw Error(ErrorKind::exhausted, "A message needs more shared memory, but its publisher's window has " +
                                            std::to_string(most_chunks) +
                                            " chunks already: let publisher and subscribers keep fewer messages.");
    }
    place = chunks.emplace(chunks.end());
  }
  Unreleased one;
  one.emplace(made->chunk.id, std::pair(address, bytes));
  made->to_release = one.extract(one.begin());
  blocks.add(made->area);
  try {
    if (observer != nullptr) observer->chunk_added(made->chunk);
  } catch (...) {
    blocks.remove(made->area);
    throw;
  }
  *place = std::move(made);
  Mapped& chunk = **place;
  mapped += bytes;
  most_mapped = std::max(most_mapped, mapped);
  mark_units(chunk.chunk, static_cast<std::size_t>(place - chunks.begin()) + 1);
  newest = chunk.chunk.id;
  return chunk;
}

// Out of the books; it is unmapped when the caller lets go of it, who tells the observer then.
std::unique_ptr<Window::Impl::Mapped> Window::Impl::take_out(Mapped& chunk) {
  blocks.remove(chunk.area);
  mark_units(chunk.chunk, 0);
  mapped -= chunk.chunk.size;
  unreleased_bytes += chunk.chunk.size;
  unreleased.insert(std::move(chunk.to_release));
  return std::exchange(*std::find_if(chunks.begin(), chunks.end(), [&](const auto& each) { return each.get() == &chunk; }), nullptr);
}

// Not while it is mapped: where there is no reader to wait for, its addresses are given to a new chunk at once.
void Window::Impl::tell_dropped(std::uint64_t id) const noexcept {
  if (observer != nullptr) observer->chunk_dropped(id);
}

void Window::Impl::drop(Mapped& chunk) {
  const std::uint64_t id = chunk.chunk.id;
  take_out(chunk).reset();
  tell_dropped(id);
}

// If it were empty.
bool Window::Impl::has_chunk_for(std::size_t needed) const noexcept {
  return std::ranges::any_of(chunks, [&](const auto& each) { return each && each->chunk.size >= needed; });
}

Window::Impl::Mapped* Window::Impl::largest_idle() noexcept {
  Mapped* largest = nullptr;
  for (const auto& each : chunks) {
    if (each && each->is_idle() && (largest == nullptr || largest->chunk.size < each->chunk.size)) largest = each.get();
  }
  return largest;
}

bool Window::Impl::drop_largest_idle() {
  Mapped* const largest = largest_idle();
  if (largest != nullptr) drop(*largest);
  return largest != nullptr;
}

// True when the window is dead now.
bool Window::Impl::free(std::uintptr_t address) {
  if (kept.gives_back_later(address)) return false;
  Mapped* const chunk = chunk_at(address);
  if (chunk == nullptr || !blocks.free(chunk->area, address)) return false;
  if (chunk->area.live != 0) return false;
  chunk->idle_looks = 0;
  if (!closed) return false;
  const HeapScope heap;
  drop(*chunk);
  return is_dead();
}

// --- the window ------------------------------------------------------------------------------------------------------------------------

Window::Window(std::uintptr_t base, std::size_t size, Limits limits, Observer* observer)
    : impl_(std::make_unique<Impl>(base, size, std::move(limits), observer)) {}

Window::~Window() = default;

std::shared_ptr<Window> Window::create(std::uintptr_t base, std::size_t size, Limits limits, Observer* observer) {
  if (base == 0 || size == 0 || base % granule != 0 || size % granule != 0) {
    throw Error(ErrorKind::invalid_argument, "A window of shared memory must begin and end at a multiple of 1 GiB.");
  }
  std::shared_ptr<Window> window(new Window(base, size, std::move(limits), observer), [](Window* gone) { gone->let_go(); });
  if (!enter_window(*window, base, size)) {
    throw Error(ErrorKind::invalid_argument, "Another publisher of this process still uses the addresses that its new window was given.");
  }
  return window;
}

void* Window::allocate(std::size_t size, std::size_t alignment) noexcept {
  if (is_forked_child()) return nullptr;
  const HeapScope heap;  // for the bookkeeping, and for the observer's
  for (;;) {
    Observer* observer = nullptr;
    Refusal refusal;
    try {
      const std::lock_guard lock(impl_->mutex);
      if (const std::uintptr_t address = impl_->allocate(size, alignment)) return reinterpret_cast<void*>(address);
      if (size <= impl_->size && alignment <= impl_->size && impl_->may_ever_be_admitted(Blocks::bytes_needed(size, alignment))) {
        observer = impl_->observer;  // else what others wait for would be thrown away in vain
      }
      if (impl_->awaits_readers) refusal = {impl_->unreleased_bytes, impl_->has_chunk_for(Blocks::bytes_needed(size, alignment))};
    } catch (const std::bad_alloc&) {
      impl_->refuse_without_words();
      return nullptr;
    }
    if (observer == nullptr || !observer->make_room(refusal)) return nullptr;
  }
}

void* Window::try_to_allocate(std::size_t size, std::size_t alignment) noexcept {
  if (is_forked_child()) return nullptr;
  const HeapScope heap;
  try {
    const std::lock_guard lock(impl_->mutex);
    return reinterpret_cast<void*>(impl_->allocate(size, alignment));
  } catch (const std::bad_alloc&) {
    impl_->refuse_without_words();
    return nullptr;
  }
}

bool Window::reserve(std::size_t size) noexcept {
  const HeapScope heap;
  try {
    const std::lock_guard lock(impl_->mutex);
    Impl::Mapped* const chunk = impl_->add_chunk(size);
    if (chunk == nullptr) return false;
    chunk->reserved = true;
    return true;
  } catch (const std::bad_alloc&) {
    impl_->refuse_without_words();
    return false;
  }
}

void Window::free(void* block) noexcept {
  Freeing(*this).free(block);
}

std::shared_ptr<const void> Window::keep(void* block) {
  const HeapScope heap;
  const auto address = reinterpret_cast<std::uintptr_t>(block);
  if (is_forked_child()) return nullptr;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->kept.keep(address);
  }
  return std::shared_ptr<void>(block, [window = shared_from_this(), address](void* kept) {
    if (is_forked_child()) return;
    Freeing blocks(*window);
    if (window->impl_->kept.let_go(address)) blocks.free(kept);
  });
}

Window::Freeing::Freeing(Window& window) noexcept : window_(window), lock_(window.impl_->mutex, std::defer_lock) {
  if (!is_forked_child()) lock_.lock();
}

void Window::Freeing::free(void* block) noexcept {
  if (!lock_) return;
  if (++freed_ % frees_per_holding == 0) {
    lock_.unlock();
    lock_.lock();
  }
  if (window_.impl_->free(reinterpret_cast<std::uintptr_t>(block))) is_dead_ = true;
}

Window::Freeing::~Freeing() {
  if (!lock_ || !is_dead_) return;
  const HeapScope heap;
  Impl& impl = *window_.impl_;
  const bool is_unowned = !impl.has_publisher;
  const std::function<void()> when_dead = std::exchange(impl.when_dead, nullptr);
  remove_window(window_, impl.base, impl.size);
  lock_.unlock();
  if (when_dead) when_dead();
  if (is_unowned) delete &window_;
}

bool Window::look_for_idle() noexcept {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->closed) return false;
  const Impl::Mapped* const kept = impl_->largest_idle();
  std::size_t others = 0;
  for (const auto& each : impl_->chunks) {
    if (!each || each->reserved) continue;
    each->idle_looks = each->is_idle() ? std::min(each->idle_looks + 1, 2U) : 0;
    if (!each->may_go() || each.get() == kept) ++others;
  }
  return others > 1;
}

bool Window::trim_next() noexcept {
  const HeapScope heap;
  std::unique_lock lock(impl_->mutex);
  if (impl_->closed || impl_->unreleased_bytes > 0) return false;
  const Impl::Mapped* const kept = impl_->largest_idle();
  for (const auto& each : impl_->chunks) {
    if (!each || !each->may_go() || each.get() == kept) continue;
    const std::uint64_t id = each->chunk.id;
    std::unique_ptr<Impl::Mapped> dropped = impl_->take_out(*each);
    lock.unlock();
    dropped.reset();
    lock.lock();
    impl_->tell_dropped(id);
    return true;
  }
  return false;
}

std::string Window::why_refused() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->refusal;
}

bool Window::contains(const void* address, std::size_t size) const noexcept {
  const auto first = reinterpret_cast<std::uintptr_t>(address);
  const std::uint16_t chunk = impl_->unit(first);
  if (chunk == 0 || size > impl_->size) return false;
  return size <= 1 || impl_->unit(first + size - 1) == chunk;  // a chunk has no gaps
}

Window::Range Window::chunk_around(const void* address) const noexcept {
  const std::uint16_t chunk = impl_->unit(reinterpret_cast<std::uintptr_t>(address));
  if (chunk == 0) return {};
  Range& range = impl_->ranges[chunk - 1U];
  // relaxed: read after the unit, and while the caller keeps the chunk
  return {std::atomic_ref(range.begin).load(std::memory_order_relaxed), std::atomic_ref(range.end).load(std::memory_order_relaxed)};
}

void Window::for_each_chunk(const std::function<void(const Chunk&)>& visit) const {
  const HeapScope heap;
  const std::lock_guard lock(impl_->mutex);
  std::vector<const Chunk*> in_order;
  for (const auto& each : impl_->chunks) {
    if (each) in_order.push_back(&each->chunk);
  }
  std::sort(in_order.begin(), in_order.end(), [](const Chunk* a, const Chunk* b) { return a->id < b->id; });
  for (const Chunk* chunk : in_order) visit(*chunk);
}

void Window::reuse_address(std::uint64_t chunk_id) noexcept {
  const HeapScope heap;
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->unreleased.find(chunk_id);
  if (found == impl_->unreleased.end()) return;
  impl_->unreleased_bytes -= found->second.second;
  try {
    impl_->put_address(found->second.first, found->second.second);
    impl_->unreleased.erase(found);
  } catch (const std::bad_alloc&) {
    return;  // these addresses lie idle from now on; there are more
  }
}

void Window::close(const std::vector<const void*>& abandoned, std::function<void()> when_dead) noexcept {
  if (is_forked_child()) return;
  const HeapScope heap;
  std::unique_lock lock(impl_->mutex);
  if (std::exchange(impl_->closed, true)) return;
  impl_->observer = nullptr;
  for (const void* block : abandoned) {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    if (impl_->kept.gives_back_later(address)) continue;  // readers that claim it lose nothing: a closed window gives out no block
    if (Impl::Mapped* chunk = impl_->chunk_at(address)) impl_->blocks.abandon(chunk->area, address);
  }
  for (std::size_t i = 0; i < impl_->chunks.size(); ++i) {
    if (impl_->chunks[i] && impl_->chunks[i]->area.live == 0) impl_->drop(*impl_->chunks[i]);
  }
  if (!impl_->is_dead()) {
    impl_->when_dead = std::move(when_dead);
    return;
  }
  remove_window(*this, impl_->base, impl_->size);
  lock.unlock();
  if (when_dead) when_dead();
}

void Window::let_go() noexcept {
  if (is_forked_child()) return;
  close({});
  bool dead = false;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->has_publisher = false;
    dead = impl_->is_dead();
  }
  if (dead) delete this;
}

Window::Usage Window::usage() const noexcept {
  const std::lock_guard lock(impl_->mutex);
  return {.mapped = impl_->mapped, .in_use = impl_->blocks.bytes(), .blocks = impl_->blocks.live(), .unreleased = impl_->unreleased_bytes};
}

Window* Window::owner_of(const void* address) noexcept {
  return window_at(address);
}

}  // namespace sinew::shm
