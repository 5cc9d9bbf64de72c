// What a way of carrying messages has to offer to be measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace sinew::bench {

/// Takes down every delivery of one subscriber. Lives in the subscriber's process; used by one thread.
class Arrivals {
 public:
  virtual ~Arrivals() = default;
  /// To be called first thing when the payload is readable: the clock is read here. A stamp of 0 marks a message that only warms up.
  virtual void add(std::int64_t stamp, std::span<const std::uint8_t> payload) = 0;
  /// True when everything that was sent has come.
  virtual bool complete() const = 0;
};

/// The publishing end, in a process of its own.
class Source {
 public:
  virtual ~Source() = default;
  /// Makes the next message, every payload byte set to `value`. Blocks while there is no room for it.
  virtual void fill(std::uint8_t value) = 0;
  /// Publishes the message made last with `stamp` inside it.
  virtual void send(std::int64_t stamp) = 0;
  /// Payload bytes copied by this process, or for it by the kernel, so far.
  virtual std::uint64_t bytes_copied() const = 0;
};

/// The subscribing end, in a process of its own.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Hands messages to the Arrivals it was opened with until all have come, or until `stop` (a descriptor) reads as closed.
  virtual void receive(int stop) = 0;
  virtual std::uint64_t bytes_copied() const = 0;
};

/// Constructed in the coordinator before the processes are forked, so that what they share can be made there; the ends are opened in the
/// processes that use them, and return connected to all of the other side.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::unique_ptr<Source> open_source(unsigned publisher) = 0;
  virtual std::unique_ptr<Sink> open_sink(unsigned subscriber, Arrivals& arrivals) = 0;
};

}  // namespace sinew::bench
