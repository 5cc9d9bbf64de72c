// Publishers, as rclcpp has them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "sinew/events.hpp"
#include "sinew/publish_result.hpp"
#include "sinew/publisher.hpp"
#include "sinew/rclcpp/pointers.hpp"

namespace sinew::rclcpp {

// What events are called in rclcpp. They have the members of the same names there: sinew/events.hpp.
using QOSDeadlineOfferedInfo = sinew::DeadlineMissedEvent;
using QOSDeadlineRequestedInfo = sinew::DeadlineMissedEvent;
using QOSLivelinessLostInfo = sinew::LivelinessLostEvent;
using QOSLivelinessChangedInfo = sinew::LivelinessChangedEvent;
using QOSMessageLostInfo = sinew::MessageLostEvent;
using MatchedInfo = sinew::MatchedEvent;

struct PublisherEventCallbacks {
  std::function<void(QOSDeadlineOfferedInfo&)> deadline_callback{};
  std::function<void(QOSLivelinessLostInfo&)> liveliness_callback{};
  std::function<void(MatchedInfo&)> matched_callback{};
};

struct PublisherOptions {
  /// Called by spin(), as other callbacks.
  PublisherEventCallbacks event_callbacks{};
};

namespace detail {
/// rclcpp's handlers take what they are told of to change it.
template <class Event>
std::function<void(const Event&)> handler_of(const std::function<void(Event&)>& callback) {
  if (!callback) return {};
  return [callback](const Event& event) {
    Event copy = event;
    callback(copy);
  };
}
inline sinew::PublisherOptions options_of(const PublisherOptions& options) {
  sinew::PublisherOptions made;
  made.events.deadline_missed = handler_of(options.event_callbacks.deadline_callback);
  made.events.liveliness_lost = handler_of(options.event_callbacks.liveliness_callback);
  made.events.matched = handler_of(options.event_callbacks.matched_callback);
  return made;
}
}  // namespace detail

/// A message being built where subscribers will read it. get() is for messages without strings and vectors, as in ROS 2; what these allocate through it is copied when the message is published.
/// What they allocate in `loaned->data.resize(n)` or in `loaned.build([&](T& message) { ... })` is not: see sinew::Loan, which this is.
template <class T>
class LoanedMessage : public sinew::Loan<T> {
 public:
  explicit LoanedMessage(sinew::Loan<T> loan) noexcept : sinew::Loan<T>(std::move(loan)) {}
  bool is_valid() const noexcept { return static_cast<bool>(*this); }
  T& get() & noexcept { return **this; }
};

/// Made by Node::create_publisher. Thread-safe.
template <class T>
class Publisher : public Pointers<Publisher<T>> {
 public:
  /// Copies the message once into shared memory, however many subscribers there are. What publish() returns need not be looked at: when memory is short a message may be nobody's, and rclcpp would not tell either.
  PublishResult publish(const T& message) { return publisher_->publish(message); }
  /// Gives it away: subscribers of this process get the object itself.
  PublishResult publish(std::unique_ptr<T> message) { return publisher_->publish(std::move(message)); }
  /// Copies nothing of what was built in place.
  PublishResult publish(LoanedMessage<T>&& message) { return publisher_->publish(static_cast<sinew::Loan<T>&&>(message)); }
  LoanedMessage<T> borrow_loaned_message() { return LoanedMessage<T>(publisher_->loan()); }
  bool can_loan_messages() const noexcept { return true; }

  /// Subscriptions that are connected now, those of tools (`sinew topic echo`, a recorder) and bridges, too, as in ROS.
  std::size_t get_subscription_count() const { return publisher_->statistics().subscribers; }
  /// "/image".
  const char* get_topic_name() const noexcept { return name_.c_str(); }
  bool assert_liveliness() const {
    publisher_->assert_liveliness();
    return true;
  }
  /// For what rclcpp has no name for.
  const std::shared_ptr<sinew::Publisher<T>>& sinew_publisher() const noexcept { return publisher_; }

  /// For Node::create_publisher.
  explicit Publisher(std::shared_ptr<sinew::Publisher<T>> publisher) : publisher_(std::move(publisher)), name_("/" + publisher_->topic()) {}

 private:
  const std::shared_ptr<sinew::Publisher<T>> publisher_;
  const std::string name_;
};

}  // namespace sinew::rclcpp
