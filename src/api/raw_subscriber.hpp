// Receiving messages as the CDR streams that they are to processes which cannot read them in place: for other languages, recorders and gateways.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/held.hpp"
#include "session/subscriber/subscription.hpp"
#include "sinew/detail/subscriber_core.hpp"
#include "sinew/node.hpp"

namespace sinew::detail {

/// A message: the extents of its stream, in their order, where they lie. Big arrays lie in the publisher's memory, each in an extent as a whole (C3.3). Immutable, unless the publisher's process runs wild: whoever decodes
/// it bounds each length it reads. Keeps the publisher's memory while it lives, as any message that is held.
class RawFrame {
 public:
  std::vector<std::span<const std::byte>> extents;
  MessageInfo info;
  std::shared_ptr<RawFrame> itself{};  ///< for an owner who has no more than its address: resetting it lets go of the frame

  /// Keeps the claim on the frame.
  void hold(const session::Arrival& arrival) { held_.emplace(arrival); }
  /// Copies the extents into one, of so many bytes. Throws std::bad_alloc, having changed nothing.
  std::uint64_t copy();

 private:
  struct Free {
    void operator()(void* memory) const noexcept;
  };
  std::optional<Held> held_;
  std::unique_ptr<void, Free> copied_;
};

/// Thread-safe.
class RawSubscriber {
 public:
  /// A ghost may also subscribe to a topic of a service: it is shown what is sent there, wrapped as spec/services.md says.
  /// Each message is its own; `callback` runs on an execution thread. Empty: messages wait for take().
  /// A subscriber reads streams and nothing else: SubscriberOptions::delivery is none or Delivery::view, and there is no `buffer`. Throws as Node::create_subscriber, and Error(invalid_argument) where the signature is none.
  using Callback = std::function<void(std::shared_ptr<RawFrame>)>;
  static RawSubscriber create(const Node& node, const std::string& topic, const std::string& signature, Callback callback = {},
                              const Qos& qos = {}, const SubscriberOptions& options = {});

  /// As Subscriber::take().
  std::shared_ptr<RawFrame> take(std::chrono::nanoseconds timeout = {}) const;
  /// Takes nothing: waits, as take() does, until that may have something, or nothing comes any more. False: it was waited for in vain.
  bool wait(std::chrono::nanoseconds timeout) const;
  /// Nothing comes any more: the node was destroyed.
  bool is_closed() const noexcept { return subscription_->is_closed(); }
  /// Likewise: it is a ghost, and its topic is gone.
  bool is_detached() const noexcept { return subscription_->status().is_detached(); }
  SubscriberCore& core() const noexcept { return *core_; }

 private:
  RawSubscriber(std::shared_ptr<SubscriberCore> core, std::shared_ptr<session::Subscription> subscription) noexcept
      : core_(std::move(core)), subscription_(std::move(subscription)) {}

  std::shared_ptr<SubscriberCore> core_;
  std::shared_ptr<session::Subscription> subscription_;
};

}  // namespace sinew::detail
