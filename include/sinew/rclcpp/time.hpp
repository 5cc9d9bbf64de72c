// Points in time, durations, and clocks.
#pragma once

#include <chrono>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>

#include "sinew/error.hpp"
#include "sinew/rclcpp/pointers.hpp"

namespace sinew::rclcpp {

namespace detail {
/// Structures as builtin_interfaces/msg/Time and Duration: by their members, whatever they are called.
template <class T>
concept SecondsAndNanoseconds = std::same_as<decltype(T::sec), std::int32_t> && std::same_as<decltype(T::nanosec), std::uint32_t>;

inline constexpr std::int64_t second = 1'000'000'000;

template <SecondsAndNanoseconds T>
constexpr std::int64_t nanoseconds_of(const T& value) noexcept {
  return value.sec * second + value.nanosec;
}
using Nanoseconds = std::numeric_limits<std::int64_t>;

/// The least or the greatest that there is, where the sum is beyond it.
constexpr std::int64_t sum_of(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t sum = 0;
  return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? Nanoseconds::min() : Nanoseconds::max();
}
/// Likewise.
constexpr std::int64_t difference_of(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t difference = 0;
  return !__builtin_sub_overflow(a, b, &difference) ? difference : a < 0 ? Nanoseconds::min() : Nanoseconds::max();
}
/// Likewise, and rounded towards 0. What is no number is 0.
constexpr std::int64_t whole(long double nanoseconds) noexcept {
  constexpr long double beyond = 9'223'372'036'854'775'808.0L;
  if (nanoseconds >= beyond) return Nanoseconds::max();
  if (nanoseconds < -beyond) return Nanoseconds::min();
  return nanoseconds == nanoseconds ? static_cast<std::int64_t>(nanoseconds) : 0;
}
/// Seconds are rounded down, so that nanoseconds are positive, as the messages have it; the least or the greatest that a message has, where it is beyond that.
template <SecondsAndNanoseconds T>
constexpr T seconds_and(std::int64_t nanoseconds) noexcept {
  using Seconds = std::numeric_limits<std::int32_t>;
  const std::int64_t rest = (nanoseconds % second + second) % second;
  const std::int64_t seconds = nanoseconds / second - (nanoseconds % second < 0 ? 1 : 0);
  T made{};
  if (seconds > Seconds::max()) {
    made.sec = Seconds::max();
    made.nanosec = static_cast<std::uint32_t>(second - 1);
  } else if (seconds < Seconds::min()) {
    made.sec = Seconds::min();
  } else {
    made.sec = static_cast<std::int32_t>(seconds);
    made.nanosec = static_cast<std::uint32_t>(rest);
  }
  return made;
}
}  // namespace detail

/// A length of time, in nanoseconds. A value. What is computed is the least or the greatest that there is, where it is beyond that; so with Time.
class Duration {
 public:
  constexpr Duration() noexcept = default;
  constexpr Duration(std::int32_t seconds, std::uint32_t nanoseconds) noexcept : nanoseconds_(seconds * detail::second + nanoseconds) {}
  template <class Rep, class Period>
  constexpr Duration(std::chrono::duration<Rep, Period> time) noexcept
      : nanoseconds_(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count()) {}
  template <detail::SecondsAndNanoseconds Message>
  constexpr Duration(const Message& message) noexcept : nanoseconds_(detail::nanoseconds_of(message)) {}

  static constexpr Duration from_nanoseconds(std::int64_t nanoseconds) noexcept { return std::chrono::nanoseconds(nanoseconds); }
  static constexpr Duration from_seconds(double seconds) noexcept {
    return std::chrono::nanoseconds(detail::whole(seconds * detail::second));
  }
  static constexpr Duration max() noexcept { return std::chrono::nanoseconds::max(); }

  constexpr std::int64_t nanoseconds() const noexcept { return nanoseconds_; }
  constexpr double seconds() const noexcept { return static_cast<double>(nanoseconds_) / detail::second; }
  template <class To = std::chrono::nanoseconds>
  constexpr To to_chrono() const noexcept {
    return std::chrono::duration_cast<To>(std::chrono::nanoseconds(nanoseconds_));
  }
  template <detail::SecondsAndNanoseconds Message>
  constexpr operator Message() const noexcept {
    return detail::seconds_and<Message>(nanoseconds_);
  }

