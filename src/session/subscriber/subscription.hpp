// A subscriber without its message type: the publishers it is connected to, taken from in turn.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "session/callbacks/runnable.hpp"
#include "session/counters.hpp"
#include "session/endpoint.hpp"
#include "session/in_process/local_queue.hpp"
#include "session/qos/incompatible_peers.hpp"
#include "session/subscriber/subscriber_end.hpp"
#include "session/subscriber/subscriber_status.hpp"
#include "sinew/message_info.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

class ExecutionThread;

/// What happens with a message that was taken. Called on the execution thread, or in take(), one at a time. False: it is none to be handed out.
class Receiver {
 public:
  virtual bool accept(const Arrival& arrival) = 0;
  virtual bool accept(LocalArrival& arrival) = 0;

 protected:
  ~Receiver() = default;
};

/// Thread-safe.
class Subscription final : public Runnable, public std::enable_shared_from_this<Subscription> {
 public:
  struct Options {
    wire::Qos qos;
    Thinning::Options thinning;
    Reading reading = Reading::as_possible;
    Buffer buffer = Buffer::shared;            ///< for messages of this process
    bool takes_pointers = false;               ///< from publishers of this process
    bool in_place = true;                      ///< messages of this type can be read where they lie, by some processes
    std::uint64_t endpoint = 0;                ///< of a service's client or provider; 0: none
    std::weak_ptr<EndpointWatcher> watcher{};  ///< of the endpoint
    wire::Ghost ghost = wire::Ghost::no;       ///< is only there as long as others are
  };
  /// With a thread, `receiver` is called on it for every message; without, messages wait for take().
  Subscription(std::uint64_t id, const std::string& topic, const std::string& node, std::shared_ptr<Counters> counters,
               const Options& options, std::shared_ptr<ExecutionThread> thread, Receiver* receiver);
  ~Subscription();

  std::uint64_t id() const noexcept { return id_; }
  /// Drawn by lot, by which the domain knows it.
  std::uint64_t identity() const noexcept { return identity_; }
  /// Of its node.
  Counters& counters() const noexcept { return *counters_; }
  const Options& options() const noexcept { return options_; }
  /// Null without one.
  const std::shared_ptr<ExecutionThread>& thread() const noexcept { return thread_; }
  Doorbell& doorbell() noexcept;
  /// The same, kept alive.
  std::shared_ptr<Doorbell> bell();

  /// On the loop's thread.
  void add(std::shared_ptr<SubscriberEnd> end);
  /// The end of a connection with this publisher that stands since an earlier manager has introduced the two; null: there is none. On the loop's thread.
  std::shared_ptr<SubscriberEnd> end_of(const wire::ConnectSubscriber& introduction) const;
  /// A connection with this publisher was cut off, and what it has left is yet to be taken: then the publisher is to be introduced again, and is so as soon as all is taken. On the loop's thread.
  bool awaits_left_over(std::uint64_t publisher) noexcept;
  /// Up to here, what this publisher has published was decided about before its connection was cut off; 0: that is not known. REQUIRES: nothing is left over.
  std::uint64_t decided_of(std::uint64_t publisher) const noexcept;
  /// What those have lost, and no message has told of; once.
  std::uint64_t take_untold_of(std::uint64_t publisher) noexcept;
  /// There is a connection with a publisher of this endpoint, as Publisher::serves(). On the loop's thread.
  bool is_served_by(std::uint64_t endpoint) const;
  /// Whether one more publisher of another user may come, or `one` that is there begin, beside no more than most_strangers that serve and most_strangers_met in all.
  bool has_room_for_stranger(const SubscriberEnd* one = nullptr) const noexcept;
  /// This one does not come, for want of that; why.
  std::string turn_stranger_away(const std::string& peer);
  /// One that was there is gone. True when there is room for some that were turned away, which are to be introduced again.
  bool stranger_went() noexcept { return has_room_for_stranger() && turns_strangers_away_.exchange(false, std::memory_order_relaxed); }
  /// This publisher offers less than is asked for, and does not come. On the loop's thread.
  void incompatible(const wire::Incompatible& peer);
  const std::string& topic() const noexcept { return incompatible_.topic(); }
  /// What keeps others from being connected is said there. On the loop's thread.
  IncompatiblePeers& peers_away() noexcept { return incompatible_; }
  IncompatibleQosEvent last_incompatible() const { return incompatible_.last(); }
  /// A publisher of this process. Any thread. Gives back the queues of those that are forgotten for it, to be let go of without locks: users' deleters run with what is in them.
  [[nodiscard]] std::vector<std::shared_ptr<LocalQueue>> add(const std::shared_ptr<LocalQueue>& queue);
  /// The execution thread shall look at this subscription again.
  void wake() noexcept;
  /// Chunks of this publisher are withdrawn: what takes messages is not to keep them mapped until the next one comes.
  void let_go_of_chunks(SubscriberEnd& end);

  bool has_news() const noexcept override;
  void prefetch() const noexcept override;
  bool run_some(const Turn& turn) override;
  /// Offers the next messages, of whatever publisher, until `receiver` accepts one. False when there is none. REQUIRES: no thread was given.
  bool take(Receiver& receiver);
  /// Sleeps until there may be something to take, the subscription is closed, or the time has come (os::now_ns; LoopTimer::never); or for nothing, when the bell has been rung before. Says whether there is something. REQUIRES: no thread was given.
  bool wait(std::int64_t until);

