// The users and groups of this machine by their names.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace sinew::os {

/// The number of a user; nothing for a name that this machine, or the directory it asks, does not know. May wait for that directory. Not thread-safe.
std::optional<uid_t> user_by_name(const std::string& name);
/// As user_by_name, of a group.
std::optional<gid_t> group_by_name(const std::string& name);

}  // namespace sinew::os
