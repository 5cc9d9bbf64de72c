// Qos::liveliness: which publishers show themselves alive within their lease.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "session/io/loop_timer.hpp"

namespace sinew::session {

/// Timers of a loaded machine are late by some milliseconds: a lease that is shorter counts as this.
inline constexpr std::int64_t shortest_lease = 10'000'000;

/// Whether signs of life come within a lease. A pure machine: time is an argument. Somebody must look when it says so.
class Lease {
 public:
  /// `duration` in nanoseconds; 0: alive for ever. It has until `now` + duration for its first sign.
  Lease(std::int64_t duration, std::int64_t now) noexcept;

  /// `sign`: when the last one was given; a time after `now`, whatever a peer claims, is not believed. True when it has died, or is alive again.
  bool look(std::int64_t now, std::int64_t sign) noexcept;
  bool is_alive() const noexcept { return alive_; }
  /// When to look again, after look().
  std::int64_t next() const noexcept { return next_; }

 private:
  std::int64_t duration_;
  std::int64_t sign_;
  std::int64_t next_;
  bool alive_ = true;
};

/// When a publisher of this process gave signs of life. Those of others are found in their rings.
struct Pulse {
  // relaxed, both: times by themselves
  std::atomic<std::int64_t> published{0};  ///< source time of its newest message
  std::atomic<std::int64_t> asserted{0};
};

/// What can be seen of a publisher.
struct Sighting {
  const void* publisher = nullptr;  ///< tells it from others
  std::string node;
  bool is_connected = true;
  std::int64_t lease = 0;   ///< within which a sign is due; 0: none is
  std::int64_t sign = 0;    ///< when it gave the last one
  std::int64_t newest = 0;  ///< when it published its newest message for us; 0: none yet
};

/// The publishers of a subscription. A pure machine, too.
class PublisherLiveliness {
 public:
  /// All that can be seen. True when one came, went, died or is alive again.
  bool look(std::int64_t now, std::span<const Sighting> all);
  /// When to look again, after look().
  std::int64_t next() const noexcept { return next_; }

  std::uint64_t ever() const noexcept { return ever_; }
  std::uint64_t alive() const noexcept { return known_.size() - not_alive_; }
  std::uint64_t not_alive() const noexcept { return not_alive_; }
  /// Node of the one that changed last.
  const std::string& last_changed() const noexcept { return last_changed_; }

 private:
  struct Known {
    Lease lease;
    std::string node;
    std::uint64_t seen_in = 0;  // the look
  };
  std::map<const void*, Known> known_;
  std::uint64_t looks_ = 0, ever_ = 0, not_alive_ = 0;
  std::int64_t next_ = LoopTimer::never;
  std::string last_changed_;
};

}  // namespace sinew::session
