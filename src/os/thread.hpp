// Threads of the kernel.
#pragma once

#include <span>
#include <string>

#include "sinew/thread_options.hpp"

namespace sinew::os {

/// Why the calling thread cannot be scheduled like that, and what to do; empty when it is now. `priority`: 1 to 99, 0 for Scheduling::other.
std::string schedule_this_thread(Scheduling scheduling, int priority);
/// Likewise why it cannot be kept on these cores.
std::string bind_this_thread(std::span<const unsigned> cpus);
/// Cores are numbered up to this.
inline constexpr unsigned most_cpus = 1024;

}  // namespace sinew::os
