// In which container a process runs.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace sinew::os {

/// The name by which people know it: the first 12 digits of a Docker, Podman or Kubernetes container's id, the name of an LXC or systemd-nspawn machine; of other processes with a PID namespace of their own
/// "pid namespace N". Empty: none, the caller's own, or unknown, as of processes that are gone or hidden.
std::string container_of(pid_t pid);

/// The same from the text of /proc/PID/cgroup; empty where it names none.
std::string container_in(std::string_view cgroups);

}  // namespace sinew::os
