#include "tests/faults/errors.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

namespace sinew::system {
namespace {

struct Row {
  const char* name;
  std::vector<int> errors;
};

// In the order of os::fault::Call.
const std::vector<Row>& table() {
  static const std::vector<Row> rows = {
      {"memfd_create", {EMFILE, ENFILE, ENOMEM, EPERM}},
      {"ftruncate", {ENOMEM, EFBIG}},
      {"fallocate", {ENOSPC, ENOMEM}},
      {"fcntl", {ENOMEM, EPERM, EBUSY}},
      {"fstat", {ENOMEM, EACCES}},
      {"mmap", {ENOMEM, EAGAIN, EPERM, EEXIST}},
      {"madvise", {ENOMEM, EAGAIN}},
      {"socket", {EMFILE, ENFILE, ENOBUFS, EACCES}},
      {"socketpair", {EMFILE, ENFILE, ENOMEM}},
      {"bind", {EADDRINUSE, ENOSPC, EACCES, EROFS}},
      {"listen", {EADDRINUSE, ENOMEM}},
      {"connect", {ECONNREFUSED, EAGAIN, ENOENT, EACCES}},
      {"accept", {EMFILE, ENFILE, ENOMEM, ECONNABORTED}},
      {"send", {ENOBUFS, EAGAIN, ENOMEM, ETOOMANYREFS}},
      {"receive", {ENOMEM, ECONNRESET, EAGAIN}},
      {"setsockopt", {ENOMEM, ENOBUFS}},
      {"eventfd", {EMFILE, ENFILE, ENOMEM}},
      {"epoll_create", {EMFILE, ENFILE, ENOMEM}},
      {"epoll_ctl", {ENOSPC, ENOMEM}},
      {"epoll_wait", {EINTR, ENOMEM}},
      {"poll", {ENOMEM, EINTR}},
      {"read", {EINTR, EIO, ENOMEM}},
      {"write", {EINTR}},  // to eventfds only, and nothing else happens to these
      {"open", {EMFILE, ENFILE, ENOMEM, ENOENT, EACCES}},
      {"flock", {ENOLCK, EINTR}},
      {"spawn", {EAGAIN, ENOMEM, EACCES}},
      {"thread", {EAGAIN, EPERM}},
      {"dup", {EMFILE}},
      {"getsockopt", {ENOBUFS, ENOMEM}},
      {"readlink", {ENOMEM, EACCES}},
      {"mkdir", {ENOSPC, EACCES, EROFS}},
      {"chmod", {EPERM, EROFS}},
      {"close_range", {ENOSYS, EMFILE}},
      {"lstat", {ENOMEM, EACCES}},
      {"unlink", {EACCES, EROFS}},
      {"getsockname", {ENOBUFS}},
      {"rlimit", {EPERM}},
      {"fork", {EAGAIN, ENOMEM}},
      {"chdir", {EACCES}},
      {"mlock", {ENOMEM, EPERM, EAGAIN}},
      {"schedule", {EPERM, EINVAL}},
      {"inotify", {EMFILE, ENOSPC, ENOMEM}},
  };
  return rows;
}

const Row& row_of(os::fault::Call call) {
  return table().at(static_cast<std::size_t>(call));
}

}  // namespace

const char* name_of(os::fault::Call call) {
  return row_of(call).name;
}

std::string name_of_error(int error) {
  const char* const name = ::strerrorname_np(error);
  return name ? name : std::to_string(error);
}

std::span<const int> plausible_errors(os::fault::Call call) {
  return row_of(call).errors;
}

}  // namespace sinew::system
