// The text of the manager's configuration, and what it means.
#pragma once

#include <functional>
#include <string>

#include "manager/state/access.hpp"

namespace sinew::manager {

/// The numbers of users and groups by their names; nothing for a name that means nothing here.
struct Accounts {
  std::function<std::optional<User>(const std::string&)> user;
  std::function<std::optional<Group>(const std::string&)> group;
};

/// What the JSON in `text` says, in which there may be comments; `file` is what it is called in sentences. Throws Error(invalid_argument) with the line and
/// column of what is no JSON, or the path of a value that does not belong there, such as access[1].publish.uid[0].
AccessRules parse_config(const std::string& text, const std::string& file, const Accounts& accounts);

}  // namespace sinew::manager
