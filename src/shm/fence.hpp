// Fences, for what is read and written without atomics between processes.
#pragma once

#include <atomic>

namespace sinew::shm {

// The thread sanitizer does not see fences, and GCC says so as a warning. It does not see other processes either.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif

inline void fence(std::memory_order order) noexcept {
  std::atomic_thread_fence(order);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace sinew::shm
