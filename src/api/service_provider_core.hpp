// What a ServiceProviderCore is made of.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "api/service_impl.hpp"
#include "session/endpoint.hpp"
#include "session/io/loop_timer.hpp"

namespace sinew::detail {

/// Invariant: every request that was received is answered once, with a response or with an error, unless its client has gone, or has more here than it may. An answer that there is no memory for becomes an error without a
/// body, and one that there is no memory for either is tried again until there is.
struct ServiceProviderCore::Impl final : session::EndpointWatcher, std::enable_shared_from_this<Impl> {
  static constexpr std::uint32_t most_owed = most_calls(session::Reach::same_user);
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // endpoint and id
  struct Waiting {
    std::shared_ptr<RunningCall> call;
    std::shared_ptr<const void> request;
  };
  struct Begun {
    std::shared_ptr<RunningCall> call;
    std::optional<ServiceStatus> owed{};  // it ends with this, as soon as there is memory for it
  };
  struct Owed {
    Key key;
    ServiceStatus status{};
    std::uint32_t count = 0;  // so many of them
  };
  using Words = std::initializer_list<std::string_view>;  // of an error

  ~Impl() { watch->stop(); }

  // --- EndpointWatcher ---
  void peers_changed() noexcept override {}
  void peer_left(std::uint64_t endpoint, std::uint64_t taken, bool is_here) noexcept override;
  void call_cancelled(std::uint64_t endpoint, std::uint64_t call) noexcept override;
  void messages_lost(std::uint64_t endpoint, std::uint64_t count) noexcept override;

  /// Of the request's subscription, on the provider's execution thread.
  void receive(ReceivedMessage& message);
  void rejected(const Rejected& request);
  std::shared_ptr<RunningCall> begin(std::uint64_t endpoint, std::uint64_t id, const std::string& client);
  bool note_begun(const std::shared_ptr<RunningCall>& call, session::Reach reach);
  bool is_excess_locked(std::uint64_t endpoint, session::Reach reach) const;
  void execute(const std::shared_ptr<RunningCall>& call, const void* request);
  void work();
  /// What became of the response; where it was not sent, and there is a client, that is told with an error.
  PublishResult reply(const RunningCall& call, std::shared_ptr<const void> response);
  std::multimap<Key, Begun>::iterator find_locked(const RunningCall& call);
  void forget_locked(const RunningCall& call);
  void owe_locked(const Key& key, ServiceStatus status, std::uint64_t count = 1) noexcept;
  std::vector<Owed>::iterator find_owed_locked(const Key& key, ServiceStatus status) noexcept;
  void start_worker_locked();
  void concluded(const RunningCall& call, PublishResult result, const std::string& why_not);
  /// Needs no memory.
  void fail(const RunningCall& call, ServiceStatus status, Words words);
  /// Of a request that was not begun.
  void fail(std::uint64_t endpoint, std::uint64_t id, ServiceStatus status, Words words);
  bool send_error(std::uint64_t endpoint, std::uint64_t id, ServiceStatus status, Words words);
  bool try_begun_again();
  bool try_owed_again();
  bool try_all_again();
  std::int64_t try_again();
  /// Waits for handlers that run, but for the one that it is called from, if any: when that has answered, what is left ends with it.
  void close();
  void end();

  const std::shared_ptr<Watch> watch = std::make_shared<Watch>(*this);
  std::string service;
  std::shared_ptr<session::NodeSession> session;
  ServiceEnds ends;
  Serve serve;
  MakeError make_error = nullptr;
  std::uint32_t parallel = 1;
  std::shared_ptr<session::LoopTimer> timer;  // for answers that there was no memory for

  std::mutex mutex;                   // guards what follows; taken last
  std::multimap<Key, Begun> running;  // a client that uses an id twice before it is answered has only itself to confuse
  std::map<std::uint64_t, std::set<std::uint64_t>> early;  // cancelled before they were received
  std::vector<Key> early_in_need;                          // likewise, noted when there was no memory; it has room for some
  // Answers of requests that were not begun: those that there was no memory for, and errors in place of those that were lost, which have no id. Invariant: however much a client loses or sends, there are not many more of
  // its own than it may have calls, and they go with it. But for that they go by the timer alone.
  std::vector<Owed> owed;
  std::size_t owed_turn = 0;
  bool owes_all = false;               // there was no memory even to note one
  ServiceProviderStatistics counters;  // but for what is found when it is asked
  bool overrun_reported = false, excess_reported = false;
  // With threads of its own:
  std::condition_variable changed;
  std::list<Waiting> queue;  // needs no memory to be let go
  std::vector<std::thread> threads;
  std::uint32_t idle = 0;
  bool closed = false;
};

}  // namespace sinew::detail