  /// So many publishers that were there before will be introduced, and have kept messages. Before the first of them is. On the loop's thread.
  void expect_histories(std::uint32_t count) noexcept { histories_expected_.store(count, std::memory_order_relaxed); }
  /// Then (os::now_ns) nobody's history is waited for any longer, and the subscription is to be woken.
  std::int64_t patient_until() const noexcept { return patient_until_; }
  /// Deadline, liveliness and events.
  SubscriberStatus& status() noexcept { return status_; }
  /// Its publishers, and those that are gone but not forgotten.
  std::vector<Sighting> sightings() const;
  /// When those that were let go of have published their newest message for us; 0: never.
  std::int64_t newest_of_departed() const;

  /// It is a ghost, and its topic is gone: who waits for a message does so in vain. On the loop's thread.
  void detach() noexcept;
  bool is_closed() const noexcept { return closed_.load(std::memory_order_relaxed); }
  /// The receiver is not called any more when this returns, except by the call that this is called from. Idempotent.
  void close() override;

  /// A publisher that has an endpoint.
  struct Source {
    std::uint64_t endpoint = 0;
    bool is_served = false;  ///< else it has yet to be, or is gone and some of its messages were not taken yet
  };
  std::vector<Source> sources() const;
  /// Forgets publishers that are gone, with what was not taken of them, when may_go() says so of their endpoints. Throws std::bad_alloc; then some other time.
  void let_go_of_departed(const std::function<bool(std::uint64_t endpoint)>& may_go);
  /// Tells the endpoint that nobody here waits for the answer to this call any more. False when there was no memory for it.
  bool cancel_call(std::uint64_t endpoint, std::uint64_t call) const noexcept;

  /// But for what was handed out or refused, which the receiver counts.
  SubscriberStatistics statistics() const;
  /// Of those that serve it.
  std::vector<MatchedPublisher> publishers() const;

 private:
  /// Gives the receiver the next message, if there is one; what the receiver said, or nothing.
  std::optional<bool> offer_next(Receiver& receiver);
  std::optional<bool> offer_of(std::size_t source, Receiver& receiver);

  /// Its publishers, each with what it has for us: those of this process, and those of others.
  struct Connections {
    std::vector<std::shared_ptr<LocalQueue>> queues;
    std::vector<std::shared_ptr<SubscriberEnd>> ends;

    std::size_t size() const noexcept { return queues.size() + ends.size(); }
    template <class Is>
    bool any(Is is) const {
      return std::ranges::any_of(queues, is) || std::ranges::any_of(ends, is);
    }
    template <class Visit>
    void each(Visit visit) const {
      for (const auto& end : ends) visit(*end);
      for (const auto& queue : queues) visit(*queue);
    }
  };
  /// Lists it among these of `connections_`. Those that are forgotten for it, to be let go of without locks; nothing when the subscription is closed.
  template <class Connection>
  std::optional<std::vector<std::shared_ptr<Connection>>> enlist(std::shared_ptr<Connection> connection,
                                                                 std::vector<std::shared_ptr<Connection>>& among);
  template <class Connection>
  void count_locked(Connection& gone);
  template <class Connection>
  void forget_locked(Connection& gone);
  void remember_locked(SubscriberEnd& gone) noexcept;
  void remember_locked(LocalQueue&) noexcept {}
  bool tells_gaps(const SubscriberEnd& end, std::uint64_t publisher) const noexcept;

  // While a transient-local subscription catches up with what was published before it came.
  struct Next {
    std::optional<std::size_t> source;  ///< whose history goes on
    bool waits = false;                 ///< for someone who has yet to tell, or to bring, what he has kept
  };
  Next next_from_histories() const noexcept;
  void let_go_of_finished();
  void await_callback();
  void refresh();
  std::uint64_t most_of(const Turn& turn);

  const std::uint64_t id_, identity_;
  const std::shared_ptr<Counters> counters_;
  const Options options_;
  IncompatiblePeers incompatible_;
  SubscriberStatus status_;
  const std::shared_ptr<ExecutionThread> thread_;
  const std::shared_ptr<Doorbell> silent_;  // without a thread: a bell that says awake but in wait(), so that nobody rings it
  Receiver* const receiver_;

  std::mutex taking_;  // one taker at a time, and the callback; taken before mutex_
  // relaxed: a thread finds its own id, or not
  std::atomic<std::thread::id> running_{};  // the thread that is inside the receiver
  Connections seen_;                        // guarded by taking_
  std::uint64_t seen_version_ = 0;
  std::size_t turn_ = 0;
  std::vector<std::shared_ptr<SubscriberEnd>> left_;  // guarded by taking_: of one that its own callback has closed
  // relaxed, both: who is late looks again, or waits until `patient_until_`
  std::atomic<bool> catching_up_;
  std::atomic<std::uint32_t> histories_expected_{0};
  const std::int64_t patient_until_;

  mutable std::mutex mutex_;
  Connections connections_;              // guarded by mutex_
  std::int64_t newest_of_departed_ = 0;  // likewise
  SubscriberStatistics before_;          // losses of those that are gone; likewise
  // Likewise: the last ones that were cut off, by the identity of their publisher. So many and no more, for nothing may fail where they are noted.
  struct CutOff {
    std::uint64_t publisher = 0, decided = 0, untold = 0;
  };
  std::array<CutOff, 32> cut_off_{};
  std::size_t next_cut_off_ = 0;
  // pair VERSION: who sees it finds the connections as they are now, or newer, under mutex_.
  std::atomic<std::uint64_t> version_{0};          // counts their changes
  std::atomic<bool> turns_strangers_away_{false};  // relaxed: who comes too late for it is met some other time
  std::atomic<bool> closed_{false};                // relaxed: what close() does then is under the mutexes, and it rings whoever waits
};

}  // namespace sinew::session
