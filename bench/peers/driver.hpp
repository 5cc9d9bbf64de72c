// What the drivers of all systems that are compared have in common: their command line, what they take down, and what they say to bench/compare.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "work.hpp"

namespace sinew::bench::peers {

/// One end of a cell: one of its publishers, one of its subscribers, or, where all are in one process, all of them.
struct Run {
  std::string role;
  std::string way;  ///< Of those that a system has to carry a message; its driver names them. Empty: its only one.
  std::string topic;
  std::string folder;  ///< Of this cell, for samples and what the system keeps in files; bench/compare removes it.
  std::size_t size = 128;
  double rate = 30;            ///< Messages of each publisher in a second; 0: one right after the other.
  std::uint64_t count = 100;   ///< Messages of each publisher that are measured.
  std::uint64_t warm_up = 16;  ///< Messages of each that go before.
  unsigned publishers = 1, subscribers = 1;
  unsigned index = 0;            ///< Which of the publishers, or of the subscribers, this one is.
  bool read_all = false;         ///< Subscribers read every byte; otherwise only the three that are checked.
  bool spins = false;            ///< Subscribers look again and again, where the system lets them; otherwise they sleep.
  int fifo = 0;                  ///< Priority at SCHED_FIFO of the threads that publish and that receive; 0: ordinary threads.
  double rate_step = 0;          ///< How much `rate` grows with each step, and
  double size_step = 0;          ///< by which share of itself `size`, at least by a byte.
  std::uint64_t step = 10;       ///< Messages of a step.
  std::string work = "plain";    ///< What is in the payloads: see work.hpp.
  std::string data;              ///< Where what it needs lies.
  double seconds = 0;            ///< A publisher ends after so long, with what it has published by then; 0: with its last message.
  std::vector<int> descriptors;  ///< Inherited; only floors have them.

  std::uint64_t messages() const { return warm_up + count; }
  double rate_of(std::uint64_t number) const;
  std::size_t size_of(std::uint64_t number) const { return sizes_.empty() ? size : sizes_[number / step]; }
  /// The largest of all.
  std::size_t largest() const { return sizes_.empty() ? size : sizes_.back(); }
  /// Once all else is set.
  void plan_sizes();

 private:
  std::vector<std::size_t> sizes_;  ///< Of each step, where it grows.
};

/// Travels with every payload.
struct Header {
  std::int64_t began = 0;    ///< Before the memory was obtained.
  std::int64_t sent = 0;     ///< When the payload was filled, just before publishing.
  std::uint64_t number = 0;  ///< Among those of its publisher, from 0, warm-up included.
  std::uint64_t publisher = 0;
  std::uint64_t size = 0;  ///< Bytes of the payload.

  /// What every byte of a plain payload is. Never `absent`.
  std::uint8_t value() const { return static_cast<std::uint8_t>(number % absent); }
  static constexpr std::uint8_t absent = 255;
};

/// What one subscriber takes down. One thread at a time calls add(); the others may be called from another.
class Arrivals {
 public:
  /// Of the subscriber `index` of the run.
  Arrivals(const Run& run, unsigned index);
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;
  ~Arrivals() = default;

  /// To be called first thing when the payload is readable: the clock is read here.
  void add(const Header& header, std::span<const std::uint8_t> payload);
  /// Whether to go on receiving. Once all is there it blocks until the script lets the subscriber end, so that what this holds is still there when memory is looked at, and is false.
  bool more();
  /// Blocks until then.
  void wait();
  /// The script lets it end, whether all is there or not.
  void let_end();
  /// Writes the samples into the folder of the run. Throws std::runtime_error when that fails.
  void write();

 private:
  /// Times in ns, `lost` in `readable` of what never came, `damaged` of what came with other bytes than were sent.
  struct Sample {
    std::int64_t began = 0, sent = 0, readable = lost, read = lost;
  };
  static constexpr std::int64_t lost = -1, damaged = -2;

  const Run& run_;
  const unsigned index_;
  const std::unique_ptr<Work> work_;
  std::mutex mutex_;
  std::vector<Sample> samples_;  ///< Those of the first publisher, then of the next.
  std::uint64_t outstanding_;
  std::atomic<bool> complete_ = false, may_end_ = false;
  bool first_ = true;
};

/// Polls until `connected()` holds, then says so. Throws std::runtime_error after half a minute.
void connect(const std::function<bool()>& connected);

/// Waits for the word to begin, then calls `send` for each message when it is due, with all of the header but `sent`. It obtains memory for `header.size` bytes, has it filled by the Work, sets `sent`
/// and publishes. Says when those that warm up are published. Writes when each began, was sent and had been published. Returns when the script lets the publisher end, after all have taken everything.
void publish_all(const Run& run, const std::function<void(Header&, Work&)>& send);

struct Driver {
  void (*publish)(const Run&);
  void (*subscribe)(const Run&, Arrivals&);
  /// All in one process; the publisher by publish_all(). Null: the system has no such way.
  void (*both)(const Run&, std::vector<std::unique_ptr<Arrivals>>&) = nullptr;
};

/// The program: parses the command line and calls one of them. Errors become a line on stderr and status 1.
int drive(int argc, char** argv, const Driver& driver);

}  // namespace sinew::bench::peers
