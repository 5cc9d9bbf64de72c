// The socket at which nodes find the manager: made by hand, by the first node, or by systemd.
#pragma once

#include <optional>
#include <string>

#include "os/fd.hpp"
#include "os/file.hpp"

namespace sinew::manager {

/// A listening socket and the file that names it.
class Entrance {
 public:
  /// Binds `path`. A socket file that nobody listens at is replaced. Throws Error(unavailable) when a manager runs there or the path is something else
  /// than a socket, or when another process has been about to start a manager in that folder for 5 s.
  static Entrance bind(const std::string& path);
  /// Takes over descriptor 3. `owns_file`: the file is ours to remove at the end. Throws Error(invalid_argument) when it is not a listening SOCK_SEQPACKET
  /// unix socket with a name.
  static Entrance inherited(bool owns_file);

  const os::Fd& socket() const { return socket_; }
  const std::string& path() const { return path_; }
  bool owns_file() const { return owns_file_; }
  /// Lets every user connect, as far as the folder lets them through. Throws Error(unavailable).
  void open_to_everybody() const;
  /// Excludes everybody who starts a manager in this folder; nothing while one of them excludes us. Throws Error(unavailable).
  std::optional<os::Fd> try_to_lock() const;
  /// Readable when has_lost_name() is to be asked. Throws Error.
  os::Fd watch_name() const;
  /// The file was removed or renamed, or another stands there: nobody finds the socket any more. False where it was never seen there, as where systemd has made it in a place that this process does not see.
  bool has_lost_name() const noexcept;
  /// Removes the file, unless it is not ours or somebody else's socket stands there by now. REQUIRES: it is locked.
  void remove_file() const noexcept;

 private:
  Entrance(os::Fd socket, std::string path, bool owns_file);

  os::Fd socket_;
  std::string path_;
  bool owns_file_;
  std::optional<os::FileIdentity> file_;
};

}  // namespace sinew::manager
