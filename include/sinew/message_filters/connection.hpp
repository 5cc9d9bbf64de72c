// Taking back what was registered.
#pragma once

#include <functional>
#include <utility>

#include "sinew/detail/language.hpp"

namespace sinew::message_filters {

/// What registerCallback() of a Subscriber gives. A value: the callback stays registered when it goes. Thread-safe as an int is.
class Connection {
 public:
  Connection() = default;
  /// For Subscriber.
  explicit Connection(std::function<void()> take_back) : take_back_(std::move(take_back)) {}

  /// The callback is called no more, but with a message that another thread hands out at this moment; when that is over it is destroyed. The second time, and when the Subscriber is gone, nothing happens. Anywhere, also in the callback.
  void disconnect() {
    if (const auto take_back = std::exchange(take_back_, nullptr)) take_back();
  }

 private:
  std::function<void()> take_back_;
};

}  // namespace sinew::message_filters
