// Closing what may take its time.
//
// close() of a socket that lingers, or of a file whose file system is a program (FUSE), lasts as long as the peer who sent the descriptor likes. No thread that
// others wait for may do that.
#pragma once

namespace sinew::os {

/// Shared memory and eventfds do. Asks nothing that could block.
bool closes_at_once(int fd) noexcept;

/// Closes the descriptor on a thread of its own, which is there only while it has something to do. One that never gets closed keeps those behind it open. Where no thread
/// can be had, it is closed here, but does not linger. In a forked child, which has no such thread, it is closed here as it is.
void close_aside(int fd) noexcept;

}  // namespace sinew::os
