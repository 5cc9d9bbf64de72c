// The baseline: what a careful programmer does without shared memory. Serialize once, send to each subscriber, deserialize there.
#pragma once

#include <atomic>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "link.hpp"
#include "serialize.hpp"
#include "tcp_stream.hpp"

namespace demo {

template <class T>
class TcpOutput final : public Output<T> {
 public:
  TcpOutput(const std::filesystem::path& folder, const std::string& topic, std::size_t depth) : publisher_(folder, topic, depth) {}

  void publish(const std::function<void(T&)>& build) override {
    T message;
    build(message);
    message.header.copied_by_publisher = count().bytes_copied;
    message.header.published_ns = now_ns();
    const FrameHeader header{serialized_size(message), ++published_};
    auto frame = std::make_shared<std::vector<std::byte>>();
    frame->reserve(sizeof header + header.size);
    frame->resize(sizeof header);
    std::memcpy(frame->data(), &header, sizeof header);
    serialize(message, *frame);
    serialized_ += header.size;
    publisher_.publish(std::move(frame));
  }
  OutputCount count() const override { return {published_, serialized_ + publisher_.bytes_sent(), 0}; }

 private:
  TcpPublisher publisher_;
  std::uint64_t published_ = 0;
  std::uint64_t serialized_ = 0;
};

template <class T>
class TcpInput final : public Input {
 public:
  /// `one_at_a_time` is shared by all inputs of a node; callbacks run under it, deserializing does not.
  TcpInput(const std::filesystem::path& folder, const std::string& topic, std::mutex& one_at_a_time, Callback<T> callback)
      : one_at_a_time_(one_at_a_time),
        callback_(std::move(callback)),
        subscriber_(folder, topic, [this](auto bytes, auto sequence) { receive(bytes, sequence); }) {}

  InputCount count() const override {
    const std::uint64_t received = received_;
    return {received, missed_, bytes_copied_, received};
  }

 private:
  void receive(std::span<const std::byte> bytes, std::uint64_t sequence) {
    auto message = std::make_shared<T>();
    deserialize(bytes, *message);
    bytes_copied_ += 2 * bytes.size();
    if (last_sequence_ != 0) missed_ += sequence - last_sequence_ - 1;
    last_sequence_ = sequence;
    ++received_;
    const std::lock_guard lock(one_at_a_time_);
    const Arrival arrival{std::chrono::nanoseconds(now_ns() - message->header.published_ns), "tcp"};
    callback_(std::move(message), arrival);
  }

  std::mutex& one_at_a_time_;
  const Callback<T> callback_;
  std::uint64_t last_sequence_ = 0;
  std::atomic<std::uint64_t> received_{0}, missed_{0}, bytes_copied_{0};
  TcpSubscriber subscriber_;  // last: its thread uses the others
};

}  // namespace demo
