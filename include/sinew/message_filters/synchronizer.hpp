// Messages of several topics that belong together.
#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/detail/escaping.hpp"
#include "sinew/detail/publisher_core.hpp"
#include "sinew/message_filters/matcher.hpp"
#include "sinew/message_filters/stamp.hpp"

namespace sinew::message_filters {

namespace sync_policies {

/// Messages with equal stamps.
template <class... Messages>
class ExactTime {
  static_assert(sizeof...(Messages) >= 2 && sizeof...(Messages) <= 9, "sinew: messages of 2 to 9 topics are synchronized");

 public:
  using MessageTypes = std::tuple<Messages...>;
  /// Of the sets that are not complete the newest so many are kept, and all with 0, as in ROS.
  explicit ExactTime(std::size_t queue_size) noexcept : queue_size_(queue_size) {}
  std::unique_ptr<detail::Matcher> make() const { return std::make_unique<detail::ExactMatcher>(sizeof...(Messages), queue_size_); }

 private:
  std::size_t queue_size_;
};

/// Messages whose stamps are close to each other, with no limit of how far apart they may be.
///
/// The size of a set is the time between its earliest and its latest stamp. Sets are as in ROS:
/// * A message is in one set at most; of two sets one has no message that is later than the other's of its topic.
/// * Between a set and the next one there is a topic of which no message was left out, and of all such sets the next one is of the smallest size; of equal ones it is the earliest.
/// * Which sets there are follows from the stamps, not from when messages come, as long as each topic's come in their order and queues do not run over. A set is given out as soon as no later message can make a better one.
///
/// A stamp that is before the last one given out of its topic, or before all of its queue when that is full, begins anew, as when a recording is played again: what waits is let go.
template <class... Messages>
class ApproximateTime {
  static_assert(sizeof...(Messages) >= 2 && sizeof...(Messages) <= 9, "sinew: messages of 2 to 9 topics are synchronized");

 public:
  using MessageTypes = std::tuple<Messages...>;
  /// The newest so many messages of each topic are kept; at least 1. It must be enough for the topics to come as unevenly as they do.
  explicit ApproximateTime(std::size_t queue_size) : queue_size_(queue_size) { options_.lower_bounds.resize(sizeof...(Messages)); }

  // NOLINTBEGIN(readability-identifier-naming): as in ROS
  /// A later set is better only when what it gains at its begin is more than (1 + penalty) times what it loses at its end; at least 0. 0.1 unless set, as in ROS 2; with 0 sets are of the smallest size.
  void setAgePenalty(double penalty) noexcept { options_.age_penalty = penalty; }
  /// Messages of topic `i`, from 0, are at least so far apart: then some sets are known to be the best sooner. A promise: where it is broken sets may be larger than they need be.
  template <class Duration>
  void setInterMessageLowerBound(std::size_t i, const Duration& bound) {
    options_.lower_bounds.at(i) = nanoseconds_of(bound);
  }
  /// Sets of a larger size are not given out.
  template <class Duration>
  void setMaxIntervalDuration(const Duration& longest) {
    options_.max_interval = nanoseconds_of(longest);
  }
  // NOLINTEND(readability-identifier-naming)
  std::unique_ptr<detail::Matcher> make() const {
    return std::make_unique<detail::ApproximateMatcher>(sizeof...(Messages), queue_size_, options_);
  }

 private:
  // Of std::chrono, or rclcpp's.
  template <class Duration>
  static std::int64_t nanoseconds_of(const Duration& duration) {
    if constexpr (requires { duration.nanoseconds(); }) {
      return duration.nanoseconds();
    } else {
      return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
    }
  }

  std::size_t queue_size_;
  detail::ApproximateOptions options_;
};

}  // namespace sync_policies

namespace detail {
template <class Messages>
struct Calling;
template <class... Messages>
struct Calling<std::tuple<Messages...>> {
  using Callback = std::function<void(const std::shared_ptr<const Messages>&...)>;

  template <class Called>
  static Callback made_of(Called called) {
    static_assert(std::invocable<Called&, const std::shared_ptr<const Messages>&...> || std::invocable<Called&, const Messages&...>,
                  "sinew: the callback of a synchronizer takes std::shared_ptr<const M> of each of its messages, or const M& of each");
    if constexpr (std::invocable<Called&, const std::shared_ptr<const Messages>&...>) {
      return Callback(std::move(called));
    } else {
      return [called = std::move(called)](const std::shared_ptr<const Messages>&... messages) mutable { called(*messages...); };
    }
  }
  static void call(const Callback& callback, std::span<const Held> set) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      callback(std::static_pointer_cast<const Messages>(set[i])...);
    }(std::index_sequence_for<Messages...>());
  }
};
}  // namespace detail

