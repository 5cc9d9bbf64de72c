// Containers for the processes of a cell.
#pragma once

namespace sinew::bench {

/// Goes on in mount, PID, IPC and network namespaces of its own, as containers have, in a new process; the old one waits for that, and ends as it did. All files stay where they are, with a /proc of the container's own.
/// Throws std::system_error; it needs root.
void enter_container();

}  // namespace sinew::bench
