// A subscriber without its message type: the publishers it is connected to, taken from in turn.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "session/incompatible_peers.hpp"
#include "session/subscriber_end.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

class ExecutionThread;

/// What happens with a claimed frame. Called on the execution thread, one at a time.
class Receiver {
 public:
  virtual void on_arrival(const Arrival& arrival) = 0;

 protected:
  ~Receiver() = default;
};

/// Thread-safe.
class Subscription : public std::enable_shared_from_this<Subscription> {
 public:
  struct Options {
    wire::Quality quality;
    Thinning::Options thinning;
    Reading reading = Reading::as_possible;
  };
  /// With a thread, `receiver` is called on it for every frame; without, frames wait for take().
  Subscription(std::uint64_t id, const std::string& topic, const std::string& node, const Options& options,
               std::shared_ptr<ExecutionThread> thread, Receiver* receiver);
  ~Subscription();

  std::uint64_t id() const noexcept { return id_; }
  const Options& options() const noexcept { return options_; }
  Doorbell& doorbell() noexcept;

  /// On the loop's thread.
  void add(std::shared_ptr<SubscriberEnd> end);
  /// This publisher offers less than is asked for, and does not come. On the loop's thread.
  void incompatible(const wire::Incompatible& peer) { incompatible_.add(peer); }
  /// The execution thread shall look at this subscription again.
  void wake() noexcept;

  /// Wait-free. On the execution thread.
  bool has_news() const noexcept;
  /// What run_some() will need is wanted soon. On the execution thread.
  void prefetch() const noexcept;
  /// Hands at most a few frames to the receiver; true when there may be more. On the execution thread.
  bool run_some();
  /// Offers the next frames, of whatever publisher, until `admit` accepts one. False when there is none. REQUIRES: no thread was given.
  bool take(const std::function<bool(const Arrival&)>& admit);

  /// The receiver is not called any more when this returns, except by the call that this is called from. Idempotent.
  void close();

  struct Counters {
    std::uint64_t missed = 0, withdrawn = 0, skipped = 0, publishers = 0, held = 0, incompatible = 0;
  };
  Counters counters() const;
  /// Calls visit(end) for every publisher that serves this subscription.
  void for_each_publisher(const std::function<void(const SubscriberEnd&)>& visit) const;

 private:
  std::optional<Arrival> take_next();
  void count_locked(const SubscriberEnd& gone);
  void refresh();

  const std::uint64_t id_;
  const Options options_;
  IncompatiblePeers incompatible_;
  const std::shared_ptr<ExecutionThread> thread_;
  const std::unique_ptr<Doorbell> silent_;  // without a thread: a bell that says awake, so nobody rings it
  Receiver* const receiver_;

  std::mutex taking_;                                 // one taker at a time, and the callback; taken before mutex_
  std::atomic<std::thread::id> running_{};            // the thread that is inside the receiver
  std::vector<std::shared_ptr<SubscriberEnd>> seen_;  // guarded by taking_
  std::uint64_t seen_version_ = 0;
  std::size_t turn_ = 0;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<SubscriberEnd>> ends_;  // guarded by mutex_
  Counters before_;                                   // what ends that are gone have missed and skipped; guarded by mutex_
  std::atomic<std::uint64_t> version_{0};             // counts changes of ends_
  std::atomic<bool> closed_{false};
};

}  // namespace sinew::session