/// Takes messages of the policy's topics from Subscribers, and calls its callbacks with those that belong together, on the thread that brings the last of them, one call at a time. Thread-safe.
///
/// What waits for its set is held: it takes memory of its publisher, which that cannot use again (sinew::Subscriber says how much one may hold: 119 messages and a quarter of the publisher's memory, further ones are copied). So let
/// the queue be no longer than the topics are apart: a queue of 10 images of 6 MB keeps up to 60 MB of the camera's.
///
/// A callback must not feed its own synchronizer, nor destroy it; elsewhere these, and what follows here, wait for a callback that runs. What it changes with the set...() of its own one holds from the next message on. Messages that come when it is gone go
/// nowhere.
template <class Policy>
class Synchronizer {
  using Messages = typename Policy::MessageTypes;
  using Calling = detail::Calling<Messages>;

 public:
  /// The Subscribers, or whatever else has their registerCallback(), in the order of the policy's messages. They may go before it, or after.
  template <class... Subscribers>
  explicit Synchronizer(const Policy& policy, Subscribers&... subscribers) : shared_(std::make_shared<Shared>(policy)) {
    if constexpr (sizeof...(Subscribers) > 0) connectInput(subscribers...);
  }
  Synchronizer(const Synchronizer&) = delete;
  Synchronizer& operator=(const Synchronizer&) = delete;
  ~Synchronizer() {
    if (sinew::detail::PublisherCore::in_forked_child()) {
      new (std::nothrow) std::shared_ptr<Shared>(shared_);  // leaked: whoever is at it in the parent is not there
      return;
    }
    disconnectAll();
    // What is in these may wait for who feeds this, so it ends without the lock.
    std::shared_ptr<const typename Shared::Callbacks> callbacks;
    std::unique_ptr<detail::Matcher> matcher;
    const std::lock_guard lock(shared_->mutex);
    callbacks.swap(shared_->callbacks);
    matcher.swap(shared_->matcher);
  }

