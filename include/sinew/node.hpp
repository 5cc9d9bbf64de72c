// A node: a named participant of a domain.
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/action_client.hpp"
#include "sinew/action_server.hpp"
#include "sinew/detail/escaping.hpp"
#include "sinew/detail/never.hpp"
#include "sinew/detail/object_type.hpp"
#include "sinew/detail/publisher_core.hpp"
#include "sinew/detail/service_core.hpp"
#include "sinew/detail/subscriber_core.hpp"
#include "sinew/domain.hpp"
#include "sinew/domain_counters.hpp"
#include "sinew/domain_watch.hpp"
#include "sinew/error.hpp"
#include "sinew/executor.hpp"
#include "sinew/msg/reflect.hpp"
#include "sinew/publisher.hpp"
#include "sinew/qos.hpp"
#include "sinew/service.hpp"
#include "sinew/subscriber.hpp"
#include "sinew/timer.hpp"

namespace sinew {
namespace detail {
struct NodeAccess;
}

struct NodeOptions {
  /// The domain to join: a name (letters, digits, '_', '-', '.'), or, with a '/' in it, the path of the manager's socket, whose folder must be there. Empty: the environment variable SINEW_DOMAIN, else "default".
  ///
  /// The socket of a name is $XDG_RUNTIME_DIR/sinew/NAME.sock. Where that variable is not set, it is /run/sinew/NAME.sock for root, and for others /tmp/sinew-UID/NAME.sock, in a folder that must be theirs alone.
  /// So the same name means two domains, and nobody is told, to a user in a shell (/run/user/UID) and in a service of the system (unset), and to two users. Services, and domains of several users, should have
  /// SINEW_DOMAIN=/path/of/a.sock.
  std::string domain{};
  /// Where callbacks run; nodes may share one. Null: threads of the node's own, as Executor::create() makes them.
  std::shared_ptr<Executor> executor{};
};

/// Thread-safe. A process may have any number of nodes. An idle node uses no CPU, but for the timers of a deadline or a lease (Qos).
///
/// Callbacks, for messages, requests, feedback, events, timers and changes of the domain, run on execution threads, see Executor: unless said otherwise on one thread of the library's, one at a time; answers of ServiceClient, results of ActionClient, and goals, on others beside it. An exception that leaves a
/// callback ends the program, as one leaving any thread does. A callback may be called before the function that is given it has returned: make what it uses first, and do not use in it what that returns.
/// When the manager dies, what is connected stays connected, calls and goals go on, and the node finds the next one, or starts it where the last one ran as its own user, and announces itself anew. What is created meanwhile waits
/// for that, at most 5 s; then it throws Error(disconnected).
/// Nodes do not survive fork(): a child may only destroy what it inherited, which then does nothing. Daemonise before you create a node.
class SINEW_API Node : public std::enable_shared_from_this<Node> {
 public:
  /// Joins the domain under `name` ([A-Za-z0-9_./-], at most 255 bytes), which must be free in it; the environment variable SINEW_NODE, when set, replaces `name`,
  /// that of every node of the program: it is for programs with one, of others the second node finds its name taken.
  /// Starts the domain's manager when none runs. Blocks until registered: about a millisecond, at most some seconds.
  /// Throws Error: invalid_argument, name_taken, unavailable, incompatible, denied, exhausted, disconnected (managers that came and went while this tried), system.
  [[nodiscard]] static std::shared_ptr<Node> create(const std::string& name, const NodeOptions& options = {});

  /// Waits for a running callback (unless called from it), then leaves the domain; the name is free when it returns. Publishers and subscribers of the node
  /// become inert: publish() returns closed, take() null. So do its timers, which are cancelled for good, and its watches; calls and goals of its clients end with ServiceError::Kind::disconnected, and its providers and servers
  /// are gone for their clients, as if destroyed. Messages that are held stay valid. Not in the deleter of a message (Publisher::publish): that may run on the node's own thread, which then ends the program.
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// The name in the domain, after SINEW_NODE.
  const std::string& name() const noexcept;

  // What the functions below create works as long as the node lives, and does not keep it: keep both.

  /// Publishes on `topic`: segments of [A-Za-z0-9_] separated by '/', at most 255 bytes; "/a" is "a". Names of services, which are made in the same way, have at most 246 bytes, of actions 233.
  /// Connects to every subscriber of the topic, present and future, in the background, of other users to 64 at a time, as a subscriber to 64 of their publishers. Blocks until the manager has agreed. Throws Error: type_mismatch (the text names the first field that differs), denied, invalid_argument,
  /// exhausted, disconnected, unavailable (the manager did not answer within 5 s, or there is no such topic for a ghost), system; and std::bad_alloc.
  /// The publisher does not keep the node: without it publish() returns closed, always.
  template <class T>
  [[nodiscard]] std::shared_ptr<Publisher<T>> create_publisher(const std::string& topic, const Qos& qos = {},
                                                               const PublisherOptions& options = {}) {
    return std::make_shared<Publisher<T>>(make_publisher(topic, msg::published_message_of<T>(), detail::object_type<T>, qos, options));
  }

