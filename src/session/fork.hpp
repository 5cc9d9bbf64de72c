// After fork() the child's copy of the library is dead: its sockets are closed, its handles inert (S8 in docs/hazards.md).
//
// The kernel would otherwise keep the parent's sockets open in the child, so that peers never see the parent die. Shared memory is not inherited at
// all (MADV_DONTFORK). A raw clone() runs no handlers; there the peers' pidfd is the second sign of death.
#pragma once

namespace sinew::session {

/// True in a process that was forked from one that used sinew: nothing mapped may be touched, no thread of the library exists.
bool forked() noexcept;

/// Registers a descriptor that the child must not keep. At most 16384 at a time; more are not closed in the child. Thread-safe, lock-free.
void close_in_child(int fd) noexcept;
void forget_in_child(int fd) noexcept;

}  // namespace sinew::session
