// What a ServiceClientCore is made of.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/service_impl.hpp"
#include "session/endpoint.hpp"
#include "session/io/loop_timer.hpp"

namespace sinew::detail {

/// A call is in `calls` until it is answered or has failed; while a provider has it, also when nobody waits for it any more, since the provider answers nevertheless.
///
/// Invariants:
/// * An AwaitedAnswer is called by whoever has taken it out of `calls`, once, without the mutex; one that runs user code goes from there to `due` under one lock, and is called by the client's thread
///   or by close(), which has to find it in either as long as it was not called.
/// * What a call needs until it has ended is made with it: from then on nothing about it fails for want of memory. What could not be looked at, or sent, is tried again by the timer.
/// * `in_flight` of a provider is the number of calls that it was sent and has not answered, and not more than it may have: so a provider's answers always find room on their way.
/// * A provider's calls go elsewhere only when all that it has answered has been received: it is gone, its publisher is not among the subscription's sources any more, and nobody has a message in hand.
/// * Somebody leads (receives) as long as a call is awaited: a caller that waits for its own, else the client's thread. Only who leads has a message in hand.
struct ServiceClientCore::Impl final : session::EndpointWatcher, std::enable_shared_from_this<Impl> {
  /// Who waits for a call, and what becomes of it, to be told without the mutex.
  struct Outcome {
    std::uint64_t id = 0;
    std::shared_ptr<AwaitedAnswer> answer;
    std::shared_ptr<const void>
        request{};  // once the call has ended, if it was no loan: goes without the mutex, it may have a destructor of the user's
    std::shared_ptr<const void> response{};  // null: it has failed
    std::optional<ServiceError> error{};
  };
  using Outcomes = std::list<Outcome>;  // whose elements go from one to another without memory
  struct Call {
    SharedMessage request;
    std::int64_t deadline = 0;
    bool blocks = false;         // a caller waits for it on its own thread
    std::uint64_t provider = 0;  // 0: it waits for one, and its outcome is at `place` in `waiting`
    std::uint64_t sequence = 0;  // 0: unknown
    bool owes_cancel = false;    // its provider could not be told that nobody waits for it any more
    Outcomes awaited{};          // its outcome, while a provider has it; none: nobody waits for it any more
    Outcomes::iterator place{};
  };
  using Calls = std::unordered_map<std::uint64_t, Call>;
  struct Provider {
    std::uint64_t endpoint = 0;
    session::Reach reach = session::Reach::nobody;   // nobody: it is not sent anything any more
    session::Reach before = session::Reach::nobody;  // while it is looked at anew
    std::uint32_t in_flight = 0;
    std::uint64_t taken = ~std::uint64_t{0};  // of what it was sent, when it was gone
  };
  using Words = std::initializer_list<std::string_view>;  // of an error

  ~Impl() { watch->stop(); }

  // --- EndpointWatcher ---
  void peers_changed() noexcept override;
  void peer_left(std::uint64_t endpoint, std::uint64_t taken, bool is_here) noexcept override;
  void call_cancelled(std::uint64_t, std::uint64_t) noexcept override {}
  void messages_lost(std::uint64_t endpoint, std::uint64_t count) noexcept override;

  void call(std::uint64_t id, SharedMessage request, std::shared_ptr<AwaitedAnswer> answer, std::chrono::nanoseconds timeout);
  void close();
  /// False when it has ended before, or, where `only_unsent`, a provider has it: then nothing happens.
  bool give_up(std::uint64_t id, ServiceError::Kind kind, bool only_unsent = false) noexcept;
  /// The same, and leaves to send what stood behind it, or lacked its memory.
  bool end_early(std::uint64_t id, ServiceError::Kind kind, bool only_unsent) noexcept;
  bool cancel_again();
  /// Receives what is there, or waits for more. REQUIRES: `leading` was set for this thread, which does not have the mutex.
  void lead(std::int64_t until, const std::atomic<bool>* done);
  /// lead(), and lets others do it afterwards. REQUIRES: nobody leads.
  void lead_locked(std::unique_lock<std::mutex>& lock, std::int64_t until, const std::atomic<bool>* done);
  /// Logs what is lacking for something that is tried again, some hundred times a second: once, until `said` is taken back. Needs no memory.
  static void say_short(const std::exception& shortage, std::atomic<bool>& said) noexcept;
  bool receive_all(SubscriberCore& receives, const std::atomic<bool>* done);
  bool settle(const session::Subscription& subscription, bool for_thread);
  bool fail_if_detached_locked(Outcomes& outcomes);

