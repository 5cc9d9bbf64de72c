#include "os/event.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include "os/call.hpp"
#include "os/clock.hpp"
#include "os/failure.hpp"

namespace sinew::os {
namespace {

timespec timespec_of(std::int64_t ns) noexcept {
  return {.tv_sec = static_cast<time_t>(ns / 1'000'000'000), .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
}

/// As ppoll(): 1 when `fd` became readable before the deadline.
int poll_readable(int fd, std::optional<std::int64_t> deadline_ns) noexcept {
  pollfd waiting{fd, POLLIN, 0};
  return call(fault::Call::poll, [&] {
    const timespec left = timespec_of(deadline_ns ? std::max<std::int64_t>(0, *deadline_ns - now_ns()) : 0);
    return ::ppoll(&waiting, 1, deadline_ns ? &left : nullptr, nullptr);
  });
}

/// True when `fd` became readable before the deadline.
bool wait_readable(int fd, std::optional<std::int64_t> deadline_ns) {
  const int ready = poll_readable(fd, deadline_ns);
  if (ready < 0) fail(errno, "cannot wait for a descriptor");
  return ready > 0;
}

}  // namespace

Fd create_eventfd() {
  Fd fd(call(fault::Call::eventfd, [] { return ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }));
  if (!fd) fail(errno, "cannot make an eventfd");
  return fd;
}

Fd create_doorbell() {
  Fd fd(call(fault::Call::eventfd, [] { return ::eventfd(0, EFD_CLOEXEC); }));
  if (!fd) fail(errno, "cannot make an eventfd");
  return fd;
}

void await_doorbell(int doorbell) noexcept {
  std::uint64_t rung = 0;
  if (call(fault::Call::read, [&] { return ::read(doorbell, &rung, sizeof rung); }) < 0) {
    // A fault, or no doorbell: awake once too often.
  }
}

void await_doorbell(int doorbell, std::int64_t deadline_ns) noexcept {
  if (poll_readable(doorbell, deadline_ns) > 0) await_doorbell(doorbell);  // or a fault: awake once too often
}

Fd create_alarm() {
  Fd fd(call(fault::Call::eventfd, [] { return ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); }));
  if (!fd) fail(errno, "cannot make a timerfd");
  return fd;
}

void set_alarm(int alarm, std::optional<std::int64_t> when_ns) noexcept {
  itimerspec when{};  // all zero: disarmed
  if (when_ns) when.it_value = timespec_of(std::max<std::int64_t>(1, *when_ns));
  ::timerfd_settime(alarm, TFD_TIMER_ABSTIME, &when, nullptr);  // fails for a bad descriptor only
}

void ring(int eventfd) noexcept {
  const int kept = errno;
  const std::uint64_t one = 1;
  if (call(fault::Call::write, [&] { return ::write(eventfd, &one, sizeof one); }) < 0) {
    // EAGAIN: the counter is full, so the sleeper will wake. EBADF: there is nobody to wake.
  }
  errno = kept;
}

void drain(int eventfd) noexcept {
  std::uint64_t rung = 0;
  if (call(fault::Call::read, [&] { return ::read(eventfd, &rung, sizeof rung); }) < 0) {
    // EAGAIN: it is zero already.
  }
}

bool wait_and_drain(int eventfd, std::optional<std::int64_t> deadline_ns) {
  if (!wait_readable(eventfd, deadline_ns)) return false;
  drain(eventfd);
  return true;
}

bool wait_until_rung(int eventfd, std::optional<std::int64_t> deadline_ns) {
  return wait_readable(eventfd, deadline_ns);
}

bool is_eventfd(int fd) noexcept {
  std::array<char, 32> link;
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
  std::array<char, 64> target;
  const ssize_t size = call(fault::Call::readlink, [&] { return ::readlink(link.data(), target.data(), target.size()); });
  return size > 0 && std::string_view(target.data(), static_cast<std::size_t>(size)) == "anon_inode:[eventfd]";
}

Poller::Poller() : epoll_(call(fault::Call::epoll_create, [] { return ::epoll_create1(EPOLL_CLOEXEC); })) {
  if (!epoll_) fail(errno, "cannot make an epoll set");
}

namespace {

void control(const Fd& epoll, int operation, const Fd& fd, std::uint64_t key, bool writable) {
  epoll_event wanted{};
  wanted.events = EPOLLIN | EPOLLRDHUP | (writable ? std::uint32_t{EPOLLOUT} : 0);
  wanted.data.u64 = key;
  if (call(fault::Call::epoll_ctl, [&] { return ::epoll_ctl(epoll.get(), operation, fd.get(), &wanted); }) < 0) {
    const int error = errno;
    fail(error, "cannot wait for descriptor " + std::to_string(fd.get()) + " in an epoll set", ErrorKind::system,
         error == ENOSPC ? "; raise /proc/sys/fs/epoll/max_user_watches" : "");
  }
}

}  // namespace

void Poller::add(const Fd& fd, std::uint64_t key, bool writable) {
  control(epoll_, EPOLL_CTL_ADD, fd, key, writable);
}

void Poller::change(const Fd& fd, std::uint64_t key, bool writable) {
  control(epoll_, EPOLL_CTL_MOD, fd, key, writable);
}

void Poller::remove(const Fd& fd) noexcept {
  epoll_event ignored{};
  call(fault::Call::epoll_ctl, [&] { return ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd.get(), &ignored); });
}

std::size_t Poller::wait(std::span<Event> events, std::optional<std::int64_t> deadline_ns) {
  // epoll_wait counts in milliseconds; a deadline is kept to the nanosecond by waiting for the set itself.
  if (deadline_ns && !wait_readable(epoll_.get(), deadline_ns)) return 0;
  std::array<epoll_event, 64> ready;
  const int room = static_cast<int>(std::min(events.size(), ready.size()));
  const int count = call(fault::Call::epoll_wait, [&] { return ::epoll_wait(epoll_.get(), ready.data(), room, deadline_ns ? 0 : -1); });
  if (count < 0) fail(errno, "cannot wait for an epoll set");
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::uint32_t what = ready[i].events;
    events[i] = {.key = ready[i].data.u64,
                 .readable = (what & EPOLLIN) != 0,
                 .writable = (what & EPOLLOUT) != 0,
                 .hung_up = (what & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) != 0};
  }
  return static_cast<std::size_t>(count);
}

}  // namespace sinew::os
