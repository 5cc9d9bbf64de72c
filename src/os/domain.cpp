#include "os/domain.hpp"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "os/call.hpp"
#include "os/failure.hpp"

namespace sinew::os {
namespace {

constexpr std::size_t longest_path = sizeof(sockaddr_un::sun_path) - 1;

bool fits_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

struct Place {
  std::string folder;
  bool is_among_others = false;  // in a folder where everybody may make one
};

Place place_of_domains() {
  const char* const xdg = std::getenv("XDG_RUNTIME_DIR");
  if (xdg == nullptr || *xdg == '\0') {
    const uid_t user = ::geteuid();
    return user == 0 ? Place{"/run/sinew"} : Place{"/tmp/sinew-" + std::to_string(user), true};
  }
  if (*xdg != '/') {
    throw Error(ErrorKind::invalid_argument,
                "sinew cannot use XDG_RUNTIME_DIR='" + std::string(xdg) +
                    "': it must be an absolute path. Correct it, unset it, or set SINEW_DOMAIN to a socket path.");
  }
  return {std::string(xdg) + "/sinew"};
}

// Somebody else may have been there first, to be asked by us for what only our manager may be asked.
void require_own(const std::string& folder) {
  struct stat status{};
  if (call(fault::Call::lstat, [&] { return ::lstat(folder.c_str(), &status); }) != 0) {
    fail(errno, "cannot look at the folder '" + folder + "' for the domain's socket", ErrorKind::unavailable);
  }
  if (S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return;
  throw Error(
      ErrorKind::unavailable,
      "sinew does not use the folder '" + folder +
          "' for the domain's socket: it is not this user's alone. Remove it, set XDG_RUNTIME_DIR to a folder of yours, or SINEW_DOMAIN to "
          "the path of a socket in one.");
}

void make_folder(const std::string& folder) {
  if (call(fault::Call::mkdir, [&] { return ::mkdir(folder.c_str(), S_IRWXU); }) == 0 || errno == EEXIST) return;
  fail(errno,
       "cannot make the folder '" + folder +
           "' for the domain's socket (set XDG_RUNTIME_DIR to a folder of yours, or SINEW_DOMAIN to the path of a socket in one)",
       ErrorKind::unavailable);
}

void make(const Place& place) {
  make_folder(place.folder);
  if (place.is_among_others) require_own(place.folder);
}

std::string path_that_fits(std::string path) {
  if (path.size() <= longest_path) return path;
  throw Error(ErrorKind::invalid_argument, "sinew cannot listen at '" + path + "': a socket path has at most " +
                                               std::to_string(longest_path) + " bytes and this one has " + std::to_string(path.size()) +
                                               ". Set SINEW_DOMAIN to a shorter name, or to the path of a socket with a '/' in it.");
}

}  // namespace

std::string domain_socket_path(const char* domain) {
  const std::string_view wanted = domain == nullptr || *domain == '\0' ? "default" : domain;
  if (wanted.find('/') != wanted.npos) return path_that_fits(std::filesystem::absolute(wanted).lexically_normal());
  if (!std::ranges::all_of(wanted, fits_a_name)) {
    throw Error(ErrorKind::invalid_argument,
                "sinew cannot use the domain name '" + std::string(wanted) +
                    "': a name consists of letters, digits, '_', '-' and '.'; with a '/' it is the path of a socket.");
  }
  const Place place = place_of_domains();
  std::string path = path_that_fits(place.folder + "/" + std::string(wanted) + ".sock");
  make(place);
  return path;
}

void restore_domain_folder(const std::string& socket_path) {
  const char* const xdg = std::getenv("XDG_RUNTIME_DIR");
  if (xdg != nullptr && *xdg != '\0' && *xdg != '/') return;
  if (const Place place = place_of_domains(); socket_path.substr(0, socket_path.rfind('/')) == place.folder) make(place);
}

}  // namespace sinew::os
