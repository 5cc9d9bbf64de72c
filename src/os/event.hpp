// Waiting: eventfd doorbells and epoll.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "os/fd.hpp"

namespace sinew::os {

/// A non-blocking eventfd.
Fd create_eventfd();
/// An eventfd that one thread waits at in a single system call. Its counter never comes near full, since each publisher rings once per sleep: so ring() does not
/// block among peers of one user. Not to be handed to other users (F7).
Fd create_doorbell();
/// Blocks until the doorbell was rung, and sets its counter to zero. Signals are waited through.
void await_doorbell(int doorbell) noexcept;
/// The same, at most until the deadline (monotonic nanoseconds), in two system calls.
void await_doorbell(int doorbell, std::int64_t deadline_ns) noexcept;
/// A descriptor that is readable from the time on that set_alarm() gives it.
Fd create_alarm();
/// Monotonic nanoseconds; nothing: never.
void set_alarm(int alarm, std::optional<std::int64_t> when_ns) noexcept;
/// Adds one. A full counter counts as rung. One system call; async-signal-safe; keeps errno. A bad descriptor is ignored.
void ring(int eventfd) noexcept;
/// Sets the counter to zero. One system call.
void drain(int eventfd) noexcept;
/// Blocks until the eventfd was rung, or the deadline (monotonic nanoseconds; nothing: for ever), then drains it. True when it was rung.
/// Signals are waited through.
bool wait_and_drain(int eventfd, std::optional<std::int64_t> deadline_ns = std::nullopt);
/// The same, but the counter stays as it is, for others that wait.
bool wait_until_rung(int eventfd, std::optional<std::int64_t> deadline_ns = std::nullopt);
/// True when this descriptor is an eventfd (a peer sent it): /proc/self/fd is asked.
bool is_eventfd(int fd) noexcept;
inline bool is_eventfd(const Fd& fd) noexcept {
  return is_eventfd(fd.get());
}

/// A set of descriptors to wait for; each carries a 64-bit key of the caller's. Not thread-safe but for wait().
class Poller {
 public:
  struct Event {
    std::uint64_t key = 0;
    bool readable = false;
    bool writable = false;
    bool hung_up = false;  ///< The other end is closed; what it sent before may still be readable.
  };

  Poller();
  /// Readable while wait() would find something.
  const Fd& descriptor() const noexcept { return epoll_; }
  void add(const Fd& fd, std::uint64_t key, bool writable = false);
  void change(const Fd& fd, std::uint64_t key, bool writable);
  void remove(const Fd& fd) noexcept;
  /// Waits for events, at most until the deadline (monotonic nanoseconds; nothing: for ever). Returns how many of `events` were filled.
  std::size_t wait(std::span<Event> events, std::optional<std::int64_t> deadline_ns = std::nullopt);

 private:
  Fd epoll_;
};

}  // namespace sinew::os
