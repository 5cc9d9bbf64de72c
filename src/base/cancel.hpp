// pthread_cancel(), which ends a thread at its next point for it: most system calls are one, and so are waits for conditions and threads.
#pragma once

namespace sinew::base {

/// While it lives, this thread is not cancelled: what holds a lock or is half done gets done (M9). Every system call of sinew's has one for itself (os/call.hpp, log.hpp), so that a path has to have one
/// only where it waits for a condition or a thread.
class Uncancellable {
 public:
  Uncancellable() noexcept;
  ~Uncancellable();
  Uncancellable(const Uncancellable&) = delete;
  Uncancellable& operator=(const Uncancellable&) = delete;

 private:
  int before_ = 0;
};

}  // namespace sinew::base
