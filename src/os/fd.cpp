#include "os/fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "os/call.hpp"
#include "os/failure.hpp"
#include "os/reaper.hpp"

namespace sinew::os {

void Fd::reset() noexcept {
  if (fd_ < 0) return;
  const int fd = std::exchange(fd_, -1);
  if (of_peer_ && !closes_at_once(fd)) return close_aside(fd);
  close_once(fd);
}

Fd Fd::duplicate() const {
  const int copy = call(fault::Call::dup, [this] { return ::fcntl(fd_, F_DUPFD_CLOEXEC, 0); });
  if (copy < 0) fail(errno, "cannot duplicate a descriptor");
  return Fd(copy);
}

}  // namespace sinew::os
