// Files by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace sinew::os {

/// What identifies a file in this machine, whatever name or descriptor leads to it.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// The whole file as it is now, such as those of /proc; nothing when it cannot be opened or read.
std::optional<std::string> read_file(const std::string& path);

struct NamedFile {
  FileIdentity identity;
  bool is_socket = false;
};
/// What stands under that name, itself and not what a symbolic link leads to; nothing when there is nothing or one may not look.
std::optional<NamedFile> look_at_file(const std::string& path) noexcept;

/// From the root, without '.' and '..', which are left out by their words: a symbolic link may lead elsewhere.
std::string absolute_path(const std::string& path);
/// The folder, from the root, in which that name stands.
std::string folder_of(const std::string& path);

/// True when this user may execute that file.
bool is_executable(const std::string& path) noexcept;

/// Lets every user read and write that file, or connect to that socket. Throws Error(unavailable).
void open_to_everybody(const std::string& path);

/// Removes that name. False when it still stands there, for whatever reason, or never did.
bool remove_file(const std::string& path) noexcept;

}  // namespace sinew::os
