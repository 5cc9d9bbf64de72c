// Who gets what of one message among the subscriptions of its publisher's process, with the fewest copies.
//
// After the ROS 2 intra-process design, "Number of message copies", and its two tables.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "session/in_process/local_queue.hpp"
#include "session/in_process/objects.hpp"

namespace sinew::session {

/// One message at a time: begin(), prepare(), put(), end(). Not thread-safe but for the end of what is left over. Keeps its memory for the messages to come.
class LocalDelivery {
  struct Part {
    std::shared_ptr<LocalQueue> queue;
    LocalQueue::Item item;
  };
  using Parts = std::vector<Part>;
  /// Memory for the parts of messages to come. Thread-safe.
  class Spare {
   public:
    Spare() = default;
    ~Spare() { take(); }
    Spare(const Spare&) = delete;
    Spare& operator=(const Spare&) = delete;
    /// Null when there is none.
    std::unique_ptr<Parts> take() noexcept {
      return std::unique_ptr<Parts>(memory_.exchange(nullptr, std::memory_order_acquire));  // sync: SPARE (with put)
    }
    void put(std::unique_ptr<Parts> parts) noexcept {
      delete memory_.exchange(parts.release(), std::memory_order_acq_rel);  // sync: SPARE (with take)
    }

   private:
    // pair SPARE: who takes it sees it emptied.
    std::atomic<Parts*> memory_{nullptr};
  };

 public:
  /// What a message leaves when it has been put, or has not: above all those that it has pushed out. To be let go of without any lock, for the deleters of messages are user code, which may also end the publisher.
  class Leftovers {
   public:
    Leftovers() = default;
    ~Leftovers() {
      kept_.reset();
      if (!parts_) return;
      parts_->clear();
      spare_->put(std::move(parts_));
    }
    Leftovers(const Leftovers&) = delete;
    Leftovers& operator=(const Leftovers&) = delete;

   private:
    friend LocalDelivery;
    std::unique_ptr<Parts> parts_;
    std::shared_ptr<Spare> spare_;
    std::shared_ptr<const void> kept_;
  };

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
  void end(Leftovers& into) noexcept;

 private:
  std::shared_ptr<const void> common(GivenMessage& message, const std::shared_ptr<const void>& frame, std::uint64_t& copies) const;

  const std::shared_ptr<const Objects> objects_;
  const std::shared_ptr<Spare> spare_ = std::make_shared<Spare>();
  std::unique_ptr<Parts> parts_;  // null before begin()
  std::size_t sharers() const noexcept { return sharers_ + (keeps_ ? 1 : 0); }

  std::size_t sharers_ = 0, owners_ = 0;
  bool keeps_ = false;
  std::shared_ptr<const void> kept_;
};

}  // namespace sinew::session
