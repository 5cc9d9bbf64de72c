// The clock: CLOCK_MONOTONIC in nanoseconds, the same for every process of a machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>

namespace sinew::os {

std::int64_t now_ns() noexcept;
/// As it was at the kernel's last tick, so up to 10 ms ago, for a fraction of what now_ns() costs.
std::int64_t coarse_now_ns() noexcept;
/// What the calling thread has had of the processor; a system call.
std::int64_t thread_time_ns() noexcept;

/// As std::this_thread::sleep_for(); the thread is not cancelled meanwhile.
void sleep_for(std::chrono::nanoseconds time);

/// A time that does not come.
inline constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

/// So many nanoseconds after `time`, which is none before the clock's beginning; `never` where that is beyond all times.
constexpr std::int64_t later(std::int64_t time, std::int64_t duration) noexcept {
  return duration < never - time ? time + duration : never;
}

/// Tells the processor that this is a spin loop.
inline void spin_hint() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace sinew::os
