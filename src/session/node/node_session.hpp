// A node as the manager knows it: its registration, its publishers and subscriptions, and the thread for its sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "session/callbacks/callbacks.hpp"
#include "session/callbacks/executor.hpp"
#include "session/callbacks/periodic_timer.hpp"
#include "session/counters.hpp"
#include "session/io/io_loop.hpp"
#include "session/node/domain_watch.hpp"
#include "session/node/manager_link.hpp"
#include "session/publisher/publisher.hpp"
#include "session/subscriber/subscription.hpp"
#include "sinew/error.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

/// Thread-safe. Lives until the last handle of a frame that came through it is gone, so that the manager knows what this process still has mapped.
class NodeSession final : public IoLoop::Handler, public std::enable_shared_from_this<NodeSession> {
  using Kind = ManagerLink::Kind;

 public:
  struct Options {
    std::string domain{};                  ///< as SINEW_DOMAIN; empty: what SINEW_DOMAIN says
    std::shared_ptr<Executor> executor{};  ///< null: one of its own
  };
  /// Registers the node, starting the manager when there is none. Blocks until the manager is ready, at most 5 s, and has answered, at most 7 s. Throws Error.
  static std::shared_ptr<NodeSession> create(const std::string& name, const Options& options);
  ~NodeSession();

  const std::string& name() const noexcept { return link_.node(); }
  IoLoop& loop() noexcept { return loop_; }
  /// Where what this node does is counted.
  const std::shared_ptr<Counters>& counters() const noexcept { return counters_; }

  // `execution_thread`: its id, for all handlers.
  /// Block until the manager has answered, at most 5 s, also where one must be found first. `storage` and `objects` as Publisher's. Throw Error(type_mismatch, invalid_argument, exhausted, unavailable, disconnected).
  std::shared_ptr<Publisher> create_publisher(const std::string& topic, const wire::TypeDescription& type,
                                              const std::shared_ptr<const FrameStorage>& storage,
                                              const std::shared_ptr<const Objects>& objects, const Publisher::Options& options,
                                              const PublisherEvents& events, unsigned execution_thread);
  std::shared_ptr<Subscription> create_subscription(const std::string& topic, const wire::TypeDescription& type,
                                                    const Subscription::Options& options, Receiver* receiver,
                                                    const SubscriberEvents& events, unsigned execution_thread);
  /// `period` in nanoseconds, at least 1. Throws Error(exhausted, disconnected, invalid_argument).
  std::shared_ptr<PeriodicTimer> create_timer(std::int64_t period, std::function<void()> callback, unsigned execution_thread);
  /// A node may have so many at a time, of which domain_state() is one (W73).
  static constexpr std::size_t most_watches = 16;
  /// `handler` is told of everything in the domain, and of all changes, on that thread; of all anew when there is another manager. Throws Error(exhausted, disconnected).
  std::shared_ptr<DomainWatch> watch_domain(std::function<void(const DomainUpdate&)> handler, unsigned execution_thread);
  /// The same, also of where nodes count, on the thread for sockets. Blocks until everything that there is has been told. Throws Error(exhausted, disconnected, unavailable).
  std::shared_ptr<DomainWatch> watch_counters(DomainWatch::Handler handler);
  /// Blocks until the manager has told everything. Throws Error(unavailable, disconnected).
  DomainState domain_state();
  /// The manager ends the session of the node of this name (W87). Throws Error(invalid_argument, denied, unavailable, disconnected).
  void disconnect(const std::string& other);
  void remove(const std::shared_ptr<DomainWatch>& watch);
  /// The next batch may come.
  void answer_watch(std::uint64_t id) noexcept { link_.tell(wire::DomainTaken{id}); }
  /// Lets it begin anew.
  void renew(DomainWatch& watch) noexcept;

  /// Tells the manager first, so that nobody is introduced any more, then closes.
  void remove(Publisher& publisher);
  void remove(const std::shared_ptr<Subscription>& subscription);

  /// For whoever watches the domain: messages of this introduction come another way than in place, or not at all. Any thread.
  void tell_path(std::uint64_t connection, wire::Path path, const char* why) noexcept;
  /// Likewise. A publisher has so many bytes mapped.
  void tell_memory(std::uint64_t publisher, std::uint64_t bytes) noexcept { link_.tell_memory(publisher, bytes); }
  /// One introduction to this window, by that manager (ManagerLink::manager), has ended here: nothing of it is mapped for its sake any more. Any thread.
  void release_window(const wire::Window& window, std::uint64_t manager) noexcept;
  /// A connection of it did not come about, or has ended, for want of something that this process may have again: after a pause the manager introduces it to all once more. Any thread.
  void introduce_again(const Publisher& publisher) noexcept { link_.renew({Kind::publisher, publisher.id()}); }
  void introduce_again(const Subscription& subscription) noexcept { link_.renew({Kind::subscriber, subscription.id()}); }
  /// What was in the way of that is not any more.
  void introduce_now(const Subscription& subscription) noexcept { link_.renew_now({Kind::subscriber, subscription.id()}); }
  /// Nothing of a publisher that was removed is left in its window. Any thread.
  void release_window_of(std::uint64_t publisher) noexcept { link_.release_window(publisher); }

