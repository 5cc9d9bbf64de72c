// Which of a publisher's messages a subscriber wants at all: every n-th, and no more than so many a second (SM2 4.4.4).
#pragma once

#include <algorithm>
#include <cstdint>

namespace sinew::session {

/// For the messages of one publisher. Not thread-safe.
class Thinning {
 public:
  struct Options {
    std::uint32_t every = 1;  ///< at least 1
    std::int64_t period = 0;  ///< nanoseconds; 0: as often as they come
  };
  explicit Thinning(Options options) noexcept : options_{options.every, std::min(options.period, latest)} {}

  std::uint32_t every() const noexcept { return options_.every; }
  /// The first sequence, from this one on, that is wanted by count.
  std::uint64_t next_from(std::uint64_t sequence) const noexcept { return std::max(sequence, next_); }

  /// Whether a message that is wanted by count is wanted by rate as well. REQUIRES: sequence == next_from(sequence).
  /// `source_time` is as the publisher says, which may be anything.
  bool wants(std::uint64_t sequence, std::int64_t source_time) noexcept {
    source_time = std::clamp<std::int64_t>(source_time, 0, latest);
    next_ = sequence + options_.every;
    if (source_time < due_) return false;
    // Measured from when a message was due, not from when it came: else a rate that the publisher's does not divide into would be missed by far.
    due_ = due_ != 0 && source_time - due_ < options_.period ? due_ + options_.period : source_time + options_.period;
    return true;
  }

 private:
  static constexpr std::int64_t latest = std::int64_t{1} << 61;  // 73 years; so that nothing of it overflows

  Options options_;
  std::uint64_t next_ = 0;
  std::int64_t due_ = 0;  // 0: nothing was taken yet
};

}  // namespace sinew::session
