// A publisher and a subscriber of the same message, in DDS and in a domain of sinew. Which they are bench/ros2.py chooses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace bench_msgs::msg {

/// What goes over; to DDS it is of the type bench_msgs::msg::dds_::Stamped_.
struct Stamped {
  std::int64_t sent = 0;  ///< Nanoseconds of CLOCK_MONOTONIC, when it was filled.
  std::uint64_t number = 0;
  std::vector<std::uint8_t> data;
};

}  // namespace bench_msgs::msg

namespace sinew::bench::ros2 {

using bench_msgs::msg::Stamped;

/// The topic that publisher and subscriber have.
inline constexpr const char* topic = "stamped";

/// Publishes messages, all of one size.
class Publisher {
 public:
  Publisher() = default;
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;
  virtual ~Publisher() = default;
  virtual bool is_connected() = 0;
  /// Fills the message, takes the time, and publishes it.
  virtual void publish(std::uint64_t number) = 0;
};

/// Calls back with each message, first thing when it can be read, until it is destroyed.
class Subscriber {
 public:
  Subscriber() = default;
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;
  virtual ~Subscriber() = default;
};
using OnMessage = std::function<void(const Stamped&)>;

/// Of a DDS domain, as ROS 2 would have it: Fast DDS with the transports and the quality of service that it has there.
std::unique_ptr<Publisher> publish_in_dds(std::uint32_t domain, std::size_t size);
std::unique_ptr<Subscriber> subscribe_in_dds(std::uint32_t domain, OnMessage on_message);
/// Readers of so many topics, named `idle_` and a number, that nothing is published on.
std::unique_ptr<Subscriber> idle_in_dds(std::uint32_t domain, unsigned topics);

/// Of the domain in SINEW_DOMAIN.
std::unique_ptr<Publisher> publish_in_domain(std::size_t size);
std::unique_ptr<Subscriber> subscribe_in_domain(OnMessage on_message);
/// Publishers of those topics.
std::unique_ptr<Subscriber> idle_in_domain(unsigned topics);

}  // namespace sinew::bench::ros2
