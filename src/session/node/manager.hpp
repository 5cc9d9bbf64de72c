// Reaching the manager of a domain, starting it when nobody has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "os/fd.hpp"
#include "sinew/error.hpp"

namespace sinew::session {

/// What a `kind` of the protocol stands for.
inline ErrorKind error_kind_of(std::uint32_t kind) noexcept {
  return kind <= static_cast<std::uint32_t>(ErrorKind::system) ? static_cast<ErrorKind>(kind) : ErrorKind::system;
}

/// A connected socket to the manager that listens at `socket_path`. When none does, this process takes the lock of the folder, binds the socket itself, and starts
/// `sinewd` with it, so that any number of nodes may start at once and none waits for another's manager to be ready. Blocks for the lock and the start.
/// Throws Error(unavailable) with what was tried, Error(denied) when the manager belongs to neither this user nor root (F8).
os::Fd reach_manager(const std::string& socket_path);
/// The same where one listens already; nothing where none does.
std::optional<os::Fd> find_manager(const std::string& socket_path);

}  // namespace sinew::session
