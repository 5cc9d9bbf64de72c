#include "awake.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>

namespace sinew::bench {

Awake::Awake() : fd_(open("/dev/cpu_dma_latency", O_RDWR | O_CLOEXEC)) {
  const std::int32_t microseconds = 0;
  if (fd_ >= 0 && write(fd_, &microseconds, sizeof microseconds) != sizeof microseconds) {
    close(fd_);
    fd_ = -1;
  }
}

Awake::~Awake() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace sinew::bench
