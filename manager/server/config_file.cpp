#include "manager/server/config_file.hpp"

#include <cstdlib>

#include "manager/state/config.hpp"
#include "os/account.hpp"
#include "os/file.hpp"
#include "os/process.hpp"
#include "sinew/error.hpp"

namespace sinew::manager {
namespace {

constexpr const char* of_the_machine = "/etc/sinew/sinewd.json";

/// Empty when it is not set.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::string find_config(const std::string& named) {
  for (const std::string& path : {named, variable("SINEW_CONFIG")}) {
    if (!path.empty()) return os::absolute_path(path);
  }
  std::string folder = variable("XDG_CONFIG_HOME");
  if (const std::string home = variable("HOME"); folder.empty() && !home.empty()) folder = home + "/.config";
  if (folder.starts_with('/')) {  // the XDG specification: all others are to be ignored
    if (const std::string path = folder + "/sinew/sinewd.json"; os::look_at_file(path)) return path;
  }
  return os::look_at_file(of_the_machine) ? of_the_machine : "";
}

AccessRules load_config(const std::string& path) {
  if (path.empty()) return {};
  // What cannot be read is no reason to allow everything.
  const auto text = os::read_file(path);
  if (!text) {
    throw Error(ErrorKind::invalid_argument, "sinewd cannot read its configuration '" + path + "': it is not there, is no file, or user " +
                                                 std::to_string(os::this_user()) +
                                                 " may not read it. Correct that, or name another with --config or SINEW_CONFIG.");
  }
  return parse_config(*text, path, {os::user_by_name, os::group_by_name});
}

}  // namespace sinew::manager
