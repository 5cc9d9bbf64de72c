// What a publisher has for one subscription of its own process: messages by pointer, waiting to be taken.
//
// The buffer per subscription of the ROS 2 intra-process design ("Proposed implementation"), but one per publisher and subscription, so that a depth counts
// the messages of each publisher here as it does between processes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/counters.hpp"
#include "session/endpoint.hpp"
#include "session/in_process/objects.hpp"
#include "session/qos/liveliness.hpp"
#include "session/qos/thinning.hpp"
#include "shm/bell.hpp"
#include "sinew/buffer.hpp"
#include "sinew/message_info.hpp"

namespace sinew::session {

class Doorbell;
class Listener;
class LocalQueue;
class Subscription;

/// A message that was taken from a queue.
struct LocalArrival {
  const LocalQueue* from = nullptr;  ///< valid during the call
  std::shared_ptr<const void> shared;
  OwnedObject owned;
  void* value = nullptr;  ///< in the queue, valid until the next one is taken; destroyed by the queue
  std::uint64_t sequence = 0;
  std::int64_t source_time = 0;
  std::uint64_t missed = 0;  ///< of this publisher, since the one before

  /// The message, valid during the call.
  const void* look() const noexcept { return shared ? shared.get() : owned ? owned.get() : value; }
  /// Hands the message over, once. The second copies what others may have, too. Throw std::bad_alloc.
  std::shared_ptr<const void> share();
  OwnedObject own();
  bool must_copy_to_own() const noexcept { return shared != nullptr; }
};

/// Thread-safe; one publisher at a time puts in, one taker at a time takes out.
class LocalQueue {
 public:
  struct Options {
    Buffer buffer = Buffer::shared;
    std::uint32_t depth = 0;    ///< so many of the newest messages; 0: as many as a ring has entries
    bool holds_back = false;    ///< the publisher waits rather than push messages out
    std::int64_t lifespan = 0;  ///< older messages are not handed out; 0: they never are too old
    Thinning::Options thinning;
    std::string publisher, subscriber;  ///< names of the nodes
    std::weak_ptr<Subscription> taker{};
    std::shared_ptr<Listener> losses{};    ///< who is told of them; may be null
    std::shared_ptr<const Pulse> pulse{};  ///< of the publisher; null when it promises nothing
    std::int64_t lease = 0;                ///< within which it must give a sign by itself; 0: it need not
    std::uint64_t publisher_endpoint = 0, subscriber_endpoint = 0;
    std::weak_ptr<EndpointWatcher> watcher{};  ///< of the publisher's endpoint
  };
  /// `bell` wakes the taker. `made_space` is called by the taker when a queue that holds its publisher back has become half empty.
  LocalQueue(Options options, Counters::Slot counts, std::shared_ptr<const Objects> objects, std::shared_ptr<Doorbell> bell,
             std::function<void()> made_space);
  ~LocalQueue();
  LocalQueue(const LocalQueue&) = delete;
  LocalQueue& operator=(const LocalQueue&) = delete;

  const Options& options() const noexcept { return options_; }
  const std::shared_ptr<const Objects>& objects() const noexcept { return objects_; }

  // --- the publisher's side ---
  /// Whether the subscription wants this message at all. For every message, in their order; one that was not published after all is followed by one of the same sequence.
  bool wants(std::uint64_t sequence, std::int64_t source_time) noexcept;
  /// No room for a message that must not push out another.
  bool is_full() const noexcept;
  /// A message to be put in, and afterwards what it has pushed out, to be let go without a lock. One of the three.
  struct Item {
    std::shared_ptr<const void> shared;
    OwnedObject owned;
    const void* copied = nullptr;  ///< Buffer::value: copied into the queue
    std::uint64_t sequence = 0;
    std::int64_t source_time = 0;
  };
  /// When there is no memory for a copy, the message counts as missed.
  void put(Item& item) noexcept;
  /// How many were put in.
  std::uint64_t put_so_far() const noexcept { return tail_.load(std::memory_order_relaxed); }
  /// What was put in up to this sequence is from the history.
  void end_history(std::uint64_t sequence) noexcept { history_end_.store(sequence, std::memory_order_relaxed); }
  /// A message that cannot be put in counts as missed.
  void miss() noexcept;
  void ring_if_asleep() noexcept;
  /// Nothing more will be put in.
  void publisher_gone() noexcept { publisher_gone_.store(true, std::memory_order_seq_cst); }  // sync: QUEUE_GONE (with finished)

  // --- the subscription's side ---
  bool has_news() const noexcept;
  std::optional<LocalArrival> take();
  /// When the next message was published, if the publisher kept it for those who come late.
  std::optional<std::int64_t> next_from_history() const noexcept;
  // sync: QUEUE_GONE (with publisher_gone)
  bool finished() const noexcept { return publisher_gone_.load(std::memory_order_seq_cst) && !has_news(); }
  /// The subscription is gone: what waits is let go, and nothing waits any more.
  void close();

