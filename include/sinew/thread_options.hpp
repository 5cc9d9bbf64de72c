// How an execution thread is to be run by the system.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "sinew/detail/language.hpp"

namespace sinew {

/// After the policies of POSIX, see sched(7).
enum class Scheduling {
  other,        ///< as ordinary threads
  fifo,         ///< before all ordinary threads, until it waits
  round_robin,  ///< the same, in turns with threads of the same priority
};

/// What cannot be had (Scheduling::fifo and round_robin need CAP_SYS_NICE or a limit of rtprio, a core may be missing) is left out, with a warning in the log that says what to do.
struct ThreadOptions {
  /// As debuggers and top show it; at most 15 bytes. Empty: "sinew-run".
  std::string name{};
  Scheduling scheduling = Scheduling::other;
  /// 1 to 99 for fifo and round_robin; 0 for other.
  int priority = 0;
  /// The cores that it may run on; empty: those of the thread that made it; of an execution thread that was bound, those it had before.
  std::vector<unsigned> cpus{};
  /// How long it looks for new messages, burning its core, before it goes to sleep. 0: it sleeps at once; nanoseconds::max(): it never does.
  std::chrono::nanoseconds spin{0};
};

}  // namespace sinew