  constexpr auto operator<=>(const Duration&) const noexcept = default;
  constexpr Duration operator+(const Duration& other) const noexcept {
    return from_nanoseconds(detail::sum_of(nanoseconds_, other.nanoseconds_));
  }
  constexpr Duration operator-(const Duration& other) const noexcept {
    return from_nanoseconds(detail::difference_of(nanoseconds_, other.nanoseconds_));
  }
  constexpr Duration operator-() const noexcept { return from_nanoseconds(detail::difference_of(0, nanoseconds_)); }
  /// Exact where a long double has 64 digits, as on x86-64 and 64-bit ARM.
  constexpr Duration operator*(double factor) const noexcept {
    return from_nanoseconds(detail::whole(static_cast<long double>(nanoseconds_) * static_cast<long double>(factor)));
  }
  constexpr Duration& operator+=(const Duration& other) noexcept { return *this = *this + other; }
  constexpr Duration& operator-=(const Duration& other) noexcept { return *this = *this - other; }

 private:
  std::int64_t nanoseconds_ = 0;
};

/// `ros` is `system`: there is no time of a simulation.
enum class ClockType : std::uint8_t { system, ros, steady };

// As code that is written for rclcpp says it, in the global namespace.
#define RCL_SYSTEM_TIME ::sinew::rclcpp::ClockType::system
#define RCL_ROS_TIME ::sinew::rclcpp::ClockType::ros
#define RCL_STEADY_TIME ::sinew::rclcpp::ClockType::steady

/// A time that a clock showed, in nanoseconds: of the system's clock since 1970, of the steady one since the machine was started. Comparing times of different clocks throws Error(invalid_argument). A value.
class SINEW_API Time {
 public:
  constexpr Time(std::int32_t seconds, std::uint32_t nanoseconds, ClockType clock = ClockType::system) noexcept
      : nanoseconds_(seconds * detail::second + nanoseconds), clock_(clock) {}
  constexpr explicit Time(std::int64_t nanoseconds = 0, ClockType clock = ClockType::system) noexcept
      : nanoseconds_(nanoseconds), clock_(clock) {}
  /// Of a message's header.
  template <detail::SecondsAndNanoseconds Message>
  constexpr Time(const Message& message, ClockType clock = ClockType::ros) noexcept
      : nanoseconds_(detail::nanoseconds_of(message)), clock_(clock) {}

  constexpr std::int64_t nanoseconds() const noexcept { return nanoseconds_; }
  constexpr double seconds() const noexcept { return static_cast<double>(nanoseconds_) / detail::second; }
  constexpr ClockType get_clock_type() const noexcept { return clock_; }
  template <detail::SecondsAndNanoseconds Message>
  constexpr operator Message() const noexcept {
    return detail::seconds_and<Message>(nanoseconds_);
  }

  constexpr bool operator==(const Time& other) const { return compare(other) == 0; }
  constexpr std::strong_ordering operator<=>(const Time& other) const { return compare(other); }
  constexpr Time operator+(const Duration& duration) const noexcept {
    return Time(detail::sum_of(nanoseconds_, duration.nanoseconds()), clock_);
  }
  constexpr Time operator-(const Duration& duration) const noexcept {
    return Time(detail::difference_of(nanoseconds_, duration.nanoseconds()), clock_);
  }
  constexpr Duration operator-(const Time& other) const {
    compare(other);
    return Duration::from_nanoseconds(detail::difference_of(nanoseconds_, other.nanoseconds_));
  }
  constexpr Time& operator+=(const Duration& duration) noexcept { return *this = *this + duration; }

 private:
  constexpr std::strong_ordering compare(const Time& other) const {
    if ((clock_ == ClockType::steady) != (other.clock_ == ClockType::steady)) refuse();
    return nanoseconds_ <=> other.nanoseconds_;
  }
  [[noreturn]] static void refuse();

  std::int64_t nanoseconds_ = 0;
  ClockType clock_ = ClockType::system;
};

/// Thread-safe.
class SINEW_API Clock : public Pointers<Clock> {
 public:
  explicit Clock(ClockType type = ClockType::system) noexcept : type_(type) {}
  Time now() const noexcept;
  ClockType get_clock_type() const noexcept { return type_; }

 private:
  ClockType type_;
};

/// For loops that do something so many times a second. Not thread-safe.
class SINEW_API Rate : public Pointers<Rate> {
 public:
  /// Hertz, above 0. Throws Error(invalid_argument).
  explicit Rate(double rate);
  explicit Rate(const Duration& period);

  /// Until the period is over, or until shutdown(). Periods follow each other from the construction or reset() on: who is late by less than one has a shorter next one, who is late by more begins anew. False when it was over already, and after shutdown() (see sleep_for()).
  bool sleep();
  void reset();
  std::chrono::nanoseconds period() const noexcept { return period_; }

 private:
  std::chrono::nanoseconds period_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};
using WallRate = Rate;

}  // namespace sinew::rclcpp
