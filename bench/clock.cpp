#include "clock.hpp"

#include <cerrno>
#include <ctime>

namespace sinew::bench {

namespace {

constexpr std::int64_t second = 1'000'000'000;

std::int64_t read(clockid_t clock) noexcept {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * second + time.tv_nsec;
}

}  // namespace

std::int64_t now_ns() noexcept {
  return read(CLOCK_MONOTONIC);
}

std::int64_t cpu_ns() noexcept {
  return read(CLOCK_PROCESS_CPUTIME_ID);
}

std::int64_t thread_cpu_ns() noexcept {
  return read(CLOCK_THREAD_CPUTIME_ID);
}

Pacer::Pacer(double rate, double share)
    : period_(rate > 0 ? static_cast<std::int64_t>(second / rate) : 0),
      due_(now_ns() + static_cast<std::int64_t>(static_cast<double>(period_) * share)) {}

void Pacer::wait() {
  if (period_ == 0) return;
  const timespec due{due_ / second, due_ % second};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr) == EINTR) {
  }
  due_ += period_;
}

}  // namespace sinew::bench
