#include "os/reaper.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

#include "os/call.hpp"
#include "os/event.hpp"
#include "os/process.hpp"
#include "os/thread.hpp"

namespace sinew::os {
namespace {

struct Reaper {
  std::mutex mutex;  // guards what follows
  std::vector<int> waiting;
  bool runs = false;
};

// Never destroyed: its thread may outlive every static of the process.
Reaper& reaper() {
  static Reaper* const instance = new Reaper;
  return *instance;
}

std::atomic<bool> in_child{false};  // relaxed: set by the only thread of a child

// So that who sends one descriptor after the other does not fill this process with them.
void close_without_lingering(int fd) noexcept {
  const linger none{};
  call(fault::Call::setsockopt, [&] { return ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none); });
  close_once(fd);
}

void close_all() {
  Reaper& all = reaper();
  for (;;) {
    int fd = -1;
    {
      const std::lock_guard lock(all.mutex);
      if (all.waiting.empty()) {
        all.runs = false;
        return;
      }
      fd = all.waiting.back();
      all.waiting.pop_back();
    }
    close_without_lingering(fd);
  }
}

}  // namespace

bool closes_at_once(int fd) noexcept {
  // Only files of shared memory have seals; and they are asked for without a word to a file system.
  return call(fault::Call::fcntl, [fd] { return ::fcntl(fd, F_GET_SEALS); }) >= 0 || is_eventfd(fd);
}

void close_aside(int fd) noexcept {
  if (in_child.load(std::memory_order_relaxed)) {
    close_once(fd);
    return;
  }
  try {
    static std::once_flag once;
    std::call_once(once, [] { on_fork_in_child([]() noexcept { in_child.store(true, std::memory_order_relaxed); }); });
    Reaper& all = reaper();
    const std::lock_guard lock(all.mutex);
    all.waiting.reserve(all.waiting.size() + 1);
    if (!all.runs) start_thread("sinew-close", &close_all).detach();
    all.runs = true;
    all.waiting.push_back(fd);
  } catch (const std::exception&) {
    close_without_lingering(fd);
  }
}

}  // namespace sinew::os
