// Receiving messages.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/detail/subscriber_core.hpp"
#include "sinew/message_info.hpp"

namespace sinew {

struct SubscriberOptions {
  /// Take every n-th message of each publisher, from the first on; at least 1. Qos::keep_last then counts these, up to 512 messages of the publisher.
  std::uint32_t every = 1;
  /// Take at most so many messages a second of each publisher, by their source times and on average; 0: all. A message that comes too early is left
  /// out, not delayed. Together with `every`: of every n-th message at most so many.
  double max_rate = 0;
  /// How messages are to be read. Nothing: in place (Delivery::native) wherever both processes have the same layout of the type and the publisher's memory can be mapped at
  /// its address; else by Delivery::view, which costs the publisher a description of each message and this side decoding. Delivery::native insists: what
  /// cannot be read in place is not received, with a line in the log. Delivery::view never reads in place. Delivery::copy copies or decodes every message before it is
  /// handed out: nothing that the publisher's process does later changes it, and holding it keeps none of the publisher's memory. Others throw Error(invalid_argument).
  std::optional<Delivery> delivery = {};
};

/// Made by Node::create_subscriber. Thread-safe.
///
/// A received message is the publisher's object itself, mapped read-only into this process: nothing was copied or decoded. As `std::shared_ptr<const T>` it may be kept,
/// copied and passed to other threads like any other, also after subscriber, node and publisher are gone. While more than 119 messages of one publisher
/// are held, further ones are delivered as copies (MessageInfo::delivery says so). After fork() a child must not look into messages of its parent.
///
/// T may have std::span<const E> and std::string_view where the publisher's type has std::vector<E> and std::string: such a message is made anew from the publisher's, small members
/// decoded, and big arrays referred to where they lie (Delivery::view). For programs that cannot read in place and still do not want to copy images.
template <class T>
class Subscriber {
 public:
  /// Takes the next waiting message, oldest first per publisher; null when there is none. Never blocks, makes no system call. `info`, if given, is filled when a message is returned.
  /// For subscribers without a callback: throws Error(invalid_argument) else.
  std::shared_ptr<const T> take(MessageInfo* info = nullptr) {
    auto received = core_->take(info);
    if (!received) return nullptr;
    return {std::move(received->keep), static_cast<const T*>(received->object)};
  }

  SubscriberStatistics statistics() const { return core_->statistics(); }
  /// Every publisher that is connected now. A snapshot.
  std::vector<PublisherShare> publishers() const { return core_->publishers(); }
  const std::string& topic() const noexcept { return core_->topic(); }

  /// For Node::create_subscriber.
  explicit Subscriber(std::shared_ptr<detail::SubscriberCore> core) noexcept : core_(std::move(core)) {}

 private:
  const std::shared_ptr<detail::SubscriberCore> core_;
};

namespace detail {

template <class Callback, class T>
concept TakesReference = std::invocable<Callback&, const T&> || std::invocable<Callback&, const T&, const MessageInfo&>;
template <class Callback, class T>
concept TakesShared =
    std::invocable<Callback&, std::shared_ptr<const T>> || std::invocable<Callback&, std::shared_ptr<const T>, const MessageInfo&>;
/// What create_subscriber accepts: (const T&) or (std::shared_ptr<const T>), each optionally followed by (const MessageInfo&).
template <class Callback, class T>
concept MessageCallback = TakesReference<Callback, T> || TakesShared<Callback, T>;

template <class T, class Callback>
Handler make_handler(Callback callback) {
  if constexpr (TakesReference<Callback, T>) {
    return {false, std::invocable<Callback&, const T&, const MessageInfo&>,
            [callback = std::move(callback)](const ReceivedMessage& received) mutable {
              const T& message = *static_cast<const T*>(received.object);
              if constexpr (std::invocable<Callback&, const T&, const MessageInfo&>) {
                callback(message, *received.info);
              } else {
                callback(message);
              }
            }};
  } else {
    return {true, std::invocable<Callback&, std::shared_ptr<const T>, const MessageInfo&>,
            [callback = std::move(callback)](const ReceivedMessage& received) mutable {
              std::shared_ptr<const T> message(received.keep, static_cast<const T*>(received.object));
              if constexpr (std::invocable<Callback&, std::shared_ptr<const T>, const MessageInfo&>) {
                callback(std::move(message), *received.info);
              } else {
                callback(std::move(message));
              }
            }};
  }
}

}  // namespace detail
}  // namespace sinew
