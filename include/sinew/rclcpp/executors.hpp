// Running the callbacks of nodes.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>

#include "sinew/error.hpp"
#include "sinew/rclcpp/node.hpp"
#include "sinew/rclcpp/pointers.hpp"

namespace sinew::rclcpp {

// NOLINTNEXTLINE(readability-identifier-naming): rclcpp's names
enum class FutureReturnCode : std::uint8_t { SUCCESS, INTERRUPTED, TIMEOUT };

namespace executors {

/// Runs the callbacks of any number of nodes on the thread that calls spin(), one at a time. What spins throws Error(invalid_argument) when it is called meanwhile: inside of them, or by another thread. The rest is thread-safe, and may be
/// called in callbacks.
class SINEW_API SingleThreadedExecutor : public Pointers<SingleThreadedExecutor> {
 public:
  /// Throws Error(exhausted) when there are no descriptors to be had.
  SingleThreadedExecutor();
  ~SingleThreadedExecutor();
  SingleThreadedExecutor(const SingleThreadedExecutor&) = delete;
  SingleThreadedExecutor& operator=(const SingleThreadedExecutor&) = delete;

  /// Does not keep the node. Adding it twice changes nothing. Throws Error(exhausted), and Error(invalid_argument) when another executor has it, or spin(node) and the like run.
  void add_node(const std::shared_ptr<Node>& node, bool notify = true);
  /// A callback of it that runs goes on. Others may spin it from now on, also when this object goes.
  void remove_node(const std::shared_ptr<Node>& node, bool notify = true);
  /// Whether something spins here now.
  bool is_spinning() const;

  // What ends them ends them after the callback that runs; what waits then is run the next time.

  /// Until cancel() or shutdown(). Sleeps while there is nothing to do.
  void spin();
  /// Runs what is due when it is called, once, and returns; at most so long, when `at_most` is above 0. No timer runs twice, and no message that a callback of its own topic publishes; messages of each subscription for some milliseconds, at least
  /// one: what is left is for the next time.
  void spin_some(std::chrono::nanoseconds at_most = std::chrono::nanoseconds(0));
  /// Waits until something is due, at most so long (below 0: as long as it takes), and runs what is due then, as spin_some(). It may be nothing that calls back.
  void spin_once(std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1));
  /// Until nothing is due; at most so long, when `at_most` is above 0. Without, it does not return while callbacks take longer than their period.
  void spin_all(std::chrono::nanoseconds at_most);
  /// Until the future is ready, or for so long (below 0: as long as it takes; 0: what is due is run), or until cancel() or shutdown(). A future that no callback fulfils is looked at every few milliseconds.
  template <class Future, class Rep = std::int64_t, class Period = std::nano>
  FutureReturnCode spin_until_future_complete(const Future& future,
                                              std::chrono::duration<Rep, Period> timeout = std::chrono::nanoseconds(-1)) {
    return spin_until([&future] { return future.wait_for(std::chrono::nanoseconds(0)) == std::future_status::ready; },
                      std::chrono::duration_cast<std::chrono::nanoseconds>(timeout));
  }
  /// Ends what spins here now; else the next one of them, but no spin_some() or spin_all(). Anywhere, also in callbacks.
  void cancel();

 private:
  struct Impl;
  FutureReturnCode spin_until(const std::function<bool()>& is_ready, std::chrono::nanoseconds timeout);
  const std::unique_ptr<Impl> impl_;
};
using StaticSingleThreadedExecutor = SingleThreadedExecutor;

template <class... None>
class MultiThreadedExecutor {
 public:
  MultiThreadedExecutor(None...) {
    static_assert(detail::never<None...>,
                  "sinew: callbacks of a node never overlap, so let each node be spun by a thread of its own: std::thread([&] { "
                  "rclcpp::spin(node); })");
  }
};

}  // namespace executors

// These keep the node, of which its callbacks may let go, and throw Error(invalid_argument) when it is spun already: by one of these, or because it was added to an executor.

/// Runs the callbacks of the node until shutdown(), which Ctrl-C does.
SINEW_API void spin(const std::shared_ptr<Node>& node);
/// Runs what is due when it is called, once, and returns.
SINEW_API void spin_some(const std::shared_ptr<Node>& node);
/// Until nothing is due; at most so long, when `at_most` is above 0.
SINEW_API void spin_all(const std::shared_ptr<Node>& node, std::chrono::nanoseconds at_most);
template <class Future, class Rep = std::int64_t, class Period = std::nano>
FutureReturnCode spin_until_future_complete(const std::shared_ptr<Node>& node, const Future& future,
                                            std::chrono::duration<Rep, Period> timeout = std::chrono::nanoseconds(-1)) {
  const std::shared_ptr<const Node> kept = node;
  executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  return executor.spin_until_future_complete(future, timeout);
}

}  // namespace sinew::rclcpp
