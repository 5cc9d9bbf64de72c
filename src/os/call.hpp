// How src/os enters the kernel.
#pragma once

#include <unistd.h>

#include <cerrno>

#include "base/cancel.hpp"
#include "os/fault.hpp"

namespace sinew::os {

/// Runs `enter` (which returns -1 and sets errno on failure) unless a fault is due, and again when a signal interrupted it. Nobody is cancelled there.
template <class Enter>
auto call(fault::Call kind, Enter enter) noexcept -> decltype(enter()) {
  const base::Uncancellable whole;
  for (;;) {
    const auto result = fault::inject(kind) ? decltype(enter()){-1} : enter();
    if (result != -1 || errno != EINTR) return result;
  }
}

/// Never repeated on EINTR: Linux has closed the descriptor all the same, and its number may be another file's by now.
inline void close_once(int fd) noexcept {
  const base::Uncancellable whole;
  ::close(fd);
}

}  // namespace sinew::os
