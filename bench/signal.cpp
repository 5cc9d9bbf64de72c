#include "signal.hpp"

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <new>
#include <system_error>

#include "clock.hpp"

namespace sinew::bench {

Signal::Signal(Bell bell)
    : bell_(bell), memory_(sizeof(std::atomic<std::uint32_t>)), word_(*new(memory_.data()) std::atomic<std::uint32_t>(0)) {
  if (bell == Bell::eventfd && (eventfd_ = eventfd(0, EFD_CLOEXEC)) < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Signal::~Signal() {
  if (eventfd_ >= 0) close(eventfd_);
}

void Signal::ring() {
  if (bell_ == Bell::eventfd) {
    const std::uint64_t one = 1;
    if (write(eventfd_, &one, sizeof one) != sizeof one) throw std::system_error(errno, std::generic_category(), "write to an eventfd");
    return;
  }
  word_.fetch_add(1, std::memory_order_seq_cst);
  if (bell_ == Bell::futex) syscall(SYS_futex, &word_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Signal::await() {
  if (bell_ == Bell::eventfd) {
    std::uint64_t rung;
    while (read(eventfd_, &rung, sizeof rung) < 0 && errno == EINTR) {
    }
    return;
  }
  std::uint32_t now;
  while ((now = word_.load(std::memory_order_seq_cst)) == seen_) {
    if (bell_ == Bell::futex) {
      syscall(SYS_futex, &word_, FUTEX_WAIT, seen_, nullptr, nullptr, 0);
    } else {
      spin_hint();
    }
  }
  seen_ = now;
}

}  // namespace sinew::bench