  void ready();
  void add_locked(std::uint64_t id, Call call, std::shared_ptr<AwaitedAnswer> answer, Outcomes& outcomes);
  void look_again();
  /// look_again() after this pause, in nanoseconds.
  void look_in(std::int64_t pause) noexcept;
  std::int64_t look_at_time();
  void refresh_locked(Outcomes& outcomes);
  bool is_gone_locked(const Provider& provider, const std::vector<session::Peer>& readers,
                      const std::vector<session::Subscription::Source>& sources) const;
  void resolve_locked(Provider& provider, bool is_gone, Outcomes& outcomes) noexcept;
  void wait_again_locked(std::uint64_t id, Call& call) noexcept;
  void send_waiting_locked(Outcomes& outcomes) noexcept;
  enum class Sent { yes, elsewhere, not_now, never };
  bool put_loan_first_locked() noexcept;
  Sent send_locked(std::uint64_t id, Call& call, Provider& provider, Outcomes& outcomes) noexcept;
  Provider* next_provider_locked() noexcept;
  Provider* find_locked(std::uint64_t endpoint) noexcept;
  bool forget_lost(std::uint64_t endpoint) noexcept;
  Outcomes take_locked(std::uint64_t id, Call& call) noexcept;
  /// To be held by whoever makes the call, without the mutex: should that fail, the request goes with it, which may have a destructor of the user's. A loan has none, and takes room as long as it is held.
  static std::shared_ptr<const void> kept_of(const SharedMessage& request) noexcept {
    return request.in_window > 0 ? nullptr : request.object;
  }
  void end_locked(Outcomes ended, Outcomes& outcomes) noexcept;
  void fail_locked(std::uint64_t id, Call& call, ServiceError::Kind kind, Words words, Outcomes& outcomes) noexcept;
  void fail_all_locked(ServiceError::Kind kind, Words words, Outcomes& outcomes) noexcept;
  std::string_view why_late_locked(const Call& call) const noexcept;
  /// One that there is no memory for says less.
  ServiceError error_with(ServiceError::Kind kind, Words words) const noexcept;
  ServiceError error_in(const void* response, std::uint64_t status) const noexcept;
  /// True when there is something for the client's thread.
  bool receive(const ReceivedMessage& message);
  void lose(const Rejected& lost);
  void lose_of_all();
  void lose_locked(Provider& provider, std::uint64_t count, Outcomes& outcomes) noexcept;
  /// A message of a provider could not be received. While the subscription is being taken from, so it is only noted down.
  void note_rejected(const Rejected& rejected) noexcept;
  void look_at_rejected(bool all_received);
  void tell(Outcomes outcomes);
  static void tell(Outcome& outcome);
  void run();
  void start_thread_locked();

  const std::shared_ptr<Watch> watch = std::make_shared<Watch>(*this);
  std::string service;
  std::shared_ptr<session::NodeSession> session;
  ServiceEnds ends;                         // once `is_ready`, until `closed`
  std::shared_ptr<PublisherCore> requests;  // of `ends`; stays: callbacks may call while the client is being destroyed
  ErrorOf error_of = nullptr;
  std::optional<ServiceError> destroyed;  // what close() tells: made ahead, it may find no memory
  std::vector<ServiceError> in_short;     // by kind, likewise: errors without a reason
  std::shared_ptr<session::LoopTimer> timer;
  std::atomic<std::uint64_t> last_id{0};  // relaxed: numbers are only to be different
  std::atomic<bool> is_rejected{false};   // there is something in `rejected`; relaxed: who looks was woken, or is the thread that rejected
  // pair TO_LOOK: who takes it sees what has changed.
  std::atomic<bool> is_to_look{false};                           // look_again() is due
  std::atomic<bool> look_is_short{false}, lead_is_short{false};  // what is lacking for them was said. relaxed: nothing follows from it

  std::mutex mutex;                      // guards what follows; taken before those of publisher and subscription
  std::condition_variable changed;       // for the client's thread
  std::condition_variable changed_here;  // for callers that wait while another leads
  Calls calls;
  Outcomes waiting;  // of calls that wait for a provider, in the order in which they are sent
  std::set<std::pair<std::int64_t, std::uint64_t>> deadlines;
  std::vector<Provider> providers;
  std::size_t turn = 0;
  std::int64_t memory_pause = 0;  // until a request is tried again that there is no memory for; 0: none is waited for
  bool settled = true;            // no provider is gone whose calls have yet to go elsewhere
  bool is_ready = false, closed = false;
  bool any_owes_cancel = false;
  bool leading = false;       // somebody receives
  std::thread::id leader;     // who leads, or did so last
  bool thread_leads = false;  // it is the client's thread
  std::uint64_t awaited = 0;  // calls that nobody waits for on a thread of his own
  std::uint64_t blocked = 0;  // callers that wait
  Outcomes due;               // for the client's thread
  std::thread thread;
  ServiceClientStatistics counters;  // but for what is found when it is asked

  std::mutex noting;                                          // taken last
  std::vector<std::pair<std::uint64_t, std::uint64_t>> left;  // endpoint, taken; guarded by `noting`
  std::vector<Rejected> rejected;                             // likewise
  bool is_more_rejected = false;                              // likewise: than there was memory to note
};

/// As os::now_ns(); LoopTimer::never without one.
std::int64_t deadline_after(std::chrono::nanoseconds timeout);

}  // namespace sinew::detail
