// The names that classes of rclcpp give to pointers to themselves.
#pragma once

#include <memory>
#include <utility>

#include "sinew/detail/never.hpp"

namespace sinew::rclcpp {

/// Base of T: `T::SharedPtr`, `T::make_shared(...)`.
template <class T>
struct Pointers {
  using SharedPtr = std::shared_ptr<T>;
  using ConstSharedPtr = std::shared_ptr<const T>;
  using WeakPtr = std::weak_ptr<T>;
  using UniquePtr = std::unique_ptr<T>;

  template <class... Arguments>
  static SharedPtr make_shared(Arguments&&... arguments) {
    return std::make_shared<T>(std::forward<Arguments>(arguments)...);
  }

 private:
  friend T;
  Pointers() = default;
};

namespace detail {
using sinew::detail::never;
}  // namespace detail

}  // namespace sinew::rclcpp
