// Subscriptions, as rclcpp has them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/events.hpp"
#include "sinew/message_info.hpp"
#include "sinew/rclcpp/pointers.hpp"
#include "sinew/rclcpp/publisher.hpp"
#include "sinew/subscriber.hpp"

namespace sinew::rclcpp {

/// sinew's, see there; times are the steady clock's, which all processes of a machine share.
using MessageInfo = sinew::MessageInfo;

struct SubscriptionEventCallbacks {
  std::function<void(QOSDeadlineRequestedInfo&)> deadline_callback{};
  std::function<void(QOSLivelinessChangedInfo&)> liveliness_callback{};
  std::function<void(QOSMessageLostInfo&)> message_lost_callback{};
  std::function<void(MatchedInfo&)> matched_callback{};
};

struct SubscriptionOptions {
  /// Called by spin(), as other callbacks.
  SubscriptionEventCallbacks event_callbacks{};
};

namespace detail {
inline sinew::SubscriberOptions options_of(const SubscriptionOptions& options) {
  sinew::SubscriberOptions made;
  made.events.deadline_missed = handler_of(options.event_callbacks.deadline_callback);
  made.events.liveliness_changed = handler_of(options.event_callbacks.liveliness_callback);
  made.events.message_lost = handler_of(options.event_callbacks.message_lost_callback);
  made.events.matched = handler_of(options.event_callbacks.matched_callback);
  return made;
}

template <class Callback, class Message>
concept Takes = std::invocable<Callback&, Message> || std::invocable<Callback&, Message, const MessageInfo&>;
/// All that users write: (const T&), (std::shared_ptr<const T>), (std::shared_ptr<T>), (std::unique_ptr<T>), with (const MessageInfo&) behind it or not.
template <class Callback, class T>
concept SubscriptionCallback =
    Takes<Callback, const T&> || Takes<Callback, std::shared_ptr<const T>> || Takes<Callback, std::unique_ptr<T>>;

template <class Callback, class Message>
void call_callback(Callback& callback, Message&& message, const MessageInfo& info) {
  // Not the other way round: what std::bind() makes takes whatever comes behind, and would have it made for nothing.
  if constexpr (std::invocable<Callback&, Message>) {
    callback(std::forward<Message>(message));
  } else {
    callback(std::forward<Message>(message), info);
  }
}

/// A callback of sinew's, with one signature. With std::bind() and generic callbacks the first of these that can be called counts.
template <class T, class Callback>
auto callback_of(Callback callback) {
  const auto with_info = [&]<class Message>(std::type_identity<Message>) {
    return [callback = std::move(callback)](Message message, const MessageInfo& info) mutable {
      call_callback(callback, std::forward<Message>(message), info);
    };
  };
  if constexpr (std::invocable<Callback&, const T&>) {
    return [callback = std::move(callback)](const T& message) mutable { callback(message); };
  } else if constexpr (std::invocable<Callback&, std::shared_ptr<const T>>) {
    return [callback = std::move(callback)](std::shared_ptr<const T> message) mutable { callback(std::move(message)); };
  } else if constexpr (Takes<Callback, const T&>) {
    return with_info(std::type_identity<const T&>());
  } else if constexpr (Takes<Callback, std::shared_ptr<const T>>) {
    return with_info(std::type_identity<std::shared_ptr<const T>>());
  } else {
    // An own one, to be changed. Who takes a std::shared_ptr can be called with a std::unique_ptr, too.
    return [callback = std::move(callback)](std::unique_ptr<T> message, const MessageInfo& info) mutable {
      if constexpr (Takes<Callback, std::shared_ptr<T>>) {
        call_callback(callback, std::shared_ptr<T>(std::move(message)), info);
      } else {
        call_callback(callback, std::move(message), info);
      }
    };
  }
}
}  // namespace detail

/// Made by Node::create_subscription. Thread-safe. Destroying it waits for a running callback, unless called from it.
template <class T>
class Subscription : public Pointers<Subscription<T>> {
 public:
  /// "/image".
  const char* get_topic_name() const noexcept { return name_.c_str(); }
  /// Publishers that are connected now.
  std::size_t get_publisher_count() const { return subscriber_->statistics().publishers; }
  /// For what rclcpp has no name for.
  const std::shared_ptr<sinew::Subscriber<T>>& sinew_subscriber() const noexcept { return subscriber_; }

  /// For Node::create_subscription.
  explicit Subscription(std::shared_ptr<sinew::Subscriber<T>> subscriber)
      : subscriber_(std::move(subscriber)), name_("/" + subscriber_->topic()) {}

 private:
  const std::shared_ptr<sinew::Subscriber<T>> subscriber_;
  const std::string name_;
};

}  // namespace sinew::rclcpp
