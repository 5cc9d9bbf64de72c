// Where a domain's manager listens.
#pragma once

#include <string>

namespace sinew::os {

/// The path of the domain's socket. `domain` is what SINEW_DOMAIN says, null when it is not set:
/// * with a '/' in it, it is the path itself (made absolute); its folder must exist;
/// * else it is a name of letters, digits, '_', '-' and '.' ("default" when null or empty), and the path is
///   $XDG_RUNTIME_DIR/sinew/NAME.sock. Where XDG_RUNTIME_DIR is not set, as in containers and services, it is /run/sinew/NAME.sock for root,
///   and /tmp/sinew-UID/NAME.sock for other users.
///   The folder is made when missing, for this user alone (mode 0700); one in /tmp must be so.
/// Throws Error(invalid_argument) for a bad name or a path longer than a socket address holds, Error(unavailable) when the folder cannot be
/// made, or is somebody else's.
std::string domain_socket_path(const char* domain);

/// Makes the folder of that socket once more where domain_socket_path() has made it and it is gone since, as $XDG_RUNTIME_DIR is when its user has logged out; any other
/// folder is its user's to make. Throws Error(unavailable) as above.
void restore_domain_folder(const std::string& socket_path);

}  // namespace sinew::os
