// A file descriptor that is closed exactly once.
#pragma once

#include <utility>

namespace sinew::os {

/// Owns one descriptor, or none (-1). Every descriptor that sinew makes or receives is close-on-exec.
class Fd {
 public:
  Fd() noexcept = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  /// One that a peer sent: closing it never blocks, whatever it is.
  static Fd of_peer(int fd) noexcept {
    Fd made(fd);
    made.of_peer_ = true;
    return made;
  }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)), of_peer_(other.of_peer_) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
      of_peer_ = other.of_peer_;
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
  bool of_peer_ = false;
};

}  // namespace sinew::os
