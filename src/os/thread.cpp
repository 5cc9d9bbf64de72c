#include "os/thread.hpp"

#include <pthread.h>
#include <sched.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include "os/call.hpp"
#include "os/failure.hpp"

namespace sinew::os {
namespace {

bool is_real_time(int policy) noexcept {
  return policy == SCHED_FIFO || policy == SCHED_RR || policy == SCHED_DEADLINE;
}

/// How a thread was before the library made it its own.
struct Before {
  bool has_signals = false, has_cores = false;
  sigset_t signals{};
  cpu_set_t cores{};
};
thread_local Before before_this_thread;

/// As long as it lives, what this thread starts may run on the cores that this one had before it was bound. They are more, so this one stays where it is.
class Unbound {
 public:
  Unbound() noexcept {
    is_bound_ = before_this_thread.has_cores && ::sched_getaffinity(0, sizeof own_, &own_) == 0 && set(before_this_thread.cores);
  }
  ~Unbound() {
    if (is_bound_) set(own_);
  }
  Unbound(const Unbound&) = delete;
  Unbound& operator=(const Unbound&) = delete;

 private:
  static bool set(const cpu_set_t& cores) noexcept {
    return call(fault::Call::schedule, [&] { return ::sched_setaffinity(0, sizeof cores, &cores); }) >= 0;
  }

  cpu_set_t own_{};
  bool is_bound_ = false;
};

/// As long as it lives, signals are blocked here, and in what is started: a signal must not find a thread before that has blocked them itself.
class Blocked {
 public:
  Blocked() noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    // These are for the thread that has caused them, in a callback of the user's. Blocked, a fault would end the process past the user's handler.
    for (const int own : {SIGPIPE, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&blocked, own);
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  }
  ~Blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;

  const sigset_t& users() const noexcept { return before_this_thread.has_signals ? before_this_thread.signals : before_; }

 private:
  sigset_t before_{};
};

}  // namespace

std::thread start_thread(const std::string& name, std::function<void()> body) {
  const Unbound unbound;
  const Blocked blocked;
  int error = 0;
  try {
    if (fault::inject(fault::Call::thread)) throw std::system_error(errno, std::generic_category());
    return std::thread([name, signals = blocked.users(), work = std::move(body)] {
      before_this_thread.signals = signals;
      before_this_thread.has_signals = true;
      name_this_thread(name.c_str());
      work();
    });
  } catch (const std::system_error& refused) {
    error = refused.code().value();
  }
  fail(error, "cannot start the thread '" + name + "'", ErrorKind::exhausted,
       error == EAGAIN ? "; raise the limit of threads (ulimit -u, or pids.max of its container)" : "");
}

void restore_users_signals() noexcept {
  if (before_this_thread.has_signals) ::pthread_sigmask(SIG_SETMASK, &before_this_thread.signals, nullptr);
}

void name_this_thread(const char* name) noexcept {
  std::array<char, 16> kept{};
  std::strncpy(kept.data(), name, kept.size() - 1);
  ::pthread_setname_np(::pthread_self(), kept.data());
}

std::string schedule_this_thread(Scheduling scheduling, int priority) {
  if (scheduling == Scheduling::other && !is_real_time(::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK)) return {};
  const int policy = scheduling == Scheduling::fifo ? SCHED_FIFO : scheduling == Scheduling::round_robin ? SCHED_RR : SCHED_OTHER;
  const sched_param parameters{.sched_priority = priority};
  // What it starts is ordinary: a thread beside a real-time one that spins would else wait for its turn for ever.
  const int flags = is_real_time(policy) ? SCHED_RESET_ON_FORK : 0;
  if (call(fault::Call::schedule, [&] { return ::sched_setscheduler(0, policy | flags, &parameters); }) >= 0) return {};
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
  cpu_set_t before;
  const bool is_first = !before_this_thread.has_cores && ::sched_getaffinity(0, sizeof before, &before) == 0;
  if (call(fault::Call::schedule, [&] { return ::sched_setaffinity(0, sizeof set, &set); }) >= 0) {
    if (is_first) {
      before_this_thread.cores = before;
      before_this_thread.has_cores = true;
    }
    return {};
  }
  return "cannot be kept on core " + named + ": " + std::strerror(errno) +
         (errno == EINVAL ? " (none of them is there, or none is allowed here: see 'nproc' and 'taskset -p $$')" : "");
}

}  // namespace sinew::os
