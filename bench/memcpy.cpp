#include <cstring>

#include "clock.hpp"
#include "floor.hpp"
#include "shared_slots.hpp"

namespace sinew::bench {

Samples measure_memcpy(const Cell& cell) {
  const SharedSlots slots(cell.size, 0);
  slots.touch(true);
  std::vector<std::uint8_t> source(cell.size);
  Samples samples;
  samples.latency.reserve(cell.count);
  const std::int64_t cpu = cpu_ns(), begin = now_ns();
  Pacer pacer(cell.rate, 0);
  for (std::uint64_t i = 0; i < cell.count; ++i) {
    pacer.wait();
    std::memset(source.data(), static_cast<int>(i & 0xff), source.size());
    const std::int64_t stamp = now_ns();
    std::memcpy(slots.payload(i).data(), source.data(), source.size());
    samples.latency.push_back(now_ns() - stamp);
  }
  samples.seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  samples.cpu = cpu_ns() - cpu;
  samples.publish = samples.latency;
  samples.bytes_copied = cell.size * cell.count;
  return samples;
}

}  // namespace sinew::bench
