// The message of the system tests: parts in the object itself, in a string and in a vector, each of which tells when it is not whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sinew/sinew.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/pattern.hpp"

namespace sinew::system {

struct Sample {
  std::uint64_t writer = 0;
  std::uint64_t number = 0;
  std::string text;
  std::vector<std::uint8_t> data;
};

inline std::string text_for(std::uint64_t number) {
  return "message number " + std::to_string(number) + ", longer than a small string";
}

inline void fill(Sample& sample, std::uint64_t writer, std::uint64_t number, std::size_t size) {
  sample.writer = writer;
  sample.number = number;
  sample.text = text_for(number);
  fill_with_pattern(sample.data, writer * 31 + number, size);
}

inline Sample sample_of(std::uint64_t writer, std::uint64_t number, std::size_t size) {
  Sample sample;
  fill(sample, writer, number, size);
  return sample;
}

/// Every byte of it is what fill() wrote, and none is missing; that all of its data are is for those to see who know how much there was.
inline bool is_whole(const Sample& sample) {
  return sample.text == text_for(sample.number) && has_pattern(sample.data, sample.writer * 31 + sample.number);
}

/// They are whole, and the first so many in order: memory that is used again too early holds another message, which is whole as well.
inline bool are_unchanged(const std::vector<std::shared_ptr<const Sample>>& held) {
  std::uint64_t number = 0;
  return std::ranges::all_of(held, [&](const auto& each) { return each && each->number == ++number && is_whole(*each); });
}

inline PublishResult publish_in_place(Publisher<Sample>& publisher, std::uint64_t writer, std::uint64_t number, std::size_t size) {
  auto loan = publisher.loan();
  loan.build([&](Sample& sample) { fill(sample, writer, number, size); });
  return publisher.publish(std::move(loan));
}

inline Qos lossless() {
  return Qos{}.keep_all().reliable();
}

/// For tests of what happens between processes with both ends in one: messages do not go by pointer.
inline SubscriberOptions as_from_elsewhere() {
  SubscriberOptions options;
  options.delivery = Delivery::native;
  return options;
}

/// Waits until the publisher serves so many subscribers: what it publishes from now on is for all of them.
template <class T>
void await_subscribers(const Publisher<T>& publisher, std::uint64_t count) {
  require(eventually([&] { return publisher.statistics().subscribers == count; }), "the subscribers do not come, or do not go");
}

/// The next message; null when none comes.
template <class T>
std::shared_ptr<const T> take_soon(Subscriber<T>& subscriber, MessageInfo* info = nullptr) {
  std::shared_ptr<const T> message;
  eventually([&] { return (message = subscriber.take(info)) != nullptr; });
  return message;
}

}  // namespace sinew::system
