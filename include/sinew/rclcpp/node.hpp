// Nodes, as rclcpp has them: bases of classes.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/detail/escaping.hpp"
#include "sinew/error.hpp"
#include "sinew/node.hpp"
#include "sinew/rclcpp/logging.hpp"
#include "sinew/rclcpp/parameter.hpp"
#include "sinew/rclcpp/pointers.hpp"
#include "sinew/rclcpp/publisher.hpp"
#include "sinew/rclcpp/qos.hpp"
#include "sinew/rclcpp/service.hpp"
#include "sinew/rclcpp/subscription.hpp"
#include "sinew/rclcpp/time.hpp"
#include "sinew/rclcpp/timer.hpp"

namespace sinew::rclcpp {

/// As programs call it; for Node::create_callback_group() to refuse.
struct CallbackGroup : Pointers<CallbackGroup> {};
// NOLINTNEXTLINE(readability-identifier-naming): rclcpp's names
enum class CallbackGroupType : std::uint8_t { MutuallyExclusive, Reentrant };

/// A value; every setter returns the object itself.
class NodeOptions {
 public:
  /// Values that declared parameters get instead of their defaults, and of what the command line gives.
  NodeOptions& parameter_overrides(std::vector<Parameter> overrides) {
    overrides_ = std::move(overrides);
    return *this;
  }
  const std::vector<Parameter>& parameter_overrides() const noexcept { return overrides_; }
  /// Within a process messages always go by pointer.
  NodeOptions& use_intra_process_comms(bool) noexcept { return *this; }

 private:
  std::vector<Parameter> overrides_;
};

class Node;
namespace detail {
class Spun;
const std::shared_ptr<Spun>& spun(const Node& node) noexcept;
}  // namespace detail

/// A node whose callbacks are run by spin(), one at a time: on no thread of the library's.
///
/// Names of topics and services: "x" is "NAMESPACE/x", "~/x" is "NODE/x", "/x" is x wherever the node is; then they are renamed as the command line says. Names of nodes are unique in a domain.
///
/// Thread-safe but for construction and destruction. Needs init() to have been called before. What it creates works as long as the node lives, and does not keep it.
class SINEW_API Node : public std::enable_shared_from_this<Node>, public Pointers<Node> {
 public:
  /// Blocks until the domain knows the node. Throws Error, as sinew::Node::create.
  explicit Node(const std::string& name, const NodeOptions& options = {});
  Node(const std::string& name, const std::string& name_space, const NodeOptions& options = {});
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const char* get_name() const noexcept;                  ///< "talker"
  const char* get_namespace() const noexcept;             ///< "/", or "/front"
  const char* get_fully_qualified_name() const noexcept;  ///< "/front/talker"
  Logger get_logger() const;

  Time now() const { return clock_->now(); }
  Clock::SharedPtr get_clock() const noexcept { return clock_; }

  template <class T>
  typename Publisher<T>::SharedPtr create_publisher(const std::string& topic, const QoS& qos, const PublisherOptions& options = {}) {
    return std::make_shared<Publisher<T>>(
        sinew_node().create_publisher<T>(resolve(topic), qos_of_publisher(qos), detail::options_of(options)));
  }

  /// Calls `callback` in spin() with each message: (const T&), valid during the call; (std::shared_ptr<const T>), to keep; (std::shared_ptr<T>) or (std::unique_ptr<T>), an own copy to change. Each may have (const MessageInfo&)
  /// behind it. The first two copy nothing.
  template <class T, class Callback>
  typename Subscription<T>::SharedPtr create_subscription(const std::string& topic, const QoS& qos, Callback&& callback,
                                                          const SubscriptionOptions& options = {}) {
    using Called = std::decay_t<Callback>;
    static_assert(detail::SubscriptionCallback<Called, T>,
                  "sinew: the callback of create_subscription<T> takes const T&, std::shared_ptr<const T>, std::shared_ptr<T> or "
                  "std::unique_ptr<T>, and "
                  "const rclcpp::MessageInfo& behind it or not");
    if constexpr (detail::SubscriptionCallback<Called, T>) {
      return std::make_shared<Subscription<T>>(sinew_node().create_subscriber<T>(
          resolve(topic), detail::callback_of<T>(Called(sinew::detail::escaping(std::forward<Callback>(callback)))),
          qos_of_subscription(qos), detail::options_of(options)));
    }
  }

  /// Calls `callback()`, or `callback(TimerBase&)`, in spin(), every `period`; 0 is as often as it goes. Throws Error(invalid_argument) for less.
  template <class Rep, class Period, class Callback>
  TimerBase::SharedPtr create_wall_timer(std::chrono::duration<Rep, Period> period, Callback callback) {
    static_assert(std::invocable<Callback&> || std::invocable<Callback&, TimerBase&>,
                  "sinew: the callback of a timer takes nothing, or rclcpp::TimerBase&");
    const auto every = native_period(std::chrono::duration_cast<std::chrono::nanoseconds>(period));
    const auto timer = std::make_shared<TimerBase>();
    if constexpr (std::invocable<Callback&>) {
      timer->set([&] { return sinew_node().create_timer(every, sinew::detail::escaping(std::move(callback))); });
    } else {
      timer->set([&] {
        return sinew_node().create_timer(every,
                                         [callback = sinew::detail::escaping(std::move(callback)), self = std::weak_ptr(timer)]() mutable {
                                           const auto still = self.lock();
                                           if (!still) return;
                                           still->await_set();
                                           callback(*still);
                                         });
      });
    }
    return TimerBase::handle(timer);
  }
  template <class Rep, class Period, class Callback>
  TimerBase::SharedPtr create_timer(std::chrono::duration<Rep, Period> period, Callback callback) {
    return create_wall_timer(period, std::move(callback));
  }

