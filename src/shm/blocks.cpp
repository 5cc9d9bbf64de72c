#include "shm/blocks.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace sinew::shm {

namespace {

// What stands in a span's table of links for a block that is not in the chain of free ones.
constexpr std::uint16_t end_of_chain = 0xffff;
constexpr std::uint16_t live_block = 0xfffe;
constexpr std::uint16_t abandoned_block = 0xfffd;

constexpr std::size_t span_bytes(std::uint32_t size_class) noexcept {
  constexpr std::size_t blocks = 16;
  return std::clamp(std::bit_ceil(blocks * block_size(size_class)), Blocks::page, Blocks::largest_span);
}

// Looked up: it takes a division.
constexpr std::array<std::uint16_t, size_classes> blocks_in_span = [] {
  std::array<std::uint16_t, size_classes> blocks{};
  for (std::uint32_t each = 0; each < size_classes; ++each) blocks[each] = static_cast<std::uint16_t>(span_bytes(each) / block_size(each));
  return blocks;
}();

bool is_small(std::size_t size, std::size_t alignment) noexcept {
  return size <= largest_small_block && alignment <= Blocks::page;
}

std::size_t pages_for(std::size_t size) noexcept {
  return size / Blocks::page + (size % Blocks::page != 0);
}

}  // namespace

struct Blocks::Run {
  enum class State : std::uint8_t { idle, taken, abandoned, span };

  Area* area = nullptr;
  std::size_t first = 0;
  std::size_t pages = 0;
  std::uint64_t freed_at = 0;
  State state = State::idle;
  bool pending = false;
  Run* before = nullptr;  // in pending_ or in open_
  Run* after = nullptr;
  Idle::node_type node;  // this run's place in idle_, kept here while it is not idle: freeing must not allocate

  // Of a span.
  std::uint32_t size_class = 0;
  std::uint16_t used = 0;  // live and abandoned blocks
  std::uint16_t chain = end_of_chain;
  std::unique_ptr<std::uint16_t[]> links;  // by block: the next free one, or what it is instead of free

  std::uintptr_t address() const noexcept { return area->address + first * page; }
  std::uint16_t block_index(std::uintptr_t block) const noexcept {
    return static_cast<std::uint16_t>(static_cast<std::uint32_t>(block - address()) / block_size(size_class));
  }
};

void Blocks::RunList::push_front(Run& run) noexcept {
  run.before = nullptr;
  run.after = front;
  if (front != nullptr) front->before = &run;
  front = &run;
}

void Blocks::RunList::remove(Run& run) noexcept {
  (run.before != nullptr ? run.before->after : front) = run.after;
  if (run.after != nullptr) run.after->before = run.before;
  run.before = run.after = nullptr;
}

// --- runs of pages ---------------------------------------------------------------------------------------------------------------------

Blocks::IdleKey Blocks::key_of(const Run& run) noexcept {
  return {run.pages, ~run.freed_at, run.address()};
}

void Blocks::mark_ends(Run& run, Run* as) noexcept {
  run.area->runs_[run.first] = as;
  run.area->runs_[run.first + run.pages - 1] = as;
}

Blocks::Run* Blocks::make_run(Area& area, std::size_t first, std::size_t pages) {
  auto run = std::make_unique<Run>();
  run->area = &area;
  run->first = first;
  run->pages = pages;
  Idle maker;
  maker.emplace(key_of(*run), run.get());
  run->node = maker.extract(maker.begin());
  return run.release();
}

void Blocks::list(Run& run) noexcept {
  run.node.key() = key_of(run);
  idle_.insert(std::move(run.node));
}

void Blocks::unlist(Run& run) noexcept {
  run.node = idle_.extract(key_of(run));
  if (run.pending) pending_.remove(run);
  run.pending = false;
}

void Blocks::add(Area& area) {
  const std::size_t pages = area.size / page;
  // calloc, so that the table of a large area costs memory only where runs begin and end.
  area.runs_.reset(static_cast<Run**>(std::calloc(pages, sizeof(Run*))));
  if (!area.runs_) throw std::bad_alloc();
  Run* whole = make_run(area, 0, pages);
  mark_ends(*whole, whole);
  list(*whole);
}

