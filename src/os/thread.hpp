// Threads of the kernel.
#pragma once

namespace sinew::os {

/// While it lives, this thread cannot be cancelled (pthread_cancel), not even where a system call would be a point for it: what holds a lock or is half done gets done (M9).
class Uncancellable {
 public:
  Uncancellable() noexcept;
  ~Uncancellable();
  Uncancellable(const Uncancellable&) = delete;
  Uncancellable& operator=(const Uncancellable&) = delete;

 private:
  int before_ = 0;
};

}  // namespace sinew::os
