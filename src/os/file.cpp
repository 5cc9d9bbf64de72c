#include "os/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

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
  return NamedFile{{status.st_dev, status.st_ino}, S_ISSOCK(status.st_mode)};
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
