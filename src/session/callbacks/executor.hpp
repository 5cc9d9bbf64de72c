// The execution threads that nodes have, or share, by their ids.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "session/callbacks/execution_thread.hpp"
#include "sinew/thread_options.hpp"

namespace sinew::session {

/// Thread-safe.
class Executor {
 public:
  struct Options {
    std::map<unsigned, ThreadOptions> threads{};
    bool by_caller = false;  ///< thread 0 has none of its own
  };
  /// Throws Error(invalid_argument).
  explicit Executor(Options options);
  /// No callback runs any more when this returns, except the one that it is called from.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Started for the first that asks for it. Throws Error(invalid_argument), Error(exhausted).
  std::shared_ptr<ExecutionThread> thread(unsigned id);
  /// Thread 0, for its caller to run. Throws Error(invalid_argument) when it is not his, or it is he who is run by it.
  std::shared_ptr<ExecutionThread> for_caller();
  /// Async-signal-safe.
  void leave() noexcept;

 private:
  const Options options_;
  const std::shared_ptr<ExecutionThread> for_caller_;  // null: thread 0 is as the others
  std::mutex mutex_;
  std::map<unsigned, std::shared_ptr<ExecutionThread>> threads_;  // guarded by mutex_
};

}  // namespace sinew::session
