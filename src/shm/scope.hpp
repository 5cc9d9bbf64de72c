// Where `operator new` of this thread takes its memory from, and what `operator delete` does with an address.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sinew/error.hpp"

namespace sinew::shm {

class Window;

/// What leave_scope() needs to restore.
struct ScopeState {
  Window* before = nullptr;
  const void* thread = nullptr;
};
/// From now on operator new of this thread allocates from `window`, until leave_scope(); scopes nest. Not to be moved between
/// threads: leave_scope() does nothing on another thread than enter_scope()'s (a co_await inside the expression, S13).
ScopeState enter_scope(Window* window) noexcept;
void leave_scope(const ScopeState& state) noexcept;

/// A scope as long as the object lives.
class SINEW_API AllocationScope {
 public:
  explicit AllocationScope(Window* window) noexcept : state_(enter_scope(window)) {}
  ~AllocationScope() { leave_scope(state_); }
  AllocationScope(const AllocationScope&) = delete;
  AllocationScope& operator=(const AllocationScope&) = delete;

 private:
  ScopeState state_;
};

// Every allocation of a program asks these, so they are exported and the functions below are inline: calls into the library would cost half of what malloc
// and free cost. Not for others.
namespace detail {
// initial-exec: one instruction to read, and no allocation behind it, which operator new could not bear.
[[gnu::tls_model("initial-exec")]] SINEW_API extern constinit thread_local Window* current_window;
// relaxed: see add_window_range()
SINEW_API extern constinit std::atomic<std::uint64_t> range_begin, range_end;
SINEW_API void* allocate_in(Window& window, std::size_t size, std::size_t alignment) noexcept;
SINEW_API void free_in_range(void* block) noexcept;
}  // namespace detail

/// The library's own code inside a scope (logging, growing tables) runs under this, on the ordinary heap.
class HeapScope {
 public:
  HeapScope() noexcept : before_(detail::current_window) { detail::current_window = nullptr; }
  ~HeapScope() { detail::current_window = before_; }
  HeapScope(const HeapScope&) = delete;
  HeapScope& operator=(const HeapScope&) = delete;

 private:
  Window* before_;
};

/// In the range of windows of this process's domains.
inline bool in_window_range(const void* address) noexcept {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  return value >= detail::range_begin.load(std::memory_order_relaxed) && value < detail::range_end.load(std::memory_order_relaxed);
}

/// For operator new: whether scope_allocate() has a window to ask.
inline bool in_allocation_scope() noexcept {
  return detail::current_window != nullptr;
}
/// For operator new: a block of the current scope's window, or null when there is no scope or the window refused (the caller then uses malloc; the audit at
/// publish copies it in).
inline void* scope_allocate(std::size_t size, std::size_t alignment) noexcept {
  Window* const window = detail::current_window;
  return window == nullptr ? nullptr : detail::allocate_in(*window, size, alignment);
}
/// For operator delete: true when the address lies in the range of windows. Then the block went back to its window, or nothing happened because
/// it belongs to nobody here (another process's window, after fork): it must not reach free(). Two compares when it does not.
inline bool scope_free(void* block) noexcept {
  if (!in_window_range(block)) return false;
  detail::free_in_range(block);
  return true;
}

/// operator_new.cpp says which operator delete it is; a module that sees another one must not allocate in a window (F4). At most 64 are remembered. Thread-safe.
using OperatorDelete = void (*)(void*) noexcept;
SINEW_API void register_replacement(OperatorDelete operator_delete) noexcept;
bool is_replacement(OperatorDelete operator_delete) noexcept;

/// How often scope_allocate() has asked a window on this thread, whether it gave memory or refused: tells whether an operator new is this one.
std::uint64_t times_asked() noexcept;

/// The range of windows of this process's domains: set when the first node registers, only ever widened.
void add_window_range(std::uint64_t begin, std::uint64_t end) noexcept;

/// To be called in every child of fork() (os::on_fork_in_child): every window is dead, allocate() and scope_allocate() give null, nothing is freed or unmapped.
void after_fork_in_child() noexcept;
bool is_forked_child() noexcept;

}  // namespace sinew::shm
