// Where the manager's configuration stands.
#pragma once

#include <string>

#include "manager/state/access.hpp"

namespace sinew::manager {

/// The configuration's path: `named` unless it is empty, else SINEW_CONFIG, else the first that exists of $XDG_CONFIG_HOME/sinew/sinewd.json
/// (~/.config/sinew/sinewd.json where that is not set) and /etc/sinew/sinewd.json. Absolute; empty when there is none.
std::string find_config(const std::string& named);

/// What the file at `path` says; nothing for an empty path. Throws Error(invalid_argument) when it cannot be read or is not as it must be.
AccessRules load_config(const std::string& path);

}  // namespace sinew::manager
