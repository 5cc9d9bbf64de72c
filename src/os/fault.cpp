#include "os/fault.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace sinew::os::fault {
namespace {

constexpr std::size_t calls = static_cast<std::size_t>(Call::count_of_calls);

// Call, number and error in one word, so that a thread never sees half of an old wish and half of a new one.
constexpr std::uint64_t nothing_armed = 0;
constexpr std::uint64_t pack(Call call, int nth, int error) noexcept {
  return std::uint64_t{static_cast<std::uint8_t>(call)} << 56 | std::uint64_t{static_cast<std::uint16_t>(error)} << 32 |
         static_cast<std::uint32_t>(nth);
}

// Stays false in a process that never arms a fault: then inject() is one load. relaxed: a fault is armed before what it strikes begins
std::atomic<bool> watching{false};
// pair ARMED: who sees a fault counts from zero.
std::atomic<std::uint64_t> armed{nothing_armed};
// pair COUNTS: who counts from zero does not see the fault of before.
std::array<std::atomic<int>, calls> counts{};

void start_over(std::uint64_t wish) noexcept {
  armed.store(nothing_armed, std::memory_order_release);                 // sync: ARMED (with inject)
  for (auto& count : counts) count.store(0, std::memory_order_release);  // sync: COUNTS (with inject)
  armed.store(wish, std::memory_order_release);                          // sync: ARMED (with inject)
  watching.store(true, std::memory_order_relaxed);
}

}  // namespace

void arm(Call call, int nth, int error) noexcept {
  start_over(pack(call, nth, error));
}

void disarm() noexcept {
  start_over(nothing_armed);
}

int passed(Call call) noexcept {
  return counts[static_cast<std::size_t>(call)].load(std::memory_order_acquire);  // sync: COUNTS (with inject)
}

bool inject(Call call) noexcept {
  if (!watching.load(std::memory_order_relaxed)) return false;
  const std::uint64_t wish = armed.load(std::memory_order_acquire);                                    // sync: ARMED (with start_over)
  const int nth = counts[static_cast<std::size_t>(call)].fetch_add(1, std::memory_order_acq_rel) + 1;  // sync: COUNTS (with start_over)
  // Another wish than before: the call was counted for one of them, and it is not known for which.
  if (armed.load(std::memory_order_acquire) != wish) return false;  // sync: ARMED (with start_over)
  const int error = static_cast<int>(wish >> 32 & 0xffff);
  if (wish == nothing_armed || wish != pack(call, nth, error)) return false;
  errno = error;
  return true;
}

}  // namespace sinew::os::fault
