// Quality of service: what a publisher offers and a subscriber asks for.
#pragma once

#include <cstdint>

namespace sinew {

/// How many messages are kept for a subscriber that is slower than its publisher, and what happens when there are more. A value; every setter returns the object itself:
/// `sinew::Qos{}.keep_last(10).reliable()`.
class Qos {
 public:
  /// Keep the newest `depth` messages per publisher; older ones that were not taken yet are lost, and counted as missed. Range 1 to 512; the default is 8.
  /// create_publisher and create_subscriber throw Error(invalid_argument) on a depth out of range.
  constexpr Qos& keep_last(std::uint32_t depth) noexcept {
    depth_ = depth;
    keep_all_ = false;
    return *this;
  }
  /// Lose nothing. With reliable(), on both sides, a publisher that is ahead by the ring's length waits for the subscriber (see Publisher::publish); without it, the ring's length is the depth.
  constexpr Qos& keep_all() noexcept {
    keep_all_ = true;
    return *this;
  }
  /// A publisher offers, or a subscriber asks for, messages that are not lost while they are kept; on one machine this matters only together with keep_all().
  /// A subscriber that asks for it is not connected to a publisher that does not offer it: both log that, and count it in statistics().incompatible.
  constexpr Qos& reliable() noexcept {
    reliable_ = true;
    return *this;
  }
  /// The default: a slow subscriber never holds a publisher back.
  constexpr Qos& best_effort() noexcept {
    reliable_ = false;
    return *this;
  }

  constexpr std::uint32_t depth() const noexcept { return depth_; }
  constexpr bool keeps_all() const noexcept { return keep_all_; }
  constexpr bool is_reliable() const noexcept { return reliable_; }

 private:
  std::uint32_t depth_ = 8;
  bool keep_all_ = false;
  bool reliable_ = false;
};

}  // namespace sinew
