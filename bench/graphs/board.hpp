// What all processes of one run write down, in memory that they share.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "topology.hpp"

namespace sinew::bench::graphs {

/// Messages go around for this long before those that count, so that memory is mapped and caches are warm.
inline constexpr std::int64_t warm_up_ns = 1'000'000'000;

/// Of the board's memory in /proc/PID/smaps: it belongs to the benchmark and counts for no way of carrying messages.
inline constexpr const char* board_name = "sinew-bench-board";

class Board {
 public:
  struct PublicationRecord {
    alignas(64) std::atomic<std::uint64_t> sent;  ///< messages that count
  };
  struct Sample {
    std::int64_t stamp_ns;  ///< that in the message
    std::int64_t latency_ns;
  };
  struct SubscriptionRecord {
    alignas(64) std::atomic<std::uint64_t> received;  ///< messages that count, the damaged ones too
    std::atomic<std::uint64_t> damaged;
    std::atomic<std::uint32_t> port;  ///< where it is reached, for what has ports
  };

  /// Room for messages of so many seconds, all of it populated, so that writing there brings no page fault. Throws std::system_error.
  Board(const Topology& topology, unsigned seconds);
  /// The same one in a process that inherited its descriptor.
  Board(const Topology& topology, unsigned seconds, int descriptor);
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;
  ~Board();

  int descriptor() const { return descriptor_; }
  std::int64_t length_ns() const { return length_ns_; }

  /// The moment, by now_ns(), from which on messages count. Set before anybody publishes.
  std::atomic<std::int64_t>& start() const;
  PublicationRecord& publication(unsigned index) const;
  SubscriptionRecord& subscription(unsigned index) const;
  /// Room for what a subscription received; as many as it has are written.
  std::span<Sample> samples(unsigned subscription) const;

 private:
  void map();

  const std::int64_t length_ns_;
  std::size_t publications_;
  std::size_t subscriptions_;
  std::vector<std::size_t> first_sample_;  ///< of each subscription, and the end
  int descriptor_;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

/// What one subscription takes down. For one thread.
class Tally {
 public:
  Tally(const Board& board, const Subscription& subscription)
      : record_(board.subscription(subscription.index)),
        samples_(board.samples(subscription.index)),
        start_(board.start()),
        is_changed_(subscription.is_changed) {}

  /// Whether a node on the way changes what comes.
  bool is_changed() const { return is_changed_; }

  /// Called with a message as the first thing in a callback, with the time and what was found in it.
  void add(std::int64_t now, std::int64_t stamp, bool whole) {
    if (stamp < start_.load(std::memory_order_relaxed)) return;
    const std::uint64_t number = record_.received.load(std::memory_order_relaxed);
    if (number < samples_.size()) samples_[number] = {stamp, now - stamp};
    record_.received.store(number + 1, std::memory_order_release);
    if (!whole) record_.damaged.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  Board::SubscriptionRecord& record_;
  const std::span<Board::Sample> samples_;
  const std::atomic<std::int64_t>& start_;
  const bool is_changed_;
};

}  // namespace sinew::bench::graphs
