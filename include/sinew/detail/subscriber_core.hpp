// The part of a subscriber that does not depend on the message type. Not for direct use.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sinew/error.hpp"
#include "sinew/message_info.hpp"

namespace sinew::detail {

/// A received message: the object, what keeps it alive, and where it came from.
struct ReceivedMessage {
  const void* object = nullptr;
  std::shared_ptr<const void> keep;
  void* owned = nullptr;              ///< Takes::own: as `new` made it; taken by the handler
  const MessageInfo* info = nullptr;  ///< valid during the call
  std::uint64_t endpoint = 0;         ///< of the publisher, if it is part of a service
};

/// How the typed side takes a message.
struct Handler {
  enum class Takes {
    look,   ///< `keep` stays empty and the object is valid during the call only
    share,  ///< `keep` is set
    own,    ///< `owned` is set
  };
  Takes takes = Takes::share;
  bool wants_info = false;  ///< false: `info` is null
  std::function<void(ReceivedMessage&)> call;
};

/// Thread-safe.
class SINEW_API SubscriberCore {
 public:
  struct Impl;
  explicit SubscriberCore(std::shared_ptr<Impl> impl) noexcept;
  ~SubscriberCore();

  const std::string& topic() const noexcept;
  bool has_callback() const noexcept;
  /// The next message and a copy of its info, or nothing.
  std::optional<ReceivedMessage> take(MessageInfo* info);
  /// The same, but waits for it.
  std::optional<ReceivedMessage> take(std::chrono::nanoseconds timeout, MessageInfo* info);
  SubscriberStatistics statistics() const;
  std::vector<MatchedPublisher> publishers() const;

 private:
  class Taker;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sinew::detail
