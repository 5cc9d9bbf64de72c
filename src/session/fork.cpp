#include "session/fork.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

#include "os/fd.hpp"
#include "os/process.hpp"
#include "shm/scope.hpp"

namespace sinew::session {
namespace {

std::atomic<bool> dead{false};
// Descriptor numbers, stored plus one so that the zero-initialised table is empty: the child handler may run before any constructor.
std::array<std::atomic<int>, 16384> guarded;
std::atomic<std::size_t> guarded_end{0};

void in_child() noexcept {
  dead.store(true);
  shm::after_fork_in_child();
  for (std::size_t i = 0; i < guarded_end.load(); ++i) {
    if (const int fd = guarded[i].exchange(0) - 1; fd >= 0) {
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
    if (!guarded[i].compare_exchange_strong(empty, fd + 1)) continue;
    std::size_t end = guarded_end.load();
    while (end < i + 1 && !guarded_end.compare_exchange_weak(end, i + 1)) {
    }
    return;
  }
}

void forget_in_child(int fd) noexcept {
  const std::size_t end = guarded_end.load();
  for (std::size_t i = 0; i < end; ++i) {
    int expected = fd + 1;
    if (guarded[i].compare_exchange_strong(expected, 0)) return;
  }
}

}  // namespace sinew::session
