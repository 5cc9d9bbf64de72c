// A publisher and subscribers in this process, between which messages go as between processes. Without callbacks: whoever measures takes each message himself, and no other
// thread has work meanwhile.
#pragma once

#include <sched.h>

#include <cstdint>
#include <memory>
#include <sinew/sinew.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "clock.hpp"

namespace sinew::bench {

template <class T>
class Loopback {
 public:
  /// Blocks until they are connected.
  Loopback(Node& node, const std::string& topic, unsigned subscribers, const Qos& qos = {})
      : publisher_(node.create_publisher<T>(topic, qos)) {
    SubscriberOptions not_by_pointer;
    not_by_pointer.delivery = Delivery::native;
    for (unsigned i = 0; i < subscribers; ++i) subscribers_.push_back(node.create_subscriber<T>(topic, qos, not_by_pointer));
    wait_until([&] { return publisher_->statistics().subscribers == subscribers; });
    for (const auto& each : subscribers_) wait_until([&] { return each->statistics().publishers == 1; });
  }

  Publisher<T>& publisher() const { return *publisher_; }
  Subscriber<T>& subscriber(unsigned index = 0) const { return *subscribers_[index]; }

  /// `fill` builds the message inside the loan.
  template <class Fill>
  void publish(Fill fill) const {
    auto loan = publisher_->loan();
    loan.build(fill);
    if (publisher_->publish(std::move(loan)) != PublishResult::published) throw std::runtime_error("a message was not published");
  }
  /// Of a message that was published. Waits only where it lies in a chunk that the node's own thread has yet to map.
  std::shared_ptr<const T> take(unsigned index = 0) const {
    auto message = subscriber(index).take();
    if (!message) wait_until([&] { return (message = subscriber(index).take()) != nullptr; });
    return message;
  }

 private:
  template <class Done>
  static void wait_until(Done done) {
    constexpr std::int64_t patience_ns = 10'000'000'000;
    for (const std::int64_t until = now_ns() + patience_ns; !done(); sched_yield()) {
      if (now_ns() > until) throw std::runtime_error("publisher and subscriber did not connect, or a message did not arrive");
    }
  }

  const std::shared_ptr<Publisher<T>> publisher_;
  std::vector<std::shared_ptr<Subscriber<T>>> subscribers_;
};

}  // namespace sinew::bench
