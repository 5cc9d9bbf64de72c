// What a SubscriberCore is made of.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "msg/cdr/cdr.hpp"
#include "session/node/node_session.hpp"
#include "session/subscriber/subscription.hpp"
#include "sinew/detail/subscriber_core.hpp"
#include "sinew/events.hpp"
#include "sinew/executor.hpp"
#include "sinew/msg/type.hpp"

namespace sinew::detail {

/// Told of messages that could not be received, by whoever receives.
class Rejections {
 public:
  virtual ~Rejections() = default;
  /// By which number it wants to be told of a message, should it come to that: asked as long as there is the message.
  virtual std::uint64_t number_of(const void* message) const noexcept = 0;
  /// The same of one that nobody has checked; 0: it cannot be read. `pieces` are those of one that comes in pieces.
  virtual std::uint64_t number_of(const session::Arrival& arrival, std::span<const msg::cdr::Piece> pieces) const noexcept = 0;
  /// `endpoint`: who sent it. `no_memory`: there was no memory for it; else it made no sense.
  virtual void rejected(std::uint64_t endpoint, std::uint64_t number, bool no_memory) noexcept = 0;
};

class RawFrame;

/// Makes of a stream what its subscriber's handler is to see, where that is not the RawFrame itself. Thread-safe.
class StreamOpener {
 public:
  virtual ~StreamOpener() = default;
  /// Null where there is nothing wrong with memory, but with the stream: then `complaint` says what. Throws std::bad_alloc.
  virtual std::shared_ptr<const void> open(const std::shared_ptr<RawFrame>& frame, std::string_view& complaint) const = 0;
};

struct SubscriberCore::Impl final : session::Receiver, std::enable_shared_from_this<Impl> {
  /// Registers a subscriber with the handler that this has, if it has one. Once. Throws Error.
  std::shared_ptr<SubscriberCore> create(const std::shared_ptr<session::NodeSession>& with, const std::string& of_topic,
                                         const msg::Message& of_type, const session::Subscription::Options& options,
                                         const SubscriberEvents& events, ThreadId execution_thread);

  /// The same of one that receives streams, as RawFrames or what its opener makes of them, whatever its handler takes. Throws Error.
  std::shared_ptr<SubscriberCore> create(const std::shared_ptr<session::NodeSession>& with, const std::string& of_topic,
                                         const wire::TypeDescription& of_type, const session::Subscription::Options& options,
                                         const SubscriberEvents& events, ThreadId execution_thread);

  std::string topic;
  const msg::Type* type = nullptr;             // null: messages are streams
  std::shared_ptr<const StreamOpener> opener;  // of streams; may be null
  Handler handler;
  std::shared_ptr<session::NodeSession> session;
  std::shared_ptr<session::Subscription> subscription;
  MessageInfo info;  // the callback's; the execution thread's own
  // relaxed: told, and one thread is the first
  std::atomic<std::uint64_t> received{0}, bytes_copied{0}, rejected{0};
  std::atomic<bool> rejection_reported{false};
  std::unique_ptr<Rejections> rejections;  // of who wants to be told of them; may be null
  std::uint64_t sender = 0;                // the endpoint of the message that is being taken; one thread at a time receives
  std::optional<msg::cdr::Reader> reader;  // made for the first message in pieces; one thread at a time receives
  std::vector<msg::cdr::Piece> pieces;

  using Takes = Handler::Takes;
  bool accept(const session::Arrival& arrival) override;
  bool accept(session::LocalArrival& arrival) override;
  /// Validates, and copies where it must. Nothing when the message is not fit to be handed out.
  /// Unless the result has `keep` or `owned` set, the claim stays the caller's to release, once, in either case.
  std::optional<ReceivedMessage> admit(const session::Arrival& arrival, Takes takes);
  std::optional<ReceivedMessage> decode(const session::Arrival& arrival, Takes takes);
  std::optional<ReceivedMessage> receive_stream(const session::Arrival& arrival);
  void count_received(const session::Arrival& arrival, std::uint64_t copied) noexcept;
  ReceivedMessage admit(session::LocalArrival& arrival, Takes takes);
  void call(ReceivedMessage& message);
  void let_go(void* object) const noexcept;
  /// Rejects it, unless it is of a stranger, who has put another message in its place meanwhile: then it is lost.
  std::nullopt_t refuse(const session::Arrival& arrival, std::string_view complaint) noexcept;
  void reject(const session::Arrival& arrival, std::string_view complaint, bool no_memory = false) noexcept;
  void reject(const std::string& publisher, std::string_view complaint) noexcept;
  void fill(MessageInfo& into, std::uint64_t sequence, std::int64_t source_time, std::uint64_t missed, Delivery delivery) const;
};

}  // namespace sinew::detail
