// Reading clocks, and waiting for the next turn.
#pragma once

#include <cstdint>

namespace sinew::bench {

/// CLOCK_MONOTONIC in nanoseconds.
std::int64_t now_ns() noexcept;
/// Processor time of this process in nanoseconds.
std::int64_t cpu_ns() noexcept;

/// Processor time of the calling thread in nanoseconds. A system call.
std::int64_t thread_cpu_ns() noexcept;

/// Tells the processor that this is a spin loop.
inline void spin_hint() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// Lets the caller go on `rate` times a second, by the clock and not by the length of the work. Rate 0 never waits.
class Pacer {
 public:
  /// The first turn comes `share` of a period after the construction, so that several publishers do not all start at the same moment.
  Pacer(double rate, double share);
  void wait();

 private:
  std::int64_t period_;
  std::int64_t due_;
};

}  // namespace sinew::bench
