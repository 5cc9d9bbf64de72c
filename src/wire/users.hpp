// Whose a process is, as nodes and the manager compare it.
#pragma once

#include <cstdint>

namespace sinew::wire {

/// What the kernel shows for users that have no number in this user namespace: many people, hence nobody's friend.
inline constexpr std::uint32_t overflow_user = 65534;

/// Whether two processes belong to one user (W37).
constexpr bool is_same_user(std::uint32_t one, std::uint32_t other) {
  return one == other && one != overflow_user;
}

}  // namespace sinew::wire
