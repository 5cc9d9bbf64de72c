// What a ServiceClientCore is made of.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/service_impl.hpp"
#include "session/endpoint.hpp"
#include "session/timer.hpp"

namespace sinew::detail {

/// A call is in `calls` until it is answered or has failed; while a provider has it, also when nobody waits for it any more, since the provider answers nevertheless.
///
/// Invariants:
/// * An AwaitedAnswer is called by whoever has taken it out of `calls`, once, without the mutex; one that runs user code goes from there to `due` under one lock, and is called by the client's thread
///   or by close(), which has to find it in either as long as it was not called.
/// * `in_flight` of a provider is the number of calls that it was sent and has not answered, and not more than it may have: so a provider's answers always find room on their way.
/// * A provider's calls go elsewhere only when all that it has answered has been received: it is gone, and its publisher is not among the subscription's sources any more.
/// * Somebody leads (receives) as long as a call is awaited: a caller that waits for its own, else the client's thread.
struct ServiceClientCore::Impl final : session::EndpointWatcher, std::enable_shared_from_this<Impl> {
  struct Call {
    std::shared_ptr<const void> request;
    std::shared_ptr<AwaitedAnswer> answer;  // null: nobody waits for it any more
    std::int64_t deadline = 0;
    std::uint64_t provider = 0;  // 0: it waits for one
    std::uint64_t sequence = 0;  // 0: unknown
    bool blocks = false;         // a caller waits for it on its own thread
  };
  using Calls = std::unordered_map<std::uint64_t, Call>;
  struct Provider {
    std::uint64_t endpoint = 0;
    session::Reach reach = session::Reach::nobody;  // nobody: it is not sent anything any more
    std::uint32_t in_flight = 0;
    std::uint64_t taken = ~std::uint64_t{0};  // of what it was sent, when it was gone
  };
  /// What has become of a call, to be told without the mutex.
  struct Outcome {
    std::shared_ptr<AwaitedAnswer> answer;
    std::shared_ptr<const void> response;  // null: it has failed
    std::optional<ServiceError> error{};
  };
  using Outcomes = std::list<Outcome>;

  ~Impl() { watch->stop(); }

  // --- EndpointWatcher ---
  void peers_changed() noexcept override;
  void peer_left(std::uint64_t endpoint, std::uint64_t taken) noexcept override;
  void call_cancelled(std::uint64_t, std::uint64_t) noexcept override {}

  void call(std::uint64_t id, std::shared_ptr<const void> request, std::shared_ptr<AwaitedAnswer> answer, std::chrono::nanoseconds timeout);
  void close();
  void give_up(std::uint64_t id, ServiceError::Kind kind);
  /// Receives what is there, or waits for more. REQUIRES: `leading` was set for this thread, which does not have the mutex.
  void lead(std::int64_t until, const std::atomic<bool>* done);
  /// lead(), and lets others do it afterwards, whatever becomes of it. REQUIRES: nobody leads.
  void lead_locked(std::unique_lock<std::mutex>& lock, std::int64_t until, const std::atomic<bool>* done);
  bool receive_all(SubscriberCore& receives, const std::atomic<bool>* done);
  bool settle(const session::Subscription& subscription, bool for_thread);

  void ready();
  void add_locked(std::uint64_t id, Call call, Outcomes& outcomes);
  void look_again();
  void refresh_locked(Outcomes& outcomes);
  void resolve_locked(const Provider& gone, Outcomes& outcomes);
  void send_waiting_locked(Outcomes& outcomes);
  enum class Sent { yes, elsewhere, not_now, never };
  Sent send_locked(std::uint64_t id, Call& call, Provider& provider, Outcomes& outcomes);
  Provider* next_provider_locked();
  Provider* find_locked(std::uint64_t endpoint);
  std::shared_ptr<AwaitedAnswer> take_answer_locked(std::uint64_t id, Call& call);
  void end_locked(Outcome outcome, Outcomes& outcomes);
  void fail_locked(std::uint64_t id, Call& call, ServiceError::Kind kind, const std::string& text, Outcomes& outcomes);
  void fail_all_locked(ServiceError::Kind kind, const std::string& text, Outcomes& outcomes);
  std::string why_late_locked(const Call& call) const;
  /// True when there is something for the client's thread.
  bool receive(const ReceivedMessage& message);
  void unreadable(std::uint64_t endpoint);
  /// A message of this provider could not be received. While the subscription is being taken from, so it is only noted down.
  void note_rejected(std::uint64_t endpoint) noexcept;
  void look_at_rejected();
  std::int64_t expire();
  void tell(Outcomes outcomes);
  static void tell(Outcome& outcome);
  void run();
  void start_thread_locked();

  const std::shared_ptr<Watch> watch = std::make_shared<Watch>(*this);
  std::string service;
  std::shared_ptr<session::NodeSession> session;
  ServiceEnds ends;  // once `is_ready`
  ErrorOf error_of = nullptr;
  std::optional<ServiceError> destroyed;  // what close() tells: made ahead, it may find no memory
  std::shared_ptr<session::Timer> timer;
  std::atomic<std::uint64_t> last_id{0};
  std::atomic<bool> is_rejected{false};  // `rejected` is not empty
  std::atomic<bool> told{false};         // peers_changed() has asked for look_again()

  std::mutex mutex;                      // guards what follows; taken before those of publisher and subscription
  std::condition_variable changed;       // for the client's thread
  std::condition_variable changed_here;  // for callers that wait while another leads
  std::unordered_map<std::uint64_t, Call> calls;
  std::deque<std::uint64_t> waiting;  // for a provider; of some that are gone the number is still here
  std::set<std::pair<std::int64_t, std::uint64_t>> deadlines;
  std::vector<Provider> providers;
  std::size_t turn = 0;
  bool settled = true;  // no provider is gone whose calls have yet to go elsewhere
  bool is_ready = false, closed = false;
  bool leading = false;       // somebody receives
  bool thread_leads = false;  // it is the client's thread
  std::uint64_t awaited = 0;  // calls that nobody waits for on a thread of his own
  std::uint64_t blocked = 0;  // callers that wait
  Outcomes due;               // for the client's thread
  std::thread thread;
  ClientCounters counters;

  std::mutex noting;                                          // taken last
  std::vector<std::pair<std::uint64_t, std::uint64_t>> left;  // endpoint, taken; guarded by `noting`
  std::vector<std::uint64_t> rejected;                        // endpoints; likewise
};

/// As os::now_ns(); Timer::never without one.
std::int64_t deadline_after(std::chrono::nanoseconds timeout);

}  // namespace sinew::detail
