// Parameters: values of a node by their names. They are the node's alone: declared in the program, given on the command line.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sinew/error.hpp"
#include "sinew/rclcpp/pointers.hpp"

namespace sinew::rclcpp {

/// Nothing, or a value of a type that parameters of ROS 2 have.
using ParameterValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::uint8_t>, std::vector<bool>,
                                    std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

namespace detail {
/// What a parameter that is asked for as T is kept as.
template <class T>
constexpr auto kept() {
  if constexpr (std::same_as<T, bool>) {
    return std::type_identity<bool>();
  } else if constexpr (std::integral<T>) {
    return std::type_identity<std::int64_t>();
  } else if constexpr (std::floating_point<T>) {
    return std::type_identity<double>();
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    return std::type_identity<std::string>();
  } else if constexpr (std::same_as<T, std::vector<int>>) {
    return std::type_identity<std::vector<std::int64_t>>();
  } else if constexpr (std::same_as<T, std::vector<float>>) {
    return std::type_identity<std::vector<double>>();
  } else {
    constexpr bool is_kept = std::is_constructible_v<ParameterValue, std::in_place_type_t<T>>;
    static_assert(
        is_kept,
        "sinew: a parameter is a bool, an integer, a floating-point number, a string, or a std::vector of std::uint8_t or of those");
    return std::type_identity<std::conditional_t<is_kept, T, std::monostate>>();  // so that the compiler says no more
  }
}
template <class T>
using Kept = typename decltype(kept<std::decay_t<T>>())::type;

template <class T>
ParameterValue value_of(const T& value) {
  if constexpr (std::same_as<std::decay_t<T>, std::vector<int>> || std::same_as<std::decay_t<T>, std::vector<float>>) {
    return ParameterValue(std::in_place_type<Kept<T>>, value.begin(), value.end());
  } else if constexpr (!std::same_as<Kept<T>, std::monostate>) {
    return ParameterValue(std::in_place_type<Kept<T>>, static_cast<Kept<T>>(value));
  } else {
    return {};
  }
}
/// Throws Error(invalid_argument), with both types.
[[noreturn]] SINEW_API void refuse_type(const std::string& name, const ParameterValue& is, const ParameterValue& wanted);
template <class T>
T value_as(const std::string& name, const ParameterValue& value) {
  const Kept<T>* const found = std::get_if<Kept<T>>(&value);
  if (!found) refuse_type(name, value, ParameterValue(std::in_place_type<Kept<T>>));
  if constexpr (std::same_as<T, std::vector<int>> || std::same_as<T, std::vector<float>>) {
    T made;
    for (const auto each : *found) made.push_back(static_cast<typename T::value_type>(each));
    return made;
  } else {
    return static_cast<T>(*found);
  }
}
}  // namespace detail

/// A parameter's name and value. as_...() throw Error(invalid_argument) when it is of another type.
class Parameter {
 public:
  Parameter() = default;
  Parameter(std::string name, ParameterValue value) : name_(std::move(name)), value_(std::move(value)) {}
  template <class T>
    requires(!std::same_as<std::decay_t<T>, ParameterValue>)
  Parameter(std::string name, const T& value) : Parameter(std::move(name), detail::value_of(value)) {}

  const std::string& get_name() const noexcept { return name_; }
  const ParameterValue& get_parameter_value() const noexcept { return value_; }
  template <class T>
  T get_value() const {
    return detail::value_as<T>(name_, value_);
  }
  bool as_bool() const { return get_value<bool>(); }
  std::int64_t as_int() const { return get_value<std::int64_t>(); }
  double as_double() const { return get_value<double>(); }
  std::string as_string() const { return get_value<std::string>(); }
  std::vector<std::uint8_t> as_byte_array() const { return get_value<std::vector<std::uint8_t>>(); }
  std::vector<bool> as_bool_array() const { return get_value<std::vector<bool>>(); }
  std::vector<std::int64_t> as_integer_array() const { return get_value<std::vector<std::int64_t>>(); }
  std::vector<double> as_double_array() const { return get_value<std::vector<double>>(); }
  std::vector<std::string> as_string_array() const { return get_value<std::vector<std::string>>(); }

 private:
  std::string name_;
  ParameterValue value_;
};

}  // namespace sinew::rclcpp
