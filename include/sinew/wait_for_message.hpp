// One message, now.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "sinew/node.hpp"

namespace sinew {

/// Subscribes to `topic`, waits for a message that is published from now on, or with Qos::transient_local() was kept from before, and returns it; null when none has come within `timeout` (nanoseconds::max(): for ever). Blocks the calling thread, and
/// may be called anywhere, also inside callbacks. Throws as Node::create_subscriber.
template <class T>
std::shared_ptr<const T> wait_for_message(Node& node, const std::string& topic, std::chrono::nanoseconds timeout, const Qos& qos = {}) {
  const auto begin = std::chrono::steady_clock::now();
  const auto subscriber = node.create_subscriber<T>(topic, qos);
  return subscriber->take(std::max(timeout, std::chrono::nanoseconds(0)) - (std::chrono::steady_clock::now() - begin));
}

}  // namespace sinew
