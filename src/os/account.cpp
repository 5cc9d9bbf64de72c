#include "os/account.hpp"

#include <grp.h>
#include <pwd.h>

namespace sinew::os {

std::optional<uid_t> user_by_name(const std::string& name) {
  const passwd* const entry = ::getpwnam(name.c_str());
  return entry != nullptr ? std::optional(entry->pw_uid) : std::nullopt;
}

std::optional<gid_t> group_by_name(const std::string& name) {
  const group* const entry = ::getgrnam(name.c_str());
  return entry != nullptr ? std::optional(entry->gr_gid) : std::nullopt;
}

}  // namespace sinew::os
