// The one seam between the demo's nodes and the transport under them: the algorithms are written once and run over sinew and over TCP.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace demo {

/// CLOCK_MONOTONIC in nanoseconds: comparable between the processes.
inline std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

struct OutputCount {
  std::uint64_t published = 0;
  std::uint64_t bytes_copied = 0;  ///< on the publisher's side, by its own code and into the kernel
  std::uint64_t refused = 0;       ///< messages that the transport did not take
};

struct InputCount {
  std::uint64_t received = 0;
  std::uint64_t missed = 0;
  std::uint64_t bytes_copied = 0;  ///< on the subscriber's side, out of the kernel and by its own code
  std::uint64_t not_in_place = 0;  ///< messages that were not read where the publisher built them
};

/// What a callback may want to know beside the message.
struct Arrival {
  std::chrono::nanoseconds latency{};  ///< from Header::published_ns to the call of the callback
  std::string path;                    ///< "native", "tcp", ...
};

template <class T>
class Output {
 public:
  virtual ~Output() = default;
  /// Publishes one message, which `build` fills in where the transport wants it: for sinew, where the subscribers will read it.
  virtual void publish(const std::function<void(T&)>& build) = 0;
  virtual OutputCount count() const = 0;
};

/// Calls its callback until it is destroyed.
class Input {
 public:
  virtual ~Input() = default;
  virtual InputCount count() const = 0;
};

/// The message may be kept for as long as one likes. The callbacks of one node never overlap.
template <class T>
using Callback = std::function<void(std::shared_ptr<const T>, const Arrival&)>;

}  // namespace demo