  /// Calls `callback` for every message, on an execution thread: (const T&), valid during the call, (std::shared_ptr<const T>), to keep, or (std::unique_ptr<T>), to
  /// own and change; each optionally followed by (const MessageInfo&). What takes a message by value, (T) or (auto), copies each. The callback may destroy the subscriber. Destroying the subscriber elsewhere waits for a running callback.
  /// The subscriber does not keep the node: without it no message comes. Throws as create_publisher.
  template <class T, class Callback>
    requires detail::MessageCallback<std::decay_t<Callback>, T>
  [[nodiscard]] std::shared_ptr<Subscriber<T>> create_subscriber(const std::string& topic, Callback&& callback, const Qos& qos = {},
                                                                 const SubscriberOptions& options = {}) {
    return std::make_shared<Subscriber<T>>(
        make_subscriber(topic, msg::message_of<T>(),
                        detail::make_handler<T, std::decay_t<Callback>>(detail::escaping(std::forward<Callback>(callback))), qos, options));
  }

  /// Not to be used: the order of ROS 2.
  template <class T, std::convertible_to<Qos> Settings, class Callback>
    requires(!std::convertible_to<Callback, SubscriberOptions>)
  [[nodiscard]] std::shared_ptr<Subscriber<T>> create_subscriber(const std::string&, Settings&&, Callback&&,
                                                                 const SubscriberOptions& = {}) {
    static_assert(detail::never<T>,
                  "sinew: the callback comes before the Qos: create_subscriber<T>(topic, callback, sinew::Qos{}.keep_last(10))");
    return {};
  }

  /// A subscriber without a callback: messages wait for Subscriber::take().
  template <class T>
  [[nodiscard]] std::shared_ptr<Subscriber<T>> create_subscriber(const std::string& topic, const Qos& qos = {},
                                                                 const SubscriberOptions& options = {}) {
    return std::make_shared<Subscriber<T>>(make_subscriber(topic, msg::message_of<T>(), {}, qos, options));
  }

  /// Calls `callback()` every `period` (at least 1 ns), first a period from now, on an execution thread. The callback may destroy the timer.
  /// Throws Error: invalid_argument, exhausted, disconnected.
  [[nodiscard]] std::shared_ptr<Timer> create_timer(std::chrono::nanoseconds period, std::function<void()> callback,
                                                    const TimerOptions& options = {});

  /// The execution threads of this node.
  const std::shared_ptr<Executor>& executor() const noexcept;
  // The same of the executor, which see. For nodes whose executor is run by its caller.
  void spin() { executor()->spin(); }
  void dispatch() { executor()->dispatch(); }
  int fd() { return executor()->fd(); }

  /// Calls the service `name`, which is named as a topic is and has nothing to do with a topic of that name. Throws as create_publisher.
  template <class Request, class Response>
  [[nodiscard]] std::shared_ptr<ServiceClient<Request, Response>> create_service_client(const std::string& name,
                                                                                        const ServiceClientOptions& options = {}) {
    return std::make_shared<ServiceClient<Request, Response>>(
        make_service_client(name, msg::published_message_of<ServiceRequest<Request>>(), detail::object_type<ServiceRequest<Request>>,
                            msg::message_of<ServiceResponse<Response>>(), detail::error_of<Response>, options));
  }

  /// Provides the service `name`: `handler` is called with each request, (const Request&), and returns the Response. It may take a ServiceCall<Response>& behind it, to know when nobody waits any more, or to
  /// build the response where the client reads it. An exception that leaves it goes to the client, as a ServiceError with its text. Any number of providers may provide one service. Throws as create_publisher.
  template <class Request, class Response, class Handler>
    requires detail::ServiceHandler<std::decay_t<Handler>, Request, Response>
  [[nodiscard]] std::shared_ptr<ServiceProvider<Request, Response>> create_service_provider(const std::string& name, Handler&& handler,
                                                                                            const ServiceProviderOptions& options = {}) {
    return std::make_shared<ServiceProvider<Request, Response>>(make_service_provider(
        name, msg::message_of<ServiceRequest<Request>>(), msg::published_message_of<ServiceResponse<Response>>(),
        detail::object_type<ServiceResponse<Response>>,
        detail::make_serve<Request, Response, std::decay_t<Handler>>(detail::escaping(std::forward<Handler>(handler))),
        detail::make_error<Response>, options));
  }

