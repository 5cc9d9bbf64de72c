// Who may exchange memory with this process: processes of the same user.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "os/socket.hpp"

namespace sinew::session {

/// True for the user of this process, unless that stands for all who have no number in this user namespace (W37).
bool is_own_user(uid_t user) noexcept;

/// Confirms the manager's verdict with what the kernel says of the sender of a pair's first message (F8): SO_PEERCRED on a pair would name
/// the manager. Throws Violation when the sender is another user, or one that this user namespace has no number for.
void require_user(const std::optional<os::Credentials>& credentials, bool same);

/// So many readers, or publishers, of other users has a publisher, or a subscription, at a time: each takes descriptors of this process, and time of whoever publishes.
inline constexpr std::size_t most_strangers = 64;
/// And so many connections, with those that have yet to begin: whoever is served is introduced again now and then, and so is whoever closes what it is given, and neither may take the place of one who waits.
inline constexpr std::size_t most_strangers_met = 2 * most_strangers;
/// Why `peer` is no more of them; `goes_on` says what it is not.
std::string too_many_strangers(const std::string& peer, const char* goes_on, const std::string& topic);

}  // namespace sinew::session
