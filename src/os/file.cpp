#include "os/file.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "os/call.hpp"
#include "os/failure.hpp"
#include "os/fd.hpp"

namespace sinew::os {

std::optional<std::string> read_file(const std::string& path) {
  const Fd file(call(fault::Call::open, [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t got = call(fault::Call::read, [&] { return ::read(file.get(), piece.data(), piece.size()); });
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

std::optional<NamedFile> look_at_file(const std::string& path) noexcept {
  struct stat status{};
  if (call(fault::Call::lstat, [&] { return ::lstat(path.c_str(), &status); }) != 0) return std::nullopt;
  return NamedFile{{status.st_dev, status.st_ino}, S_ISSOCK(status.st_mode), status.st_nlink > 0};
}

bool leads_elsewhere(const std::string& path, const FileIdentity& identity) noexcept {
  if (const auto file = look_at_file(path)) return !file->has_name || file->identity != identity;
  return errno == ENOENT || errno == ENOTDIR;
}

Fd watch_name(const std::string& path) {
  const auto refuse = [&](int error) {
    throw Error(error == ENOENT || error == EACCES ? ErrorKind::unavailable : ErrorKind::exhausted,
                "sinew cannot watch whether '" + path + "' stays where it is: " + std::generic_category().message(error) +
                    " (fs.inotify.max_user_instances and max_user_watches are what the kernel gives).");
  };
  Fd watch(call(fault::Call::inotify, [] { return ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC); }));
  if (!watch) refuse(errno);
  const auto add = [&](const std::string& name, std::uint32_t events) {
    return call(fault::Call::inotify, [&] { return ::inotify_add_watch(watch.get(), name.c_str(), events); }) >= 0;
  };
  // The file itself and not its folder, in which others may come and go all the time. That it has one name less is told as a change of its attributes.
  if (!add(path, IN_ATTRIB | IN_MOVE_SELF | IN_DONT_FOLLOW)) refuse(errno);
  for (std::string folder = folder_of(path); folder.size() > 1; folder = folder_of(folder)) {
    if (!add(folder, IN_MOVE_SELF | IN_ONLYDIR) && errno != EACCES) refuse(errno);
  }
  return watch;
}

void drain_watch(const Fd& watch) noexcept {
  std::array<std::byte, 4096> events;
  while (call(fault::Call::read, [&] { return ::read(watch.get(), events.data(), events.size()); }) > 0) {
  }
}

std::string absolute_path(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

std::string folder_of(const std::string& path) {
  return std::filesystem::absolute(path).parent_path().string();
}

bool is_executable(const std::string& path) noexcept {
  return ::access(path.c_str(), X_OK) == 0;
}

void open_to_everybody(const std::string& path) {
  constexpr mode_t everybody = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  if (call(fault::Call::chmod, [&] { return ::chmod(path.c_str(), everybody); }) != 0)
    fail(errno, "cannot open '" + path + "' to other users", ErrorKind::unavailable);
}

bool remove_file(const std::string& path) noexcept {
  return call(fault::Call::unlink, [&] { return ::unlink(path.c_str()); }) == 0;
}

}  // namespace sinew::os
