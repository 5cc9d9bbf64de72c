// Files by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "os/fd.hpp"

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
  /// Not so while it is being removed: the kernel tells of that, as to watch_name(), before nobody finds it there any more. Nor where it is mounted there and was removed elsewhere.
  bool has_name = true;
};
/// What stands under that name, itself and not what a symbolic link leads to; nothing when there is nothing or one may not look.
std::optional<NamedFile> look_at_file(const std::string& path) noexcept;
/// That path leads to nothing, to another file than this, or to this one though it has no name any more. False where one cannot tell.
bool leads_elsewhere(const std::string& path, const FileIdentity& identity) noexcept;

/// Becomes readable when somebody may have taken this name from its file: has removed or renamed it, put another in its place, or renamed a folder on the way to it. Then and for other reasons, too, so
/// leads_elsewhere() is to be asked. Unnoticed: what is mounted over it, and the renaming of a folder that this process may not read. Costs nothing while nothing happens to the file itself.
/// Throws Error(exhausted) where the kernel has no more of it to give, Error(unavailable) where the file is not there or not to be watched.
Fd watch_name(const std::string& path);
/// What has happened so far is known.
void drain_watch(const Fd& watch) noexcept;

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
