#include "os/thread.hpp"

#include <sched.h>

#include <cerrno>
#include <cstring>

#include "os/call.hpp"

namespace sinew::os {
namespace {

bool is_real_time(int policy) noexcept {
  return policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
}

}  // namespace

std::string schedule_this_thread(Scheduling scheduling, int priority) {
  if (scheduling == Scheduling::other && !is_real_time(::sched_getscheduler(0))) return {};
  const int policy = scheduling == Scheduling::fifo ? SCHED_FIFO : scheduling == Scheduling::round_robin ? SCHED_RR : SCHED_OTHER;
  const sched_param parameters{.sched_priority = priority};
  if (call(fault::Call::schedule, [&] { return ::sched_setscheduler(0, policy, &parameters); }) >= 0) return {};
  return std::string("cannot run with ") +
         (policy == SCHED_FIFO ? "SCHED_FIFO"
          : policy == SCHED_RR ? "SCHED_RR"
                               : "SCHED_OTHER") +
         " at priority " + std::to_string(priority) + ": " + std::strerror(errno) +
         (errno == EPERM
              ? " (give the user a limit of rtprio in /etc/security/limits.d, or the program CAP_SYS_NICE: setcap cap_sys_nice+ep)"
              : "");
}

std::string bind_this_thread(std::span<const unsigned> cpus) {
  static_assert(most_cpus == CPU_SETSIZE);
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string named;
  for (const unsigned cpu : cpus) {
    CPU_SET(cpu, &set);
    named += (named.empty() ? "" : ", ") + std::to_string(cpu);
  }
  if (call(fault::Call::schedule, [&] { return ::sched_setaffinity(0, sizeof set, &set); }) >= 0) return {};
  return "cannot be kept on core " + named + ": " + std::strerror(errno) +
         (errno == EINVAL ? " (none of them is there, or none is allowed here: see 'nproc' and 'taskset -p $$')" : "");
}

}  // namespace sinew::os
