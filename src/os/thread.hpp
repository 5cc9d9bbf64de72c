// Threads of the kernel.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <thread>

#include "sinew/thread_options.hpp"

namespace sinew::os {

/// Starts a thread of the library: named (at most 15 bytes are kept), and with all signals blocked, since those are for the user's threads, but those that a thread
/// causes itself: faults, and SIGPIPE. One that is started by a thread that schedule_this_thread() and bind_this_thread() were called on has nothing of that: it is for others to run beside.
/// Throws Error(exhausted) when the system has no thread to give.
std::thread start_thread(const std::string& name, std::function<void()> body);
/// In a forked child of a thread of the library: the signals that a thread of the user's had blocked, which has started the library's, are blocked again, and no others. Programs keep that
/// when they start, and would hear of no SIGTERM. Async-signal-safe.
void restore_users_signals() noexcept;
/// Names the calling thread for debuggers and top (at most 15 bytes are kept).
void name_this_thread(const char* name) noexcept;

/// Why the calling thread cannot be scheduled like that, and what to do; empty when it is now. `priority`: 1 to 99, 0 for Scheduling::other.
std::string schedule_this_thread(Scheduling scheduling, int priority);
/// Likewise why it cannot be kept on these cores.
std::string bind_this_thread(std::span<const unsigned> cpus);
/// Cores are numbered up to this.
inline constexpr unsigned most_cpus = 1024;

}  // namespace sinew::os
