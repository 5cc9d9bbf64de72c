// Where synchronizers get their messages from.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sinew/message_filters/connection.hpp"
#include "sinew/node.hpp"
#include "sinew/qos.hpp"

namespace sinew::message_filters {

/// A subscription that hands its messages to any number of callbacks, as std::shared_ptr<const T>: where they lie, held, not copied. Thread-safe but for construction and destruction.
///
/// `Node` is a sinew::Node, or a sinew::rclcpp::Node, whose QoS is then taken; anything that points to one does.
template <class T>
class Subscriber {
 public:
  using Message = T;
  using Callback = std::function<void(const std::shared_ptr<const T>&)>;

  /// Subscribes to nothing until subscribe() is called.
  Subscriber() = default;
  template <class NodePointer, class... Qos>
  Subscriber(NodePointer&& node, const std::string& topic, const Qos&... qos) {
    subscribe(node, topic, qos...);
  }
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;
  ~Subscriber() {
    if (ended_) ended_->set();
  }

  /// In place of what it was subscribed to. Without QoS: sinew's defaults, or of an rclcpp::Node those of `QoS(10)`. Throws as the node's create_subscriber.
  template <class NodePointer, class... Qos>
  void subscribe(NodePointer&& node, const std::string& topic, const Qos&... qos) {
    static_assert(sizeof...(Qos) <= 1, "sinew: a message_filters::Subscriber takes a node, a topic and a QoS");
    unsubscribe();
    auto ended = std::make_shared<Ended>();
    const auto call = [callbacks = callbacks_, ended](std::shared_ptr<const T> message) {
      const std::shared_ptr<const Ended> here = ended;  // one of them may end this subscription, and with it what is captured
      callbacks->call(message, *here);
    };
    std::shared_ptr<void> made;
    if constexpr (requires { node->template create_subscriber<T>(topic, call, qos...); }) {
      made = node->template create_subscriber<T>(topic, call, qos...);
    } else if constexpr (sizeof...(Qos) == 0) {
      made = node->template create_subscription<T>(topic, 10, call);
    } else {
      made = node->template create_subscription<T>(topic, qos..., call);
    }
    const std::lock_guard lock(mutex_);
    topic_ = topic;
    if (ended_) ended_->set();
    ended.swap(ended_);
    made.swap(subscription_);  // goes behind the lock, should another thread have subscribed meanwhile
  }
  /// No callback runs any more when this returns, except the one that it is called from: so not in the callback of a Synchronizer that another thread feeds through this one, as the two would wait for each other.
  void unsubscribe() {
    std::shared_ptr<void> gone;  // behind the lock, as it waits for a running callback
    const std::lock_guard lock(mutex_);
    if (ended_) ended_->set();
    gone.swap(subscription_);
  }
  /// That of the last subscribe().
  std::string getTopic() const {  // NOLINT(readability-identifier-naming): as in ROS
    const std::lock_guard lock(mutex_);
    return topic_;
  }

  /// Called with each message from now on, after those that were registered before, where callbacks of the node run, until the connection is disconnected.
  Connection registerCallback(Callback callback) {  // NOLINT(readability-identifier-naming)
    return Connection([id = callbacks_->add(std::move(callback)), weak = std::weak_ptr(callbacks_)] {
      if (const auto callbacks = weak.lock()) callbacks->remove(id);
    });
  }

 private:
  /// Whether a subscription has ended, or a callback was disconnected: looked at while others of its message are called, of which one may do that.
  class Ended {
   public:
    void set() noexcept { is_set_.store(true, std::memory_order_relaxed); }
    bool is_set() const noexcept { return is_set_.load(std::memory_order_relaxed); }

   private:
    std::atomic<bool> is_set_{false};  // relaxed: told, and nothing else with it
  };

  class Callbacks {
   public:
    std::uint64_t add(Callback callback) {
      std::shared_ptr<const All> before;  // what ends with it ends without the lock
      const std::lock_guard lock(mutex_);
      auto more = std::make_shared<All>(*all_);
      more->push_back({++last_id_, std::move(callback), std::make_shared<Ended>()});
      before = std::exchange(all_, std::move(more));
      return last_id_;
    }
    void remove(std::uint64_t id) {
      std::shared_ptr<const All> before;
      const std::lock_guard lock(mutex_);
      auto fewer = std::make_shared<All>(*all_);
      std::erase_if(*fewer, [id](const Registered& each) {
        if (each.id == id) each.ended->set();
        return each.id == id;
      });
      before = std::exchange(all_, std::move(fewer));
    }
    /// Each that was not disconnected by one before it, unless that has ended the subscription.
    void call(const std::shared_ptr<const T>& message, const Ended& ended) const {
      std::shared_ptr<const All> now;
      {
        const std::lock_guard lock(mutex_);
        now = all_;
      }
      for (const Registered& each : *now) {
        if (!ended.is_set() && !each.ended->is_set()) each.callback(message);
      }
    }

   private:
    struct Registered {
      std::uint64_t id;
      Callback callback;
      std::shared_ptr<Ended> ended;
    };
    using All = std::vector<Registered>;
    mutable std::mutex mutex_;
    std::uint64_t last_id_ = 0;                                       // guarded by mutex_
    std::shared_ptr<const All> all_ = std::make_shared<const All>();  // likewise
  };

  const std::shared_ptr<Callbacks> callbacks_ = std::make_shared<Callbacks>();
  mutable std::mutex mutex_;
  std::string topic_;                   // guarded by mutex_
  std::shared_ptr<Ended> ended_;        // likewise; of the subscription
  std::shared_ptr<void> subscription_;  // likewise; the last: no callback runs any more when the rest goes
};

}  // namespace sinew::message_filters
