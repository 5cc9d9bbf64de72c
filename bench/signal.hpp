// The bare means by which one process wakes another.
#pragma once

#include <atomic>
#include <cstdint>

#include "shared_memory.hpp"

namespace sinew::bench {

enum class Bell {
  eventfd,  ///< one write; the waiting process blocks in read
  futex,    ///< one FUTEX_WAKE, for all that wait
  line,     ///< no system call: the waiting process spins on a cache line
};

/// Made before the processes are forked, and shared by them.
class Signal {
 public:
  /// Throws std::system_error.
  explicit Signal(Bell bell);
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal();

  void ring();
  /// Returns when somebody rang since this process's last await(); at once when that is already so.
  void await();

 private:
  const Bell bell_;
  SharedMemory memory_;
  std::atomic<std::uint32_t>& word_;
  std::uint32_t seen_ = 0;
  int eventfd_ = -1;
};

}  // namespace sinew::bench
