#include "session/node/manager.hpp"

#include "base/point.hpp"
#include "os/domain.hpp"
#include "os/file.hpp"
#include "os/process.hpp"
#include "os/socket.hpp"
#include "session/fork.hpp"
#include "session/io/trust.hpp"
#include "sinew/error.hpp"

namespace sinew::session {
namespace {

// With a manager that takes no connection, and with somebody who is about to start one: for longer than who starts one waits for it, so that the next learns what is wrong.
constexpr std::chrono::seconds patience{5}, longer_patience{8};

// Beside the library in an installed prefix (lib/../bin) and in a build tree alike.
std::string manager_program() {
  const std::string folder = os::folder_of_code(reinterpret_cast<const void*>(&reach_manager));
  for (const std::string& candidate : {folder + "/../bin/sinewd", folder + "/sinewd", folder + "/../../bin/sinewd"}) {
    if (os::is_executable(candidate)) return candidate;
  }
  return "sinewd";  // by PATH
}

/// To be said where it is not there, and not of one that was found and failed.
std::string where_it_was_sought(const std::string& program) {
  if (program.find('/') != program.npos) return "";
  return " It is not beside sinew's library and must be in PATH: install it, or start a manager by hand with sinewd.";
}

/// Removes the socket of a manager that was killed. REQUIRES: the lock is held and nobody listens there.
void remove_abandoned(const std::string& socket_path) {
  const auto file = os::look_at_file(socket_path);
  if (!file) return;
  if (!file->is_socket) {
    throw Error(ErrorKind::unavailable, "sinew cannot have its manager listen at " + socket_path +
                                            ": there is something that is not a socket. Remove it, or set SINEW_DOMAIN to another path.");
  }
  os::remove_file(socket_path);
}

void require_trust(const os::Fd& connection, const std::string& socket_path) {
  const os::Credentials owner = os::peer_credentials(connection);
  if (!is_own_user(owner.uid) && owner.uid != 0) {
    throw Error(ErrorKind::denied, "the manager at " + socket_path + " runs as uid " + std::to_string(owner.uid) +
                                       ", this process as uid " + std::to_string(os::this_user()) +
                                       " (65534 is every user that is unknown here, as those outside of a container may be): use a domain "
                                       "of your own (SINEW_DOMAIN), or start the manager as root or as this user");
  }
}

/// A child that another thread forks meanwhile does not keep the descriptor.
class KeptFromChildren {
 public:
  explicit KeptFromChildren(const os::Fd& fd) : fd_(fd.get()) { close_in_child(fd_); }
  KeptFromChildren(const KeptFromChildren&) = delete;
  KeptFromChildren& operator=(const KeptFromChildren&) = delete;
  ~KeptFromChildren() { forget_in_child(fd_); }

 private:
  const int fd_;
};

/// Nor does a child keep the lock that was forked while that was waited for.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder) : lock_(os::lock_folder(folder, longer_patience)), kept_(lock_) {}
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() { os::unlock_folder(lock_); }

 private:
  const os::Fd lock_;
  const KeptFromChildren kept_;
};

}  // namespace

std::optional<os::Fd> find_manager(const std::string& socket_path) {
  auto connection = os::connect_to(socket_path, patience);
  if (connection) require_trust(*connection, socket_path);
  return connection;
}

os::Fd reach_manager(const std::string& socket_path) {
  if (auto connection = find_manager(socket_path)) return std::move(*connection);
  os::restore_domain_folder(socket_path);
  const std::string folder = socket_path.substr(0, socket_path.rfind('/'));
  const FolderLock lock(folder.empty() ? "/" : folder);
  if (auto connection = find_manager(socket_path)) return std::move(*connection);
  remove_abandoned(socket_path);
  const std::string program = manager_program();
  {
    const os::Fd listener = os::listen_at(socket_path);
    const KeptFromChildren kept(listener);
    SINEW_POINT("reach_manager.listening");
    try {
      os::start_daemon(program, {"--socket", socket_path, "--listening-on-3", "--daemon"}, listener, where_it_was_sought(program));
    } catch (const Error& error) {
      os::remove_file(socket_path);
      throw Error(error.kind(), "no manager listens at " + socket_path + " and none could be started: " + error.what());
    }
  }
  if (auto connection = find_manager(socket_path)) return std::move(*connection);
  throw Error(ErrorKind::unavailable, "started " + program + " for " + socket_path +
                                          ", but it ended at once: run it by hand with --socket " + socket_path + " to see why");
}

}  // namespace sinew::session
