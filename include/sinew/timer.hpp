// Callbacks that run again and again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "sinew/error.hpp"
#include "sinew/executor.hpp"

namespace sinew {

class Node;
namespace session {
class PeriodicTimer;
}

struct TimerOptions {
  /// Which execution thread calls back, see Executor.
  ThreadId execution_thread = 0;
};

/// Made by Node::create_timer. Thread-safe. Destroying it waits for a running callback, unless called from it; then it runs no more.
///
/// Times are kept: a callback that was late does not make the next one late. Where it is late by whole periods, because callbacks took longer or the machine stood still, these are left out and counted.
class SINEW_API Timer {
 public:
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// No callback until reset(). One that is running goes on.
  void cancel() noexcept;
  /// The next callback comes a whole period from now, also after cancel().
  void reset() noexcept;
  bool is_cancelled() const noexcept;
  /// Periods without a callback.
  std::uint64_t missed() const noexcept;

 private:
  friend class Node;
  explicit Timer(std::shared_ptr<session::PeriodicTimer> timer) noexcept;
  std::shared_ptr<session::PeriodicTimer> timer_;
};

}  // namespace sinew
