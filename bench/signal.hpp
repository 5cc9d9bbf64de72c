// The bare means by which one process, or thread, wakes another.
#pragma once

namespace sinew::bench {

/// An eventfd: one write to ring, and who waits sleeps in read. Made before the processes are forked, and shared by them.
class Signal {
 public:
  /// Throws std::system_error.
  Signal();
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal();

  void ring() const;
  /// Returns when somebody rang since the last await(); at once when that is already so.
  void await() const;

 private:
  const int eventfd_;
};

}  // namespace sinew::bench