void Blocks::remove(Area& area) noexcept {
  for (std::size_t first = 0; first < area.size / page;) {
    Run* run = area.runs_[first];
    first += run->pages;
    if (run->state == Run::State::idle) {
      unlist(*run);
    } else if (run->state == Run::State::span) {
      if (run->chain != end_of_chain) open_[run->size_class].remove(*run);
      if (run == empty_[run->size_class]) empty_[run->size_class] = nullptr;
    }
    delete run;
  }
  area.runs_.reset();
}

// Shortens an idle run to `pages`; returns the rest as an idle run of its own.
Blocks::Run* Blocks::cut(Run& run, std::size_t pages) {
  Run* rest = make_run(*run.area, run.first + pages, run.pages - pages);
  rest->freed_at = run.freed_at;
  unlist(run);
  run.pages = pages;
  mark_ends(run, &run);
  mark_ends(*rest, rest);
  list(run);
  list(*rest);
  return rest;
}

Blocks::Run* Blocks::join(Run& left, Run& right) noexcept {
  unlist(left);
  unlist(right);
  mark_ends(left, nullptr);
  mark_ends(right, nullptr);
  left.pages += right.pages;
  left.freed_at = std::max(left.freed_at, right.freed_at);
  delete &right;
  mark_ends(left, &left);
  list(left);
  return &left;
}

void Blocks::join_pending() noexcept {
  const auto idle = [](const Run* run) { return run != nullptr && run->state == Run::State::idle; };
  while (pending_.front != nullptr) {
    Run* run = pending_.front;
    pending_.remove(*run);
    run->pending = false;
    // As far as idle runs go: joining takes a neighbour out of the pending ones before its other side was looked at.
    const Area& area = *run->area;
    while (run->first > 0 && idle(area.runs_[run->first - 1])) run = join(*area.runs_[run->first - 1], *run);
    while (run->first + run->pages < area.size / page && idle(area.runs_[run->first + run->pages]))
      join(*run, *area.runs_[run->first + run->pages]);
  }
}

bool Blocks::give_up_empty_spans() noexcept {
  bool any = false;
  for (Run* span : empty_) {
    if (span == nullptr) continue;
    close_span(*span);
    any = true;
  }
  return any;
}

Blocks::Run* Blocks::find(std::size_t pages) noexcept {
  const auto found = idle_.lower_bound({pages, 0, 0});
  return found == idle_.end() ? nullptr : found->second;
}

// A run that is nobody else's, or null. `alignment` in bytes.
Blocks::Run* Blocks::take(std::size_t pages, std::size_t alignment) {
  const std::size_t searched = pages + (alignment > page ? alignment / page - 1 : 0);
  Run* run = find(searched);
  if (run == nullptr || run->pages != pages) {
    join_pending();
    run = find(searched);
    if (run == nullptr && give_up_empty_spans()) {
      join_pending();
      run = find(searched);
    }
  }
  if (run == nullptr) return nullptr;
  const std::uintptr_t misaligned = run->address() % std::max(alignment, page);
  if (misaligned != 0) run = cut(*run, (alignment - misaligned) / page);
  if (run->pages > pages) cut(*run, pages);
  unlist(*run);
  run->state = Run::State::taken;
  return run;
}

void Blocks::put_back(Run& run) noexcept {
  run.state = Run::State::idle;
  run.freed_at = ++clock_;
  list(run);
  pending_.push_front(run);
  run.pending = true;
}

// --- spans -----------------------------------------------------------------------------------------------------------------------------

// Adds a span to open_[size_class], if pages can be had.
void Blocks::open_span(std::uint32_t size_class) {
  const std::uint16_t blocks = blocks_in_span[size_class];
  auto links = std::make_unique<std::uint16_t[]>(blocks);
  for (std::uint16_t block = 0; block < blocks; ++block) links[block] = static_cast<std::uint16_t>(block + 1);
  links[blocks - 1u] = end_of_chain;

  Run* span = take(span_bytes(size_class) / page, page);
  if (span == nullptr) return;
  std::fill_n(&span->area->runs_[span->first], span->pages, span);
  span->state = Run::State::span;
  span->size_class = size_class;
  span->used = 0;
  span->chain = 0;
  span->links = std::move(links);
  open_[size_class].push_front(*span);
}

