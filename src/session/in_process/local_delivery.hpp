// Who gets what of one message among the subscriptions of its publisher's process, with the fewest copies.
//
// After the ROS 2 intra-process design, "Number of message copies", and its two tables.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "session/in_process/local_queue.hpp"
#include "session/in_process/objects.hpp"

namespace sinew::session {

/// One message at a time: begin(), prepare(), put(), end(). Not thread-safe. Keeps its memory between messages.
class LocalDelivery {
 public:
  explicit LocalDelivery(std::shared_ptr<const Objects> objects) : objects_(std::move(objects)) {}

  /// Asks every queue whether it wants this message. Throws std::bad_alloc, having asked none.
  void begin(const std::vector<std::shared_ptr<LocalQueue>>& queues, std::uint64_t sequence, std::int64_t source_time);
  /// Whether the message is to be kept as well, for those who come later: then it is shared with one more.
  void keep(bool wanted) noexcept { keeps_ = wanted; }
  /// Given a frame, prepare() would share it.
  bool shares_frame(const GivenMessage& message) const noexcept;
  /// Given no frame, prepare() would copy.
  bool must_copy(const GivenMessage& message) const noexcept;
  /// Makes what the queues will get. `frame`, if not null, is the same message where other processes read it. Throws std::bad_alloc. Returns the bytes copied.
  /// `message` must live until put() has returned.
  std::uint64_t prepare(GivenMessage& message, const std::shared_ptr<const void>& frame);
  /// Puts the message into the queues and wakes their takers.
  void put(std::int64_t source_time) noexcept;
  /// What prepare() has made to be kept.
  const std::shared_ptr<const void>& kept() const noexcept { return kept_; }
  /// Lets go of what was pushed out. Without a lock: the destruction of messages takes them.
  void end() noexcept {
    parts_.clear();
    kept_.reset();
  }

 private:
  struct Part {
    std::shared_ptr<LocalQueue> queue;
    LocalQueue::Item item;
  };
  std::shared_ptr<const void> common(GivenMessage& message, const std::shared_ptr<const void>& frame, std::uint64_t& copies) const;

  const std::shared_ptr<const Objects> objects_;
  std::vector<Part> parts_;
  std::size_t sharers() const noexcept { return sharers_ + (keeps_ ? 1 : 0); }

  std::size_t sharers_ = 0, owners_ = 0;
  bool keeps_ = false;
  std::shared_ptr<const void> kept_;
};

}  // namespace sinew::session