  /// Not to be used: a handler of another kind, as that of ROS 2, which is given the response to fill it.
  template <class Request, class Response, class Handler>
    requires(!detail::ServiceHandler<std::decay_t<Handler>, Request, Response>)
  [[nodiscard]] std::shared_ptr<ServiceProvider<Request, Response>> create_service_provider(const std::string&, Handler&&,
                                                                                            const ServiceProviderOptions& = {}) {
    static_assert(detail::never<Handler>, "sinew: a handler returns its response: [](const Request& request) { return Response{...}; }");
    return {};
  }

  /// Sends goals to the servers of the action `name`, which is named as a topic is; its service and topics are below `name`/_action. Throws as create_publisher.
  template <class Goal, class Feedback, class Result>
  [[nodiscard]] std::shared_ptr<ActionClient<Goal, Feedback, Result>> create_action_client(const std::string& name,
                                                                                           const ActionClientOptions& options = {}) {
    return std::make_shared<ActionClient<Goal, Feedback, Result>>(*this, name, options);
  }

  /// Executes goals of the action `name`: `execute` is called with each that is accepted, (ServerGoal<Goal, Feedback>&), on a thread of the server's own, and returns the Result. An exception that leaves it aborts the goal
  /// with its text. Any number of servers may execute the goals of one action; each is executed by one, and by no other when that dies. Throws as create_publisher.
  template <class Goal, class Feedback, class Result, class Execute>
    requires std::is_invocable_r_v<Result, std::decay_t<Execute>&, ServerGoal<Goal, Feedback>&>
  [[nodiscard]] std::shared_ptr<ActionServer<Goal, Feedback, Result>> create_action_server(const std::string& name, Execute&& execute,
                                                                                           const ActionServerOptions<Goal>& options = {}) {
    return std::make_shared<ActionServer<Goal, Feedback, Result>>(*this, name, detail::escaping(std::forward<Execute>(execute)), options);
  }

  /// What there is in the domain now. Blocks until the manager has told everything: under a millisecond, and some microseconds for each endpoint and each pair of them. Whoever may join a domain may ask. Throws Error: unavailable, disconnected, exhausted (a node may watch and ask 16 times at a time).
  DomainState domain_state() const;
  /// What all nodes of the domain count, to be read at any time. Blocks until the manager has told everything, as domain_state(). Throws as that.
  [[nodiscard]] std::shared_ptr<DomainCounters> domain_counters();
  /// Calls `callback` on an execution thread with what there is, and then with every change, as long as the watch lives; the callback may destroy it. Changes that follow each other quickly, or come while a callback runs, are
  /// told together, as they stand in the end: what came and went meanwhile may not be told at all. Throws Error: exhausted, disconnected.
  [[nodiscard]] std::shared_ptr<DomainWatch> watch_domain(std::function<void(const DomainUpdate&)> callback,
                                                          const DomainWatchOptions& options = {});
  /// Ends the connection of the node `name` with the manager, as if that had died: it registers again, and all its pairs are introduced anew, while those that are connected go on. For nodes that others see wrongly, and for
  /// tests. Does not wait for what comes of it, which the domain's state tells. Throws as domain_state(), and Error: invalid_argument (there is no such node), denied (it is another user's, and this one neither the manager's nor root).
  void disconnect(const std::string& name);

 private:
  friend struct detail::NodeAccess;
  struct Impl;
  explicit Node(std::unique_ptr<Impl> impl) noexcept;

  std::shared_ptr<detail::PublisherCore> make_publisher(const std::string& topic, const msg::Message& type,
                                                        const detail::ObjectType& objects, const Qos& qos, const PublisherOptions& options);
  std::shared_ptr<detail::SubscriberCore> make_subscriber(const std::string& topic, const msg::Message& type, detail::Handler handler,
                                                          const Qos& qos, const SubscriberOptions& options);

  std::unique_ptr<detail::ServiceClientCore> make_service_client(const std::string& name, const msg::Message& request,
                                                                 const detail::ObjectType& request_objects, const msg::Message& response,
                                                                 detail::ErrorOf error_of, const ServiceClientOptions& options);
  std::unique_ptr<detail::ServiceProviderCore> make_service_provider(
      const std::string& name, const msg::Message& request, const msg::Message& response, const detail::ObjectType& response_objects,
      detail::ServiceProviderCore::Serve serve, detail::ServiceProviderCore::MakeError make_error, const ServiceProviderOptions& options);

  std::unique_ptr<Impl> impl_;
};

}  // namespace sinew