  /// Calls `callback(request, response)`, or `callback(id, request, response)`, in spin() with shared pointers to them; what it leaves in the response is the answer. What it throws reaches the client.
  template <class S, class Callback>
  typename Service<S>::SharedPtr create_service(const std::string& name, Callback&& callback, const QoS& = ServicesQoS()) {
    using Called = std::decay_t<Callback>;
    static_assert(detail::ServiceCallback<Called, S>,
                  "sinew: the callback of create_service<S> takes std::shared_ptr<S::Request> and std::shared_ptr<S::Response>, with "
                  "std::shared_ptr<rmw_request_id_t> before them or not");
    using Request = typename S::Request;
    using Response = typename S::Response;
    return std::make_shared<Service<S>>(sinew_node().create_service_provider<Request, Response>(
        resolve(name),
        [callback = Called(sinew::detail::escaping(std::forward<Callback>(callback)))](const Request& request) mutable -> Response {
          const auto response = std::make_shared<Response>();
          if constexpr (detail::PlainServiceCallback<Called, S>) {
            callback(std::make_shared<Request>(request), response);
          } else {
            callback(std::make_shared<RequestId>(), std::make_shared<Request>(request), response);
          }
          if (response.use_count() > 1) return *response;  // the callback keeps it
          return std::move(*response);
        }));
  }

  template <class S>
  typename Client<S>::SharedPtr create_client(const std::string& name, const QoS& = ServicesQoS()) {
    return std::make_shared<Client<S>>(sinew_node().create_service_client<typename S::Request, typename S::Response>(resolve(name)),
                                       client_node());
  }

  /// Publishers and subscriptions of this name, as create_publisher() takes it, in the domain now, those of tools and bridges, too. Block until the manager has told. Throw Error, as sinew::Node::domain_state().
  std::size_t count_publishers(const std::string& topic) const { return count_endpoints(topic, true); }
  std::size_t count_subscribers(const std::string& topic) const { return count_endpoints(topic, false); }

  // --- parameters: see sinew/rclcpp/parameter.hpp ---

  /// Its value: what the options or else the command line give, else `default_value`. A value of another type than that of `default_value`, and a parameter that is declared twice, throw Error(invalid_argument).
  template <class T, class... More>
  auto declare_parameter(const std::string& name, const T& default_value, const More&...) {
    static_assert(sizeof...(More) == 0, "sinew: parameters have a name and a value; there are no descriptors");
    return detail::value_as<detail::Kept<T>>(name, declare(name, detail::value_of(default_value), false));
  }
  /// The same without a default. Throws Error(invalid_argument) when nothing gives it a value.
  template <class T>
  T declare_parameter(const std::string& name) {
    return detail::value_as<T>(name, declare(name, ParameterValue(std::in_place_type<detail::Kept<T>>), true));
  }
  bool has_parameter(const std::string& name) const;
  /// Throws Error(invalid_argument) when it is not declared.
  Parameter get_parameter(const std::string& name) const;
  /// False when it is not declared.
  template <class T>
  bool get_parameter(const std::string& name, T& value) const {
    if (!has_parameter(name)) return false;
    value = get_parameter(name).get_value<T>();
    return true;
  }
  template <class T>
  bool get_parameter_or(const std::string& name, T& value, const T& alternative) const {
    const bool found = get_parameter(name, value);
    if (!found) value = alternative;
    return found;
  }

  /// For code that hands this on to add_node() or spin(). Where no std::shared_ptr owns the node, as one on the stack, or in a constructor, it does not keep the node, which must stay while it is spun.
  std::shared_ptr<Node> get_node_base_interface();

  // --- what there is none of here ---

  template <class... None>
  CallbackGroup::SharedPtr create_callback_group(const None&...) {
    static_assert(detail::never<None...>,
                  "sinew: callbacks of a node never overlap, as in one MutuallyExclusive group; for callbacks side by side take a "
                  "sinew::Node and execution_thread of its options, or a second node");
    return {};
  }
  template <class... None>
  void add_on_set_parameters_callback(const None&...) {
    static_assert(detail::never<None...>,
                  "sinew: parameters are given on the command line and do not change, so there is nothing to be told of");
  }
  template <class... None>
  void create_generic_subscription(const None&...) {
    static_assert(detail::never<None...>, "sinew: messages without their type are read in C and Rust: bindings/c/README.md");
  }

  /// The node behind this one, for what rclcpp has no name for: actions, events, the state of the domain. Its execution thread 0 is spin().
  sinew::Node& sinew_node() const noexcept;

 private:
  friend const std::shared_ptr<detail::Spun>& detail::spun(const Node& node) noexcept;
  struct Impl;

  std::chrono::nanoseconds native_period(std::chrono::nanoseconds period) const;
  std::string resolve(const std::string& name) const;
  std::size_t count_endpoints(const std::string& topic, bool publishers) const;
  ParameterValue declare(const std::string& name, ParameterValue value, bool must_be_given);
  std::weak_ptr<detail::ClientNode> client_node() const;

  const std::unique_ptr<Impl> impl_;
  const Clock::SharedPtr clock_;
};

}  // namespace sinew::rclcpp
