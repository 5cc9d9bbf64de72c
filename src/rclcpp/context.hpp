// What a program that is written for rclcpp has once.
#pragma once

#include <cstdint>
#include <optional>

#include "os/fd.hpp"
#include "rclcpp/rules.hpp"

namespace sinew::rclcpp::detail {

/// What the command line says. Throws Error(invalid_argument) before init() and after shutdown().
Rules rules();

/// An eventfd that is readable from shutdown() on, until the next init(). Nobody else drains it. Throws Error(invalid_argument) before the first init().
int over();

/// Monotonic nanoseconds so long from now; nothing when it is below 0.
std::optional<std::int64_t> deadline_of(std::int64_t nanoseconds) noexcept;

/// A descriptor that is another's.
class Borrowed {
 public:
  explicit Borrowed(int fd) noexcept : fd_(fd) {}
  ~Borrowed() { fd_.release(); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  const os::Fd& get() const noexcept { return fd_; }

 private:
  os::Fd fd_;
};

}  // namespace sinew::rclcpp::detail
