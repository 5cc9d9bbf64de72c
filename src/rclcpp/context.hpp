// What a program that is written for rclcpp has once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "os/fd.hpp"
#include "rclcpp/rules.hpp"
#include "sinew/executor.hpp"

namespace sinew::rclcpp::detail {

/// What the command line says. Throws Error(invalid_argument) before init() and after shutdown().
Rules rules();

/// An eventfd that is readable from shutdown() on, until the next init(). Nobody else drains it. Throws Error(invalid_argument) before the first init().
int over();

/// Monotonic nanoseconds so long from now; nothing when it is below 0.
std::optional<std::int64_t> deadline_of(std::int64_t nanoseconds) noexcept;

/// Whether whoever runs callbacks on this thread is to stop: a callback that is a row of them asks between two.
bool ends_here();
/// As ok(), of which the thread is told (sleep_for()); of this it is not.
bool is_on() noexcept;
/// As long as it lives `ends`, which outlives it, says so, on this thread.
class Ends {
 public:
  explicit Ends(const std::function<bool()>& ends) noexcept;
  ~Ends();
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;

 private:
  const std::function<bool()>* const before_;
};

/// As long as it lives, the executor is stopped when the program is to end.
class Spinning {
 public:
  explicit Spinning(Executor& executor) noexcept;
  ~Spinning();
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;
  /// False: too many spin already, and nobody would stop this one.
  explicit operator bool() const noexcept { return place_ >= 0; }
  /// As ok(); while it says so the executor has yet to be stopped.
  bool goes_on() const noexcept;

 private:
  int place_ = -1;
};

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
