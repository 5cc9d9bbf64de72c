// Receiving messages.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/buffer.hpp"
#include "sinew/detail/subscriber_core.hpp"
#include "sinew/events.hpp"
#include "sinew/executor.hpp"
#include "sinew/ghost.hpp"
#include "sinew/message_info.hpp"

namespace sinew {

struct SubscriberOptions {
  /// Which execution thread calls the callback and the event handlers, see Executor. Callbacks on one thread never overlap.
  ThreadId execution_thread = 0;
  /// Take every n-th message of each publisher, from the first on; at least 1. Qos::keep_last then counts these, up to 512 messages of the publisher.
  std::uint32_t every = 1;
  /// Take at most so many messages a second of each publisher, by their source times and on average; 0: all. A message that comes too early is left
  /// out, not delayed. Together with `every`: of every n-th message at most so many.
  double max_rate = 0;
  /// How messages are to be read. Nothing: in place (Delivery::native) wherever both processes are of one user and have the same layout of the type, which has no maps, and the publisher's memory can be mapped at
  /// its address; else by Delivery::view, which costs the publisher a description of each message and this side decoding; of another user's publishers by Delivery::copy. Delivery::native insists: where
  /// messages cannot be read in place none is received, with a line in the log; what is taken beyond the share below, or as std::unique_ptr, is copied all the same; for a T with maps or views create_subscriber throws Error(invalid_argument). Delivery::view never reads in place. Delivery::copy copies or decodes every message before it is
  /// handed out: nothing that the publisher's process does later changes it, and holding it keeps none of the publisher's memory.
  /// From publishers of this process nothing, or Delivery::pointer, takes the published object itself, but not a ghost, nor for a T with views, for which Delivery::pointer is refused; the others treat them as if they were elsewhere. Delivery::pointer takes nothing from other
  /// processes.
  std::optional<Delivery> delivery = {};
  /// What waits here of publishers of this process. Nothing: Buffer::owned for a callback that takes `std::unique_ptr<T>`, else Buffer::shared.
  std::optional<Buffer> buffer = {};
  /// As PublisherOptions::ghost. A subscriber that is detached gets nothing more; what it has received and not taken it can take.
  Ghost ghost = Ghost::no;
  /// What to call when something happens beside messages.
  SubscriberEvents events = {};
};

/// Made by Node::create_subscriber. Thread-safe.
///
/// A received message is the publisher's object itself, mapped read-only into this process: nothing was copied or decoded. As `std::shared_ptr<const T>` it may be kept,
/// copied and passed to other threads like any other, also after subscriber, node and publisher are gone. Of a publisher of the same process it is the object that was published. As
/// `std::unique_ptr<T>` it is the receiver's own, which costs a copy unless the publisher gave the message away and nobody else here wants to own it. After fork() a child must not look into messages of its parent.
///
/// What is held of another process is that publisher's memory, and everybody else's loss when there is none left. So a subscriber holds of each at most 119 messages, and at most a
/// quarter of its memory_budget, or one message that is larger. Further ones are copied into this process before they are handed out (MessageInfo::delivery says so,
/// SubscriberStatistics::over_quota counts them) until some are let go; nobody else notices. The same bounds what a process keeps from others that is stopped while it holds messages.
///
/// T may have std::span<const E> and std::string_view where the publisher's type has std::vector<E> and std::string: such a message is made anew from the publisher's, small members
/// decoded, and big arrays referred to where they lie (Delivery::view). For programs that cannot read in place and still do not want to copy images.
template <class T>
class Subscriber {
 public:
  /// Takes the next waiting message, oldest first per publisher; null when there is none. Does not wait for messages, but for another thread that is in take(), also in one that waits. `info`, if given, is filled when a
  /// message is returned. For subscribers without a callback: throws Error(invalid_argument) else.
  ///
  /// A message that is read in place costs one small allocation, for the pointer; one that comes by pointer none (with Buffer::shared); one that is copied or decoded is made on the heap. Throws std::bad_alloc when there is no
  /// memory for that: the message is lost then. System calls only to wake a publisher that waits for this subscriber, or the
  /// thread of an event handler, to let go of the memory of publishers that are gone, and those of the heap.
  std::shared_ptr<const T> take(MessageInfo* info = nullptr) {
    auto received = core_->take(info);
    if (!received) return nullptr;
    return {std::move(received->keep), static_cast<const T*>(received->object)};
  }

  /// The same, but waits for a message, at most so long (nanoseconds::max(): for ever; 0 or less: not at all); meanwhile other calls of take() wait as well. Null when none has come, or will, since the node was
  /// destroyed, or this is a ghost whose topic is gone (statistics().detached): then it does not wait.
  std::shared_ptr<const T> take(std::chrono::nanoseconds timeout, MessageInfo* info = nullptr) {
    auto received = core_->take(timeout, info);
    if (!received) return nullptr;
    return {std::move(received->keep), static_cast<const T*>(received->object)};
  }

  SubscriberStatistics statistics() const { return core_->statistics(); }
  /// Every publisher that is connected now. A snapshot.
  std::vector<MatchedPublisher> publishers() const { return core_->publishers(); }
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
template <class Callback, class T>
concept TakesOwned = std::invocable<Callback&, std::unique_ptr<T>> || std::invocable<Callback&, std::unique_ptr<T>, const MessageInfo&>;
/// What create_subscriber accepts: (const T&), (std::shared_ptr<const T>) or (std::unique_ptr<T>), each optionally followed by (const MessageInfo&).
template <class Callback, class T>
concept MessageCallback = TakesReference<Callback, T> || TakesShared<Callback, T> || TakesOwned<Callback, T>;

/// Calls it with the message, and with what it wants to know about it.
template <class Callback, class Message>
void call_with(Callback& callback, Message&& message, const ReceivedMessage& received) {
  if constexpr (std::invocable<Callback&, Message, const MessageInfo&>) {
    callback(std::forward<Message>(message), *received.info);
  } else {
    callback(std::forward<Message>(message));
  }
}

template <class T, class Callback>
Handler make_handler(Callback callback) {
  // Who takes std::shared_ptr<const T> can be called with a std::unique_ptr<T>, too.
  if constexpr (TakesReference<Callback, T>) {
    return {Handler::Takes::look, std::invocable<Callback&, const T&, const MessageInfo&>,
            [callback = std::move(callback)](ReceivedMessage& received) mutable {
              call_with(callback, *static_cast<const T*>(received.object), received);
            }};
  } else if constexpr (TakesShared<Callback, T>) {
    return {Handler::Takes::share, std::invocable<Callback&, std::shared_ptr<const T>, const MessageInfo&>,
            [callback = std::move(callback)](ReceivedMessage& received) mutable {
              call_with(callback, std::shared_ptr<const T>(std::move(received.keep), static_cast<const T*>(received.object)), received);
            }};
  } else {
    // It would be made of the std::unique_ptr, at a copy of every message from elsewhere.
    static_assert(!std::invocable<Callback&, std::shared_ptr<T>> && !std::invocable<Callback&, std::shared_ptr<T>, const MessageInfo&>,
                  "sinew: a received message is shared and cannot be changed: take std::shared_ptr<const T>, "
                  "or std::unique_ptr<T> to own a copy");
    return {Handler::Takes::own, std::invocable<Callback&, std::unique_ptr<T>, const MessageInfo&>,
            [callback = std::move(callback)](ReceivedMessage& received) mutable {
              call_with(callback, std::unique_ptr<T>(static_cast<T*>(std::exchange(received.owned, nullptr))), received);
            }};
  }
}

}  // namespace detail
}  // namespace sinew
