#include "shm/scope.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "shm/window.hpp"

namespace sinew::shm {

namespace detail {

[[gnu::tls_model("initial-exec")]] constinit thread_local Window* current_window = nullptr;
// relaxed: see add_window_range()
constinit std::atomic<std::uint64_t> range_begin = ~std::uint64_t{0};
constinit std::atomic<std::uint64_t> range_end = 0;

namespace {
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint64_t asked = 0;
}  // namespace

void* allocate_in(Window& window, std::size_t size, std::size_t alignment) noexcept {
  ++asked;
  return window.allocate(size, alignment);
}

void free_in_range(void* block) noexcept {
  if (Window* window = Window::owner_of(block)) window->free(block);
}

}  // namespace detail

namespace {

using detail::current_window;
using detail::range_begin;
using detail::range_end;

// Each thread has its own.
const void* this_thread() noexcept {
  return static_cast<const void*>(&current_window);
}

constinit std::atomic<bool> forked_child = false;  // relaxed: set by the only thread of a child
// relaxed: addresses that are compared and never followed; who asks for one has registered it, or has been loaded by who did
constinit std::array<std::atomic<OperatorDelete>, 64> replacements{};

}  // namespace

ScopeState enter_scope(Window* window) noexcept {
  const ScopeState state{current_window, this_thread()};
  current_window = window;
  return state;
}

void leave_scope(const ScopeState& state) noexcept {
  if (state.thread == this_thread()) current_window = state.before;
}

void register_replacement(OperatorDelete operator_delete) noexcept {
  for (auto& known : replacements) {
    OperatorDelete none = nullptr;
    // relaxed: see `replacements`
    if (known.compare_exchange_strong(none, operator_delete, std::memory_order_relaxed) || none == operator_delete) return;
  }
}

bool is_replacement(OperatorDelete operator_delete) noexcept {
  // relaxed: see `replacements`
  return std::any_of(replacements.begin(), replacements.end(),
                     [&](const auto& known) { return known.load(std::memory_order_relaxed) == operator_delete; });
}

std::uint64_t times_asked() noexcept {
  return detail::asked;
}

void add_window_range(std::uint64_t begin, std::uint64_t end) noexcept {
  // relaxed: whoever frees a window's block got its address in an order that the range came before
  std::uint64_t known = range_begin.load(std::memory_order_relaxed);
  while (begin < known && !range_begin.compare_exchange_weak(known, begin, std::memory_order_relaxed)) {
  }
  known = range_end.load(std::memory_order_relaxed);
  while (end > known && !range_end.compare_exchange_weak(known, end, std::memory_order_relaxed)) {
  }
}

void after_fork_in_child() noexcept {
  forked_child.store(true, std::memory_order_relaxed);
  current_window = nullptr;
}

bool is_forked_child() noexcept {
  return forked_child.load(std::memory_order_relaxed);
}

}  // namespace sinew::shm
