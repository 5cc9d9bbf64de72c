// Processes: starting the manager, finding programs, fork, death of a peer.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "os/fd.hpp"

namespace sinew::os {

/// Starts `program` in a session of its own with stdin and stdout on /dev/null, stderr kept, and `inherited` as descriptor 3 (every other one is closed on exec).
/// Waits until the started process has exited or, for a daemon, until its first process has: the program is expected to fork and to let its parent exit with 0.
/// Throws Error(unavailable), naming the program, when it cannot be started or exits with another status.
void start_daemon(const std::string& program, const std::vector<std::string>& arguments, const Fd& inherited);

/// The folder of the file (program or shared library) that contains `address`, by dladdr; empty when unknown.
std::string folder_of_code(const void* address);

/// An exclusive lock on a folder, held until the result is destroyed. Leaves no file behind. Blocks until it is free. Throws Error(unavailable).
Fd lock_folder(const std::string& folder);

/// A descriptor that becomes readable when the process dies, or an empty one where the kernel or a namespace does not allow it.
Fd open_pidfd(pid_t pid) noexcept;

/// Runs `child` in every child of fork(), before fork returns there. At most eight callbacks per process; no-op duplicates are the caller's duty.
void on_fork_in_child(void (*child)() noexcept);

/// Names the calling thread for debuggers and top (at most 15 bytes are kept).
void name_this_thread(const char* name) noexcept;

}  // namespace sinew::os
