#include <cstdlib>
#include <new>

#include "parts/outside.hpp"
#include "parts/timing.hpp"

namespace sinew::bench {

namespace {

// The functions themselves, not new expressions, which a compiler may leave out; malloc and free in pairs it would leave out too if nobody saw the block.
Outcome measure_pairs(std::uint64_t count, std::size_t size) {
  look_at(&size);  // no constant for either of them
  const auto sinew = [&] {
    void* const block = ::operator new(size);
    look_at(block);
    ::operator delete(block);
  };
  const auto floor = [&] {
    void* const block = std::malloc(size);
    look_at(block);
    std::free(block);
  };
  return side_by_side(count, 10'000, sinew, floor);
}

}  // namespace

Outcome measure_heap_16(std::uint64_t count) {
  return measure_pairs(count, 16);
}

Outcome measure_heap_256(std::uint64_t count) {
  return measure_pairs(count, 256);
}

}  // namespace sinew::bench
