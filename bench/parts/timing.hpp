// Timing operations that are too short for a clock: many at once, and sinew's beside the floor's.
#pragma once

#include <algorithm>
#include <cstdint>

#include "clock.hpp"
#include "parts/part.hpp"
#include "parts/trace.hpp"

namespace sinew::bench {

/// For the compiler the memory behind `address` is read here, and may change: what was done to it cannot be left out, nor be done once for several rounds.
inline void look_at(const void* address) noexcept {
  asm volatile("" : : "r"(address) : "memory");
}

/// Each of a few calls of `work` between its marks.
template <class Work>
void mark(Marks& marks, std::uint64_t operations, Work& work, Whose whose) {
  volatile std::uint64_t& begins = whose == Whose::sinew ? marks.sinew_begins : marks.floor_begins;
  for (std::uint64_t i = 0; i < std::min(operations, marked_operations); ++i) {
    begins = i;
    work();
    marks.ends = i;
  }
}

/// Nanoseconds of one call of `work`, over as many as `operations`. Nothing is timed where operations are marked.
template <class Work>
double time_of(std::uint64_t operations, Work& work, Whose whose = Whose::sinew) {
  if (Marks* const places = marks(); places != nullptr) {
    mark(*places, operations, work, whose);
    return 0;
  }
  const std::int64_t before = now_ns();
  for (std::uint64_t i = 0; i < operations; ++i) work();
  return static_cast<double>(now_ns() - before) / static_cast<double>(operations);
}

/// Batches before those that count: caches, branch predictors and the heap get to know the work.
constexpr std::uint64_t warm_ups(std::uint64_t batches) {
  return 2 + batches / 10;
}

/// A batch of each in turns, so that a drift of the machine meets both; which of the two comes first changes every time.
template <class Sinew, class Floor>
Outcome side_by_side(std::uint64_t batches, std::uint64_t operations, Sinew sinew, Floor floor) {
  Outcome outcome;
  for (std::uint64_t i = 0; i < warm_ups(batches) + batches; ++i) {
    const bool floor_first = i % 2 == 0;
    double of_floor = floor_first ? time_of(operations, floor, Whose::floor) : 0;
    const double of_sinew = time_of(operations, sinew);
    if (!floor_first) of_floor = time_of(operations, floor, Whose::floor);
    if (i < warm_ups(batches)) continue;
    outcome.sinew.push_back(of_sinew);
    outcome.floor.push_back(of_floor);
  }
  return outcome;
}

template <class Sinew>
Outcome alone(std::uint64_t batches, std::uint64_t operations, Sinew sinew) {
  Outcome outcome;
  for (std::uint64_t i = 0; i < warm_ups(batches) + batches; ++i) {
    const double time = time_of(operations, sinew);
    if (i >= warm_ups(batches)) outcome.sinew.push_back(time);
  }
  return outcome;
}

}  // namespace sinew::bench
