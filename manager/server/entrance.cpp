#include "manager/server/entrance.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <optional>

#include "os/process.hpp"
#include "os/socket.hpp"
#include "sinew/error.hpp"

namespace sinew::manager {
namespace {

constexpr int first_inherited = 3;

struct File {
  os::FileIdentity identity;
  bool is_socket = false;
};

/// The file of that name, which, unlike the socket behind it, cannot be opened.
std::optional<File> file_at(const std::string& path) noexcept {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return File{{status.st_dev, status.st_ino}, S_ISSOCK(status.st_mode)};
}

std::string folder_of(const std::string& path) {
  return std::filesystem::absolute(path).parent_path().string();
}

Error unusable(const std::string& reason) {
  return {ErrorKind::invalid_argument, "sinewd was told to listen at descriptor 3, but " + reason +
                                           ". It must be a listening, named unix socket of type SOCK_SEQPACKET: in a systemd socket unit, "
                                           "ListenSequentialPacket=/path/of/the/socket."};
}

int option(int socket, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

}  // namespace

Entrance::Entrance(os::Fd socket, std::string path, bool owns_file)
    : socket_(std::move(socket)), path_(std::move(path)), owns_file_(owns_file) {
  if (const auto file = file_at(path_)) file_ = file->identity;
}

Entrance Entrance::bind(const std::string& path) {
  const os::Fd lock = os::lock_folder(folder_of(path));
  if (os::connect_to(path)) {
    throw Error(ErrorKind::unavailable,
                "a manager is running already and listens at '" + path +
                    "': nodes of this domain use it. Stop it first, or choose another domain with SINEW_DOMAIN or --socket.");
  }
  if (const auto file = file_at(path)) {
    if (!file->is_socket) {
      throw Error(ErrorKind::unavailable, "sinewd cannot listen at '" + path +
                                              "': something that is not a socket has this name. Remove it, or choose "
                                              "another path with --socket.");
    }
    ::unlink(path.c_str());  // if it cannot be removed, binding says why
  }
  return {os::listen_at(path), path, true};
}

Entrance Entrance::inherited(bool owns_file) {
  os::Fd socket(first_inherited);
  if (option(first_inherited, SO_TYPE) != SOCK_SEQPACKET) throw unusable("that is not a socket of this type");
  if (option(first_inherited, SO_ACCEPTCONN) != 1) throw unusable("that socket does not listen");
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(first_inherited, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sun_family != AF_UNIX ||
      size <= offsetof(sockaddr_un, sun_path) || address.sun_path[0] == '\0') {
    throw unusable("that socket has no name in the file system");
  }
  ::fcntl(first_inherited, F_SETFD, FD_CLOEXEC);
  ::fcntl(first_inherited, F_SETFL, O_NONBLOCK);
  // The kernel does not end the name with a zero when it fills the whole field.
  const std::size_t length = ::strnlen(address.sun_path, size - offsetof(sockaddr_un, sun_path));
  return {std::move(socket), std::string(address.sun_path, length), owns_file};
}

os::Fd Entrance::lock() const {
  return os::lock_folder(folder_of(path_));
}

void Entrance::remove_file() const noexcept {
  const auto file = file_at(path_);
  if (owns_file_ && file && file->identity == file_) ::unlink(path_.c_str());
}

}  // namespace sinew::manager