void Blocks::close_span(Run& span) noexcept {
  open_[span.size_class].remove(span);
  if (empty_[span.size_class] == &span) empty_[span.size_class] = nullptr;
  std::fill_n(&span.area->runs_[span.first], span.pages, nullptr);
  mark_ends(span, &span);
  span.links.reset();
  put_back(span);
}

// --- blocks ----------------------------------------------------------------------------------------------------------------------------

std::size_t Blocks::bytes_needed(std::size_t size, std::size_t alignment) noexcept {
  if (is_small(size, alignment)) return largest_span;
  return (pages_for(size) + (alignment > page ? alignment / page - 1 : 0)) * page;
}

std::uintptr_t Blocks::allocate(std::size_t size, std::size_t alignment) {
  size = std::max<std::size_t>(size, 1);
  std::uintptr_t address = 0;
  Area* area = nullptr;
  if (is_small(size, alignment)) {
    std::uint32_t size_class = class_of(std::max(size, alignment));
    while ((block_size(size_class) & (alignment - 1)) != 0) ++size_class;  // ends at a power of two
    RunList& spans = open_[size_class];
    if (spans.front == nullptr) open_span(size_class);
    if (spans.front == nullptr) return 0;
    Run& span = *spans.front;
    const std::uint16_t block = span.chain;
    span.chain = span.links[block];
    span.links[block] = live_block;
    ++span.used;
    if (empty_[size_class] == &span) empty_[size_class] = nullptr;
    if (span.chain == end_of_chain) spans.remove(span);
    address = span.address() + std::size_t{block} * block_size(size_class);
    area = span.area;
    bytes_ += block_size(size_class);
  } else {
    Run* run = take(pages_for(size), alignment);
    if (run == nullptr) return 0;
    address = run->address();
    area = run->area;
    bytes_ += run->pages * page;
  }
  ++area->live;
  ++live_;
  return address;
}

// What is live at `address`, where a block must begin.
Blocks::Live Blocks::live_at(Area& area, std::uintptr_t address) noexcept {
  Run* run = area.runs_[(address - area.address) / page];
  if (run == nullptr) return {};
  if (run->state == Run::State::taken) return {address == run->address() ? run : nullptr};
  if (run->state != Run::State::span) return {};
  const std::uint16_t block = run->block_index(address);
  const bool begins = address == run->address() + std::size_t{block} * block_size(run->size_class);
  if (!begins || block >= blocks_in_span[run->size_class] || run->links[block] != live_block) return {};
  return {run, block};
}

// Counts one live block less.
void Blocks::forget(const Run& run) noexcept {
  --run.area->live;
  --live_;
  bytes_ -= run.state == Run::State::span ? block_size(run.size_class) : run.pages * page;
}

bool Blocks::free(Area& area, std::uintptr_t address) noexcept {
  const auto [run, block] = live_at(area, address);
  if (run == nullptr) return false;
  forget(*run);
  if (run->state == Run::State::taken) {
    put_back(*run);
    return true;
  }
  RunList& spans = open_[run->size_class];
  if (run->chain != end_of_chain && spans.front != run) spans.remove(*run);
  if (spans.front != run) spans.push_front(*run);
  run->links[block] = run->chain;
  run->chain = block;
  if (--run->used > 0) return true;
  if (Run* other = std::exchange(empty_[run->size_class], run)) close_span(*other);
  return true;
}

bool Blocks::abandon(Area& area, std::uintptr_t address) noexcept {
  const auto [run, block] = live_at(area, address);
  if (run == nullptr) return false;
  forget(*run);
  if (run->state == Run::State::taken) {
    run->state = Run::State::abandoned;
  } else {
    run->links[block] = abandoned_block;
  }
  return true;
}

}  // namespace sinew::shm