  // NOLINTBEGIN(readability-identifier-naming): as in ROS
  /// In place of those that it was connected to.
  template <class... Subscribers>
  void connectInput(Subscribers&... subscribers) {
    static_assert(sizeof...(Subscribers) == std::tuple_size_v<Messages>,
                  "sinew: a synchronizer takes as many subscribers as its policy has messages");
    disconnectAll();
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      (connect(subscribers,
               [shared = shared_](const std::shared_ptr<const std::tuple_element_t<i, Messages>>& message) {
                 shared->template add<i>(message);
               }),
       ...);
    }(std::index_sequence_for<Subscribers...>());
  }
  /// From its Subscribers; from what has no Connection to give messages go on coming.
  void disconnectAll() {
    std::vector<std::function<void()>> before;
    {
      const std::lock_guard lock(connecting_);
      before.swap(connections_);
    }
    for (const auto& disconnect : before) disconnect();
  }
  /// (std::shared_ptr<const M>...) or (const M&...), also made by std::bind(). Called with the sets that are complete from now on, after those that were registered before.
  template <class Callback>
  void registerCallback(Callback&& callback) {
    auto called = Calling::made_of(std::decay_t<Callback>(sinew::detail::escaping(std::forward<Callback>(callback))));
    shared_->look([&] {
      auto more = std::make_shared<typename Shared::Callbacks>(*shared_->callbacks);
      more->push_back(std::move(called));
      shared_->callbacks = std::move(more);
    });
  }
  /// Of a member: `registerCallback(&Filter::both, this)`.
  template <class Class, class... Arguments>
  void registerCallback(void (Class::*member)(Arguments...), Class* object) {
    registerCallback([member, object](Arguments... arguments) { (object->*member)(std::forward<Arguments>(arguments)...); });
  }

  // For policies that have them; what waits is let go.
  void setAgePenalty(double penalty) {
    change([&](Policy& policy) { policy.setAgePenalty(penalty); });
  }
  template <class Duration>
  void setInterMessageLowerBound(std::size_t i, const Duration& bound) {
    change([&](Policy& policy) { policy.setInterMessageLowerBound(i, bound); });
  }
  template <class Duration>
  void setMaxIntervalDuration(const Duration& longest) {
    change([&](Policy& policy) { policy.setMaxIntervalDuration(longest); });
  }
  // NOLINTEND(readability-identifier-naming)

  /// As if a Subscriber had brought it: message of topic `i`, from 0.
  template <std::size_t i>
  void add(const std::shared_ptr<const std::tuple_element_t<i, Messages>>& message) {
    shared_->template add<i>(message);
  }
  /// Messages that wait for their set, and are held.
  std::size_t held() const {
    std::size_t count = 0;
    shared_->look([&] { count = shared_->anew ? shared_->anew->held() : shared_->matcher->held(); });
    return count;
  }

 private:
  template <class Subscriber, class Feed>
  void connect(Subscriber& subscriber, Feed feed) {
    if constexpr (requires { subscriber.registerCallback(feed).disconnect(); }) {
      const std::lock_guard lock(connecting_);
      connections_.push_back([connection = subscriber.registerCallback(std::move(feed))]() mutable { connection.disconnect(); });
    } else {
      subscriber.registerCallback(std::move(feed));
    }
  }

  struct Shared {
    using Callbacks = std::vector<typename Calling::Callback>;

    explicit Shared(const Policy& of) : policy(of), matcher(of.make()) {}

    /// Does it under the mutex, which a callback has already.
    template <class Do>
    void look(Do what) {
      if (runs_in.load(std::memory_order_relaxed) == std::this_thread::get_id()) return what();
      const std::lock_guard lock(mutex);
      what();
    }

    template <std::size_t i>
    void add(const std::shared_ptr<const std::tuple_element_t<i, Messages>>& message) {
      const std::int64_t stamp = detail::stamp(*message);
      std::unique_ptr<detail::Matcher> gone;  // what is in there ends without the lock
      const std::lock_guard lock(mutex);
      if (!matcher) return;
      struct Run {
        Shared& shared;
        std::unique_ptr<detail::Matcher>& before;
        Run(Shared& of, std::unique_ptr<detail::Matcher>& gone) : shared(of), before(gone) {
          shared.runs_in.store(std::this_thread::get_id(), std::memory_order_relaxed);
        }
        ~Run() {
          shared.runs_in.store({}, std::memory_order_relaxed);
          if (shared.anew) before = std::exchange(shared.matcher, std::move(shared.anew));
        }
        Run(const Run&) = delete;
        Run& operator=(const Run&) = delete;
      };
      const Run running(*this, gone);
      matcher->add(i, stamp, message, [this](std::span<const detail::Held> set) {
        if (anew) return;  // it was let go by the callback of the set before
        for (const auto now = callbacks; const auto& each : *now) Calling::call(each, set);
      });
    }

    std::mutex mutex;                        // guards all of it, and is held while callbacks run, so that sets come in their order
    std::atomic<std::thread::id> runs_in{};  // relaxed: a thread finds its own id, or not
    Policy policy;
    std::unique_ptr<detail::Matcher> matcher;  // null: the synchronizer is gone
    std::unique_ptr<detail::Matcher> anew;     // takes its place when the callbacks have returned, one of which wants it
    std::shared_ptr<const Callbacks> callbacks = std::make_shared<const Callbacks>();
  };
  template <class Change>
  void change(Change apply) {
    std::unique_ptr<detail::Matcher> before;  // what waits in there ends without the lock
    shared_->look([&] {
      apply(shared_->policy);
      const bool is_running = shared_->runs_in.load(std::memory_order_relaxed) != std::thread::id();
      before = std::exchange(is_running ? shared_->anew : shared_->matcher, shared_->policy.make());
    });
  }

  const std::shared_ptr<Shared> shared_;
  std::mutex connecting_;
  std::vector<std::function<void()>> connections_;  // what ends each; guarded by connecting_
};

/// Messages with equal stamps.
template <class... Messages>
class TimeSynchronizer : public Synchronizer<sync_policies::ExactTime<Messages...>> {
  using Base = Synchronizer<sync_policies::ExactTime<Messages...>>;

 public:
  explicit TimeSynchronizer(std::size_t queue_size) : Base(sync_policies::ExactTime<Messages...>(queue_size)) {}
  /// The Subscribers, and the size of the queue.
  template <class... Arguments>
    requires(sizeof...(Arguments) == sizeof...(Messages) + 1)
  explicit TimeSynchronizer(Arguments&&... arguments) : TimeSynchronizer(std::forward_as_tuple(arguments...)) {}

 private:
  template <class... Arguments>
  explicit TimeSynchronizer(std::tuple<Arguments&...> arguments)
      : TimeSynchronizer(static_cast<std::size_t>(std::get<sizeof...(Messages)>(arguments))) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      this->connectInput(std::get<i>(arguments)...);
    }(std::index_sequence_for<Messages...>());
  }
};

}  // namespace sinew::message_filters
