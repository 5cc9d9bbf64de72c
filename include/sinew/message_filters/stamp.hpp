// When a message is from.
#pragma once

#include <concepts>
#include <cstdint>

#include "sinew/detail/language.hpp"

namespace sinew::message_filters {

namespace detail {
template <class T>
concept HasSeconds = requires(const T& message) {
  { message.header.stamp.sec } -> std::convertible_to<std::int64_t>;
  { message.header.stamp.nanosec } -> std::convertible_to<std::int64_t>;
};
template <class T>
concept HasNanoseconds = requires(const T& message) {
  { message.header.stamp_ns } -> std::convertible_to<std::uint64_t>;
};
/// A function of the user's, in the namespace of T.
template <class T>
concept HasStampOf = requires(const T& message) {
  { stamp_of(message) } -> std::convertible_to<std::int64_t>;
};

template <class T>
std::int64_t stamp(const T& message) {
  if constexpr (HasStampOf<T>) {
    return stamp_of(message);
  } else if constexpr (HasSeconds<T>) {
    return static_cast<std::int64_t>(message.header.stamp.sec) * 1'000'000'000 + static_cast<std::int64_t>(message.header.stamp.nanosec);
  } else {
    static_assert(HasNanoseconds<T>,
                  "sinew: a message that is to be synchronized has header.stamp.sec and .nanosec, or header.stamp_ns, or a function "
                  "std::int64_t stamp_of(const T&) in its namespace, in nanoseconds");
    return static_cast<std::int64_t>(message.header.stamp_ns);
  }
}
}  // namespace detail

}  // namespace sinew::message_filters
