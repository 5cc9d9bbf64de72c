// The clock: CLOCK_MONOTONIC in nanoseconds, the same for every process of a machine.
#pragma once

#include <chrono>
#include <cstdint>

namespace sinew::os {

std::int64_t now_ns() noexcept;

/// As std::this_thread::sleep_for(); the thread is not cancelled meanwhile.
void sleep_for(std::chrono::nanoseconds time);

/// Tells the processor that this is a spin loop.
inline void spin_hint() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace sinew::os
