#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>

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

Samples measure_ping_pong(const Cell& cell, Bell bell) {
  Signal ping(bell), pong(bell);
  const pid_t echo = fork();
  if (echo < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (echo == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (std::uint64_t i = 0; i < cell.count; ++i) {
      ping.await();
      pong.ring();
    }
    _exit(0);
  }
  Samples samples;
  samples.latency.reserve(cell.count);
  samples.publish.reserve(cell.count);
  const std::int64_t cpu = cpu_ns(), begin = now_ns();
  Pacer pacer(cell.rate, 0);
  for (std::uint64_t i = 0; i < cell.count; ++i) {
    pacer.wait();
    const std::int64_t stamp = now_ns();
    ping.ring();
    samples.publish.push_back(now_ns() - stamp);
    pong.await();
    samples.latency.push_back((now_ns() - stamp) / 2);
  }
  samples.seconds = static_cast<double>(now_ns() - begin) * 1e-9;
  samples.cpu = cpu_ns() - cpu;
  int status = 0;
  rusage used{};
  while (wait4(echo, &status, 0, &used) < 0 && errno == EINTR) {
  }
  for (const timeval& part : {used.ru_utime, used.ru_stime}) samples.cpu += (part.tv_sec * 1'000'000 + part.tv_usec) * 1000;
  if (!WIFEXITED(status)) throw std::runtime_error("the other process of the ping-pong died");
  return samples;
}

}  // namespace sinew::bench
