// The failing version of the seam to the kernel: makes the n-th call of one kind fail, so that tests can walk every error path.
#pragma once

namespace sinew::os::fault {

/// Every kind of system call that src/os makes and that can fail: giving back (close, munmap) cannot. Each wrapper asks inject() before it
/// enters the kernel.
enum class Call {
  memfd_create,
  ftruncate,
  fallocate,
  fcntl,
  fstat,
  mmap,
  madvise,
  socket,
  socketpair,
  bind,
  listen,
  connect,
  accept,
  send,
  receive,
  setsockopt,
  eventfd,
  epoll_create,
  epoll_ctl,
  epoll_wait,
  poll,
  read,
  write,
  open,
  flock,
  spawn,
  thread,
  dup,
  getsockopt,
  readlink,
  mkdir,
  chmod,
  close_range,
  lstat,
  unlink,
  getsockname,
  rlimit,
  fork,
  chdir,
  mlock,
  schedule,
  inotify,
  count_of_calls
};

/// From now on the n-th (1-based) call of this kind in this process fails with `error`, once. One fault is armed at a time.
/// Thread-safe. Compiled in always: in a process that never arms, the check is one relaxed load per system call, and no system call is on
/// the data path but the wake-up.
void arm(Call call, int nth, int error) noexcept;
void disarm() noexcept;
/// How many calls of this kind were made since the last arm() or disarm(): tells a test when it has walked them all.
int passed(Call call) noexcept;

/// For the wrappers: true when this call must fail; errno is then set.
bool inject(Call call) noexcept;

}  // namespace sinew::os::fault
