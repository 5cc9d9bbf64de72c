// A file descriptor that is closed exactly once.
#pragma once

#include <utility>

namespace sinew::os {

/// Owns one descriptor, or none (-1). Every descriptor that sinew makes or receives is close-on-exec.
class Fd {
 public:
  Fd() noexcept = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }
  void reset() noexcept;

  /// A second descriptor of the same open file (F_DUPFD_CLOEXEC). Throws Error(exhausted) when the process has too many.
  Fd duplicate() const;

 private:
  int fd_ = -1;
};

}  // namespace sinew::os
