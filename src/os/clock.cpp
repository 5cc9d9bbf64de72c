#include "os/clock.hpp"

#include <ctime>
#include <thread>

#include "base/cancel.hpp"

namespace sinew::os {

std::int64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void sleep_for(std::chrono::nanoseconds time) {
  const base::Uncancellable whole;
  std::this_thread::sleep_for(time);
}

}  // namespace sinew::os
