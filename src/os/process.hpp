// Processes: starting the manager, finding programs, fork, death of a peer, threads of the library.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "os/fd.hpp"

namespace sinew::os {

/// Starts `program` (a path, or a name to look for in PATH) in a session of its own with stdin on /dev/null, stdout for saying why it fails, stderr kept,
/// `inherited` as descriptor 3, no signal blocked or ignored. Other descriptors that the user did not make close-on-exec arrive
/// too: the program calls close_descriptors_from(4).
/// Waits until the started process has exited or, for a daemon, until its first process has: the program is expected to fork and to let its
/// parent exit with 0. One that has not after 5 s is killed.
/// Throws Error(unavailable), naming the program, when it cannot be started, exits with another status or was killed; the text has what it wrote to stdout, and ends with `if_missing` where there is no such program, or none that may be executed. Where the user ignores SIGCHLD or
/// reaps every child, the status is not known and counts as 0.
void start_daemon(const std::string& program, const std::vector<std::string>& arguments, const Fd& inherited,
                  const std::string& if_missing = "");

/// What start_daemon() expects of the program: goes on in a child process, in the root folder and with descriptors 0 to 3 only, while the process that
/// called it exits with 0. Standard output leads where standard input does, and so does standard error unless `keep_stderr`. Not while other threads run. Throws
/// Error(exhausted) when there can be no other process, Error(system) else; then this process is as it was but for its folder.
void become_daemon(bool keep_stderr);

/// From now on SIGINT, SIGTERM and SIGHUP ring this eventfd, which must stay open, and do nothing else. Once in a process.
void ring_when_asked_to_end(const Fd& eventfd) noexcept;

/// Raises the soft limit of open descriptors to the hard one, as far as the kernel lets it.
void allow_many_descriptors() noexcept;

/// What this process has from who started it, of the processor, is as for any other: no real-time policy, no niceness and no bounds to some cores or to so many seconds, as far as the kernel lets it.
void take_ordinary_share_of_processor() noexcept;

/// Closes every descriptor of this process from `first` on. Kernels before 5.9 need /proc for it. Not while other threads run.
void close_descriptors_from(int first) noexcept;

pid_t this_process() noexcept;
/// The effective user, as peers see it in credentials.
uid_t this_user() noexcept;

/// The folder of the file (program or shared library) that is mapped at `address`, from /proc/self/maps; empty when unknown.
std::string folder_of_code(const void* address);

/// An exclusive lock on a folder, held until the result is destroyed. Leaves no file behind. Waits until it is free, for `patience`, or for ever when that is zero. Throws
/// Error(unavailable).
Fd lock_folder(const std::string& folder, std::chrono::milliseconds patience = std::chrono::milliseconds(0));
/// The same without waiting: nothing while another process holds it.
std::optional<Fd> try_to_lock_folder(const std::string& folder);
/// Lets go of the lock also where a child that was forked meanwhile has it, too.
void unlock_folder(const Fd& lock) noexcept;

/// A descriptor that becomes readable when the process dies, or an empty one where the kernel or a namespace does not allow it.
Fd open_pidfd(pid_t pid) noexcept;

/// Runs `child` in every child of fork() (not of vfork, posix_spawn or a bare clone), before fork returns there; callbacks run in the order
/// in which they were given. It may call only what is async-signal-safe. Throws Error(exhausted).
void on_fork_in_child(void (*child)() noexcept);

}  // namespace sinew::os
