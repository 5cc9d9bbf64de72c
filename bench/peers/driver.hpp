// What the drivers of all systems that are compared have in common: their command line, what they take down, and what they say to bench/peers.py.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sinew::bench::peers {

/// One end of a cell: the publisher, or one of the subscribers.
struct Run {
  bool publishes = false;
  std::string topic;
  std::string folder;  ///< Of this cell, for what the system keeps in files; bench/peers.py removes it.
  std::size_t size = 128;
  double rate = 30;
  std::uint64_t count = 100;
  std::uint64_t warm_up = 16;  ///< Messages that go before, at the same rate.
  unsigned subscribers = 1;
  bool read_all = false;  ///< Subscribers read every byte; otherwise only the three that are checked.
  std::string output;
  std::vector<int> descriptors;  ///< Inherited; only the floor has them.

  std::uint64_t messages() const { return warm_up + count; }
};

/// Travels with every payload.
struct Header {
  std::int64_t began = 0;    ///< Before the memory was obtained.
  std::int64_t sent = 0;     ///< When the payload was filled, just before publishing.
  std::uint64_t number = 0;  ///< From 0, warm-up included.

  /// What every byte of the payload is. Never `absent`.
  std::uint8_t value() const { return static_cast<std::uint8_t>(number % absent); }
  static constexpr std::uint8_t absent = 255;
};

/// What one subscriber takes down. Filled by one thread; wait() may be called from another.
class Arrivals {
 public:
  explicit Arrivals(const Run& run);

  /// To be called first thing when the payload is readable: the clock is read here.
  void add(const Header& header, std::span<const std::uint8_t> payload);
  /// Whether the last message was there. What is missing then is lost.
  bool complete() const { return complete_.load(std::memory_order_acquire); }
  /// Blocks until complete.
  void wait() const { complete_.wait(false, std::memory_order_acquire); }
  /// Writes the samples. Throws std::runtime_error when the file cannot be written, a message was damaged or one is missing.
  void finish() const;

 private:
  struct Sample {
    std::int64_t transport, end_to_end;
  };
  const Run& run_;
  std::vector<Sample> samples_;
  std::uint64_t next_ = 0, missing_ = 0, damaged_ = 0;
  std::atomic<bool> complete_ = false;
};

/// Polls until `connected()` holds, then says so. Throws std::runtime_error after half a minute.
void connect(const std::function<bool()>& connected);

/// Waits for the word to begin, then calls `send` for each message at the rate of the run, with `began` and `number` set. It obtains memory, fills it, sets `sent` and
/// publishes. Returns when the script lets the publisher end, after all have taken everything.
void publish_all(const Run& run, const std::function<void(Header)>& send);

/// The program: parses the command line and calls one of both. Errors become a line on stderr and status 1.
int drive(int argc, char** argv, void (*publish)(const Run&), void (*subscribe)(const Run&, Arrivals&));

}  // namespace sinew::bench::peers
