#include "os/failure.hpp"

#include <cerrno>
#include <system_error>

namespace sinew::os {

std::string describe(int error) {
  const std::string text = std::generic_category().message(error);
  switch (error) {
    case EMFILE:
      return text + "; close some, or raise the limit (ulimit -n)";
    case ENFILE:
      return text + "; raise /proc/sys/fs/file-max";
    case EFBIG:
      return text + "; raise the limit of a file's size (ulimit -f)";
    default:
      return text + " (errno " + std::to_string(error) + ")";
  }
}

std::string memory_remedy(int error) {
  if (error != ENOMEM && error != ENOSPC) return "";
  return "; use smaller messages or shorter histories, or raise the memory limit of this process, its container or the machine";
}

void fail(int error, const std::string& what, ErrorKind otherwise, const std::string& remedy) {
  const bool shortage = error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOSPC || error == ENOBUFS;
  throw Error(shortage ? ErrorKind::exhausted : otherwise, "sinew " + what + ": " + describe(error) + remedy + ".");
}

}  // namespace sinew::os
