// Qos::deadline: counting the periods in which no message came.
#pragma once

#include <cstdint>

namespace sinew::session {

/// A pure machine: the time, and when the newest message was published, are arguments. Somebody must look when it says so; one that looks late counts what is missing at that time, and not
/// gaps that have closed meanwhile. So whoever closes one that has become too long looks before that. Two that look may have read the time in another order.
class Deadline {
 public:
  /// `period` in nanoseconds, above 0.
  explicit Deadline(std::int64_t period) noexcept : period_(period) {}

  /// `newest`: 0 while there was no message. Returns how many periods have been missed since the last look. A time after `now`, whatever a peer claims, is not believed.
  std::uint64_t look(std::int64_t now, std::int64_t newest) noexcept;
  /// When to look again, after look().
  std::int64_t next() const noexcept { return next_; }

 private:
  const std::int64_t period_;
  std::int64_t newest_ = 0, next_ = 0;
  std::int64_t missed_ = 0;  // since newest_
};

}  // namespace sinew::session
