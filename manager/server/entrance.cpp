#include "manager/server/entrance.hpp"

#include <chrono>

#include "os/file.hpp"
#include "os/process.hpp"
#include "os/socket.hpp"
#include "sinew/error.hpp"

namespace sinew::manager {
namespace {

constexpr int first_inherited = 3;
constexpr std::chrono::seconds patience{5};  // with somebody who is about to start a manager

}  // namespace

Entrance::Entrance(os::Fd socket, std::string path, bool owns_file)
    : socket_(std::move(socket)), path_(std::move(path)), owns_file_(owns_file) {
  if (const auto file = os::look_at_file(path_)) file_ = file->identity;
}

Entrance Entrance::bind(const std::string& path) {
  const os::Fd lock = os::lock_folder(os::folder_of(path), patience);
  if (os::connect_to(path)) {
    throw Error(ErrorKind::unavailable,
                "a manager is running already and listens at '" + path +
                    "': nodes of this domain use it. Stop it first, or choose another domain with SINEW_DOMAIN or --socket.");
  }
  if (const auto file = os::look_at_file(path)) {
    if (!file->is_socket) {
      throw Error(ErrorKind::unavailable, "sinewd cannot listen at '" + path +
                                              "': something that is not a socket has this name. Remove it, or choose "
                                              "another path with --socket.");
    }
    os::remove_file(path);  // if it cannot be removed, binding says why
  }
  return {os::listen_at(path), path, true};
}

Entrance Entrance::inherited(bool owns_file) {
  os::Fd socket(first_inherited);
  std::string path = os::adopt_listener(socket);
  return {std::move(socket), std::move(path), owns_file};
}

void Entrance::open_to_everybody() const {
  os::open_to_everybody(path_);
}

std::optional<os::Fd> Entrance::try_to_lock() const {
  return os::try_to_lock_folder(os::folder_of(path_));
}

os::Fd Entrance::watch_name() const {
  return os::watch_name(path_);
}

bool Entrance::has_lost_name() const noexcept {
  return file_ && os::leads_elsewhere(path_, *file_);
}

void Entrance::remove_file() const noexcept {
  const auto file = os::look_at_file(path_);
  if (owns_file_ && file && file->identity == file_) os::remove_file(path_);
}

}  // namespace sinew::manager
