// The same over sinew: nothing to serialize, nothing to describe.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "link.hpp"
#include "sinew/sinew.hpp"

namespace demo {

template <class T>
class SinewOutput final : public Output<T> {
 public:
  SinewOutput(sinew::Node& node, const std::string& topic, std::uint32_t depth)
      : publisher_(node.create_publisher<T>(topic, sinew::Qos{}.keep_last(depth))) {}

  void publish(const std::function<void(T&)>& build) override {
    auto message = publisher_->loan();
    message.build([&](T& in_place) {
      build(in_place);
      in_place.header.copied_by_publisher = publisher_->statistics().bytes_copied;
      in_place.header.published_ns = now_ns();
    });
    publisher_->publish(std::move(message));
  }
  OutputCount count() const override {
    const sinew::PublisherStatistics now = publisher_->statistics();
    return {now.published, now.bytes_copied, now.refused};
  }

 private:
  std::shared_ptr<sinew::Publisher<T>> publisher_;
};

template <class T>
class SinewInput final : public Input {
 public:
  SinewInput(sinew::Node& node, const std::string& topic, std::uint32_t depth, Callback<T> callback)
      : callback_(std::move(callback)),
        subscriber_(node.create_subscriber<T>(
            topic, [this](std::shared_ptr<const T> message, const sinew::MessageInfo& info) { receive(std::move(message), info); },
            sinew::Qos{}.keep_last(depth))) {}

  InputCount count() const override {
    const sinew::SubscriberStatistics now = subscriber_->statistics();
    return {now.received, now.missed, now.bytes_copied, not_in_place_};
  }

 private:
  void receive(std::shared_ptr<const T> message, const sinew::MessageInfo& info) {
    if (info.delivery != sinew::Delivery::native) ++not_in_place_;
    const Arrival arrival{std::chrono::nanoseconds(now_ns() - message->header.published_ns), sinew::to_string(info.delivery)};
    callback_(std::move(message), arrival);
  }

  const Callback<T> callback_;
  std::atomic<std::uint64_t> not_in_place_{0};
  std::shared_ptr<sinew::Subscriber<T>> subscriber_;  // last: its callback uses the others
};

}  // namespace demo