  // --- any thread: what SubscriberEnd tells by the same names ---
  std::uint64_t endpoint() const noexcept { return options_.publisher_endpoint; }
  Sighting sighting() const;
  /// When the publisher published its newest message for us; 0: none yet, or it promises nothing for which that matters.
  std::int64_t newest() const noexcept;
  bool is_served() const noexcept { return !hung_up(); }
  bool hung_up() const noexcept { return publisher_gone_.load(std::memory_order_relaxed); }
  bool stands() const noexcept { return !hung_up(); }
  /// Published for us, and neither taken nor counted as missed: also what was pushed out since the last one was taken.
  std::uint64_t waiting() const noexcept;
  /// Of these, what is still there to be taken.
  std::uint64_t kept() const noexcept { return std::min<std::uint64_t>(waiting(), capacity_); }
  /// What is held are objects, and nothing of the publisher's memory.
  static constexpr std::uint64_t held() noexcept { return 0; }
  MatchedPublisher matched() const;
  std::uint64_t received() const noexcept { return counts().messages.load(std::memory_order_relaxed); }
  std::uint64_t missed() const noexcept { return counts().missed.load(std::memory_order_relaxed); }
  void count_losses(SubscriberStatistics& into) const noexcept;
  bool cancel_call(std::uint64_t call) const noexcept;

  bool is_open() const noexcept { return !closed_.load(std::memory_order_relaxed); }

 private:
  /// A position in the queue, see local_queue.cpp. One cache line: what a taker spins on brings the rest with it.
  struct alignas(64) Slot {
    // pair QUEUE_STATE / BELL, QUEUE_CLOSED: who turns it finds what was put in; who puts in sees the taker asleep, or closed, or is seen.
    std::atomic<std::uint64_t> state{0};
    std::atomic<const void*> object{nullptr};  // of `shared` or `owned`; relaxed: prefetched, never followed
    // pair QUEUE_FIELDS: who finds a new one cannot find the old state behind it. relaxed: who has the slot for itself reads what it has found full
    std::atomic<std::uint64_t> sequence{0};
    std::atomic<std::int64_t> source_time{0};
    std::shared_ptr<const void> shared;
    OwnedObject owned;
  };
  static_assert(sizeof(Slot) == 64);

  Slot& slot(std::uint64_t position) const noexcept;
  void* value_at(std::uint64_t index) const noexcept;
  bool fill_value(std::uint64_t position, Item& item) noexcept;
  void push_out(std::uint64_t position, Item& into) noexcept;
  Slot* claim() noexcept;
  void give_back(Slot& taken) noexcept;
  /// To a publisher that waits for it. After give_back().
  void tell_space() const noexcept;
  std::optional<LocalArrival> take_next();
  void* take_value(Slot& taken);
  void drop_all() noexcept;

  shm::PairCounts& counts() const noexcept { return counts_.taken(); }
  void count_missed(std::uint64_t count) noexcept;

  const Options options_;
  const Counters::Slot counts_;  // `skipped` is the publisher's, `missed` of both, the rest the taker's
  const std::int64_t joined_at_;
  const std::size_t capacity_;
  const std::size_t slot_count_;  // one more: that of the next message is free while the queue is full
  const std::unique_ptr<Slot[]> slots_;
  const std::shared_ptr<const Objects> objects_;
  const std::shared_ptr<Doorbell> bell_;
  const std::function<void()> made_space_;
  std::unique_ptr<std::byte[]> memory_;  // Buffer::value: for as many objects, and one more, which is being looked at
  std::byte* objects_at_ = nullptr;
  std::atomic<std::uint64_t> history_end_{0};  // relaxed: set before the queue is handed to its taker
  // pair QUEUE_GONE / BELL: who sees it sees all that was put in; the taker sees it, or is seen asleep. relaxed: where one only asks whether it is still worth while, of both
  std::atomic<bool> closed_{false}, publisher_gone_{false};

  // The publisher's.
  // pair QUEUE_TAIL: who sees a position sees the slots before it. relaxed: the publisher, who alone writes it; and in waiting(), behind the head
  alignas(64) std::atomic<std::uint64_t> tail_{0};  // the position of the next message to be put in
  std::uint64_t head_seen_ = 0;
  shm::Ringer ringer_;
  Thinning thinning_;
  Thinning settled_;  // what it was before the message that is asked for
  std::uint64_t asked_ = 0, settled_skipped_ = 0;

  // The taker's.
  // pair QUEUE_HEAD / BLOCKED: who sees it finds the slots before it empty; a publisher that waits for space sees it, or is seen waiting. relaxed: the taker, who alone writes it
  alignas(64) std::atomic<std::uint64_t> head_{0};  // the position of the next message to be taken
  std::uint64_t missed_since_ = 0;                  // to be told with the next message
  bool looked_at_ = false;
  // Counted by both, but seldom by the publisher, which would otherwise wait for its line with every message.
  std::atomic<std::uint64_t> not_put_{0};  // missed, and the taker has not told yet; relaxed: with this message or the next
};

}  // namespace sinew::session
