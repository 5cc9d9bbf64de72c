#include "signal.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace sinew::bench {

Signal::Signal() : eventfd_(eventfd(0, EFD_CLOEXEC), "eventfd") {}

void Signal::ring() const {
  const std::uint64_t one = 1;
  if (write(eventfd_.get(), &one, sizeof one) != sizeof one) throw std::system_error(errno, std::generic_category(), "write to an eventfd");
}

void Signal::await() const {
  std::uint64_t rung;
  while (read(eventfd_.get(), &rung, sizeof rung) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "read of an eventfd");
  }
}

}  // namespace sinew::bench
