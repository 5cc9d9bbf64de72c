#include "os/clock.hpp"

#include <ctime>
#include <thread>

#include "base/cancel.hpp"

namespace sinew::os {

namespace {
std::int64_t read(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
}  // namespace

std::int64_t now_ns() noexcept {
  return read(CLOCK_MONOTONIC);
}

std::int64_t coarse_now_ns() noexcept {
  return read(CLOCK_MONOTONIC_COARSE);
}

std::int64_t thread_time_ns() noexcept {
  return read(CLOCK_THREAD_CPUTIME_ID);
}

void sleep_for(std::chrono::nanoseconds time) {
  const base::Uncancellable whole;
  std::this_thread::sleep_for(time);
}

}  // namespace sinew::os
