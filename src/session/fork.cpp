#include "session/fork.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "os/fd.hpp"
#include "os/process.hpp"
#include "os/thread.hpp"
#include "shm/scope.hpp"

namespace sinew::session {
namespace {

// relaxed, here and below: the only thread of a child reads what was there when it was forked; a number is forgotten by who got it from who guards it.
std::atomic<bool> dead{false};
// Descriptor numbers, stored plus one so that the zero-initialised table is empty: the child handler may run before any constructor.
std::array<std::atomic<int>, 16384> guarded;  // relaxed: see above
std::atomic<std::size_t> guarded_end{0};      // relaxed: see above

void in_child() noexcept {
  dead.store(true, std::memory_order_relaxed);
  os::restore_users_signals();
  shm::after_fork_in_child();
  for (std::size_t i = 0; i < guarded_end.load(std::memory_order_relaxed); ++i) {
    if (const int fd = guarded[i].exchange(0, std::memory_order_relaxed) - 1; fd >= 0) {
      const os::Fd closed_here(fd);
    }
  }
}

}  // namespace

bool forked() noexcept {
  return dead.load(std::memory_order_relaxed);
}

void close_in_child(int fd) noexcept {
  static std::once_flag once;
  std::call_once(once, [] { os::on_fork_in_child(&in_child); });
  for (std::size_t i = 0; i < guarded.size(); ++i) {
    int empty = 0;
    if (!guarded[i].compare_exchange_strong(empty, fd + 1, std::memory_order_relaxed)) continue;
    std::size_t end = guarded_end.load(std::memory_order_relaxed);
    while (end < i + 1 && !guarded_end.compare_exchange_weak(end, i + 1, std::memory_order_relaxed)) {
    }
    return;
  }
}

void forget_in_child(int fd) noexcept {
  const std::size_t end = guarded_end.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < end; ++i) {
    int expected = fd + 1;
    if (guarded[i].compare_exchange_strong(expected, 0, std::memory_order_relaxed)) return;
  }
}

}  // namespace sinew::session