  /// Stops callbacks, closes everything, gives the name back. Idempotent.
  void close();

 private:
  struct Refusal {
    ErrorKind kind;
    std::string text;
  };
  /// Without memory for its text it says so.
  template <class Text>
  static Refusal refusal_of(ErrorKind kind, Text text) noexcept {
    try {
      return {kind, text()};
    } catch (const std::bad_alloc&) {
      return {kind, "no memory"};  // needs none
    }
  }
  struct Answer {
    std::function<void(const wire::Message&)> on_success;  // on the loop's thread
    // Not an exception: it would be shared by two threads through counters that no race detector sees.
    std::promise<std::optional<Refusal>> done;
  };

  NodeSession(const std::string& name, const std::string& socket_path, const Options& options);
  void on_event(const os::Poller::Event& event) override;
  void handle(Channel::Input& input);
  using Question = ManagerLink::Key;
  /// False when nobody waits for it any more.
  bool answered(const Question& question, const wire::Message& message, std::optional<Refusal> refusal = std::nullopt);
  void on_registered(const wire::PublisherRegistered& publisher);
  void on_registered(const wire::SubscriberRegistered& subscriber);
  template <class Refused>
  void on_refused(const Question& question, const Refused& refused);
  template <class Introduction>
  void connect(Kind kind, const Introduction& introduction, os::Fd socket);
  void on_connect(const wire::ConnectPublisher& introduction, os::Fd socket);
  /// No socket: this process had no room for it.
  void on_connect(const wire::ConnectSubscriber& introduction, os::Fd socket);
  void on_incompatible(const wire::Incompatible& peer);
  void on_detached(const wire::Detached& ghost);
  void on_domain_state(std::uint64_t watch, Channel::Input& input);
  std::shared_ptr<DomainWatch> add_watch(DomainWatch::Handler handler, std::shared_ptr<ExecutionThread> thread, bool wants_counters);
  void begin_watch(DomainWatch& watch);
  void watch_anew() noexcept;
  void for_each_watch(void (*use)(DomainWatch&)) noexcept;
  template <class Map>
  auto any_of(Map& all) -> decltype(all.begin()->second.lock());
  /// Null when it is gone.
  std::shared_ptr<Publisher> publisher_of(std::uint64_t id);
  std::shared_ptr<Subscription> subscription_of(std::uint64_t id);
  void lose_manager(const char* why);
  void remove_all();
  void ask(const Question& question, const char* what, const std::function<void()>& send,
           std::function<void(const wire::Message&)> on_success);
  /// Null when the window that the manager gave is in use in this process.
  std::shared_ptr<Publisher> try_to_create_publisher(const std::string& topic, const wire::TypeDescription& type,
                                                     const std::shared_ptr<const FrameStorage>& storage,
                                                     const std::shared_ptr<const Objects>& objects, const Publisher::Options& options,
                                                     const PublisherEvents& events, unsigned execution_thread);
  Error destroyed() const;
  Error unanswered(const char* what) const;
  /// Throws Error(disconnected) when the node has been closed.
  std::shared_ptr<ExecutionThread> thread(unsigned id);
  /// Null when there is no handler.
  template <class Events>
  std::shared_ptr<Listener> listener_for(const Events& events, unsigned execution_thread);

  ManagerLink link_;
  IoLoop loop_;
  std::shared_ptr<Counters> counters_;

  std::mutex watching_;  // held while watches, and managers, come and go, until the manager was told: taken before mutex_
  std::mutex mutex_;     // guards what follows
  bool closed_ = false;
  std::shared_ptr<Executor> executor_;  // until it is closed
  std::map<Question, std::shared_ptr<Answer>> asked_;
  std::unordered_map<std::uint64_t, std::weak_ptr<Publisher>> publishers_;
  std::unordered_map<std::uint64_t, std::weak_ptr<Subscription>> subscriptions_;
  std::map<std::uint64_t, std::weak_ptr<DomainWatch>> watches_;
  Callbacks callbacks_;
};

}  // namespace sinew::session
