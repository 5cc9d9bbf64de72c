// Where callbacks run.
#pragma once

#include <map>
#include <memory>

#include "sinew/error.hpp"
#include "sinew/thread_options.hpp"

namespace sinew {

class Node;
namespace session {
class Executor;
}
namespace detail {
struct ExecutorAccess;
}

/// Of an execution thread, see Executor: 0 to 1023. Actions receive goals, and wishes to cancel them, on 1023, and rclcpp's wait_for_service() hears of services on 1022: leave these to them where a node has any.
using ThreadId = unsigned;

struct ExecutorOptions {
  /// The execution threads that are not to be as usual. Others are made when they are asked for.
  std::map<ThreadId, ThreadOptions> threads{};
  /// Execution thread 0 is no thread of the library's, but whoever calls spin() or dispatch(): nothing runs on it in between. Of its options only `spin` may be given; a name, scheduling or cpus throw Error(invalid_argument).
  bool by_caller = false;
};

/// The execution threads of a node, or of several that share it (NodeOptions::executor). Each runs the callbacks that were given to its id, one at a time; those of different ids run
/// side by side. Who destroys something waits for its running callback; so callbacks of different threads must not destroy each other's interfaces. A thread is started for the first
/// callback that is given to it. Nodes of one process that share a thread hand each other messages without waking anybody.
///
/// Thread-safe. Lives at least as long as the nodes that use it.
class SINEW_API Executor {
 public:
  /// Throws Error(invalid_argument).
  [[nodiscard]] static std::shared_ptr<Executor> create(const ExecutorOptions& options = {});
  /// Waits for a running callback, unless called from one. Ends the spin() that runs, so one in which a callback destroys the last node and nobody else keeps the executor.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // For ExecutorOptions::by_caller. Without it, and inside a callback that they run, spin(), dispatch() and fd() throw Error(invalid_argument). One of these runs at a time, others wait for it, also for a
  // spin() to end: take fd() before that.

  /// Runs callbacks until stop() is called. Sleeps while there are none.
  void spin();
  /// Runs the callbacks that are due now, of each subscriber a few at most, and returns without waiting.
  void dispatch();
  /// For poll(), epoll and the loops on top of them: readable while dispatch() has something to do. The caller must not read it, and not use it after this object is gone.
  /// Throws Error(exhausted) when there is no descriptor to be had.
  int fd();
  /// Ends the spin() that runs, after the callback that is running, or else the next one; called twice, two of them. Without by_caller it does nothing. Anywhere, also in callbacks; async-signal-safe: may be called in a handler of SIGINT.
  void stop() noexcept;

 private:
  friend class Node;
  friend struct detail::ExecutorAccess;
  explicit Executor(std::shared_ptr<session::Executor> shared) noexcept;
  std::shared_ptr<session::Executor> shared_;
};

}  // namespace sinew
