// The bare means by which one process, or thread, wakes another.
#pragma once

#include "descriptor.hpp"

namespace sinew::bench {

/// An eventfd: one write to ring, and who waits sleeps in read. Made before the processes are forked, and shared by them.
class Signal {
 public:
  /// Throws std::system_error.
  Signal();

  void ring() const;
  /// Returns when somebody rang since the last await(); at once when that is already so.
  void await() const;

 private:
  Descriptor eventfd_;
};

}  // namespace sinew::bench
