// How src/os enters the kernel.
#pragma once

#include <cerrno>

#include "os/fault.hpp"

namespace sinew::os {

/// Runs `enter` (which returns -1 and sets errno on failure) unless a fault is due, and again when a signal interrupted it.
template <class Enter>
auto call(fault::Call kind, Enter enter) noexcept -> decltype(enter()) {
  for (;;) {
    const auto result = fault::inject(kind) ? decltype(enter()){-1} : enter();
    if (result != -1 || errno != EINTR) return result;
  }
}

}  // namespace sinew::os
