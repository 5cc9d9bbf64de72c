// Where `operator new` of this thread takes its memory from, and what `operator delete` does with an address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew::shm {

class Window;

/// While alive, operator new of this thread allocates from `window`; the destructor restores what was before (scopes nest). Not to be moved between
/// threads: the destructor does nothing on another thread than the constructor's (a co_await inside the expression, S13).
class AllocationScope {
 public:
  explicit AllocationScope(Window* window) noexcept;
  ~AllocationScope();
  AllocationScope(const AllocationScope&) = delete;
  AllocationScope& operator=(const AllocationScope&) = delete;

 private:
  Window* before_;
  const void* thread_;
};

/// The library's own code inside a scope (logging, growing tables) runs under this, on the ordinary heap.
class HeapScope {
 public:
  HeapScope() noexcept;
  ~HeapScope();
  HeapScope(const HeapScope&) = delete;
  HeapScope& operator=(const HeapScope&) = delete;

 private:
  Window* before_;
};

/// For operator new: a block of the current scope's window, or null when there is no scope or the window refused (the caller then uses malloc; the audit at publish copies it in).
void* scope_allocate(std::size_t size, std::size_t alignment) noexcept;
/// For operator delete: true when the address lies in the range of windows. Then the block went back to its window, or nothing happened because
/// it belongs to nobody here (another process's window, after fork): it must not reach free(). One compare when it does not.
bool scope_free(void* block) noexcept;

/// The range of windows of this process's domains: set when the first node registers, only ever widened.
void add_window_range(std::uint64_t begin, std::uint64_t end) noexcept;
bool in_window_range(const void* address) noexcept;

/// In a child of fork: every window is dead, scope_allocate gives null, scope_free frees nothing.
void after_fork_in_child() noexcept;

}  // namespace sinew::shm
