// Services and their clients, as rclcpp has them.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/detail/escaping.hpp"
#include "sinew/detail/publisher_core.hpp"
#include "sinew/rclcpp/pointers.hpp"
#include "sinew/service.hpp"

namespace sinew::rclcpp {

/// What callbacks of services may take before the request. There is nothing in it.
struct RequestId {};
// As code that is written for rclcpp says it, in the global namespace.
#define rmw_request_id_t ::sinew::rclcpp::RequestId  // NOLINT(readability-identifier-naming)

namespace detail {
template <class Callback, class S>
concept PlainServiceCallback = std::invocable<Callback&, std::shared_ptr<typename S::Request>, std::shared_ptr<typename S::Response>>;
template <class Callback, class S>
concept ServiceCallback =
    PlainServiceCallback<Callback, S> ||
    std::invocable<Callback&, std::shared_ptr<RequestId>, std::shared_ptr<typename S::Request>, std::shared_ptr<typename S::Response>>;

/// What a client needs of its node, which may be gone before it.
class SINEW_API ClientNode {
 public:
  virtual ~ClientNode();
  /// Runs it in spin(), which looks at what it waits for afterwards.
  virtual void post(std::function<void()> what) = 0;
  /// Waits until the service has a provider; without a timeout (below 0) for ever. False when there is none, or after shutdown().
  virtual bool wait_for_provider(const std::string& service, std::chrono::nanoseconds timeout) = 0;
};
}  // namespace detail

/// Made by Node::create_service. Thread-safe. Destroying it waits for a running callback, unless called from it.
template <class S>
class Service : public Pointers<Service<S>> {
 public:
  /// "/add_two_ints".
  const char* get_service_name() const noexcept { return name_.c_str(); }

  /// For Node::create_service.
  explicit Service(std::shared_ptr<sinew::ServiceProvider<typename S::Request, typename S::Response>> provider)
      : provider_(std::move(provider)), name_("/" + provider_->service()) {}

 private:
  const std::shared_ptr<sinew::ServiceProvider<typename S::Request, typename S::Response>> provider_;
  const std::string name_;
};

/// Made by Node::create_client. Thread-safe.
///
/// A request waits for a provider, and goes to the next one when that dies. So its future gets the response in the end; or it throws a sinew::ServiceError, with the text of what the callback of the service has thrown. Where there is no
/// callback the future is fulfilled whether anybody spins or not. Callbacks are called by spin(), which fulfils the future just before: whoever spins until that is ready has had his callback.
template <class S>
class Client : public Pointers<Client<S>> {
  using Native = sinew::ServiceClient<typename S::Request, typename S::Response>;

 public:
  using SharedRequest = std::shared_ptr<typename S::Request>;
  using SharedResponse = std::shared_ptr<typename S::Response>;
  using Promise = std::promise<SharedResponse>;
  using Future = std::future<SharedResponse>;
  using SharedFuture = std::shared_future<SharedResponse>;

  /// A future, which knows its request.
  struct FutureAndRequestId : Future {
    std::int64_t request_id = 0;
    FutureAndRequestId(Future answer, std::int64_t id) noexcept : Future(std::move(answer)), request_id(id) {}
  };
  struct SharedFutureAndRequestId : SharedFuture {
    std::int64_t request_id = 0;
    SharedFutureAndRequestId(SharedFuture answer, std::int64_t id) noexcept : SharedFuture(std::move(answer)), request_id(id) {}
  };

  FutureAndRequestId async_send_request(SharedRequest request) {
    const sinew::detail::AllocateOnHeap heap;
    const auto promise = std::make_shared<Promise>();
    Future answer = promise->get_future();
    const std::int64_t id = send(*request, [promise, node = node_](const auto& response, const ServiceError* error) {
      fulfil(*promise, copy_of(response), error);
      if (const auto still = node.lock()) still->post([] {});
    });
    return {std::move(answer), id};
  }

  /// `callback(SharedFuture)`, with the response in it, or what get() then throws. Not called once the request is removed or the client destroyed; then, and when the node is gone, the future is fulfilled by itself, but by spin() where the response had come already.
  template <class Callback>
  SharedFutureAndRequestId async_send_request(SharedRequest request, Callback&& callback) {
    static_assert(std::invocable<std::decay_t<Callback>&, SharedFuture>,
                  "sinew: the callback of async_send_request takes rclcpp::Client<S>::SharedFuture; the request is not handed back, so "
                  "keep it in the callback");
    const sinew::detail::AllocateOnHeap heap;
    const auto answer =
        std::make_shared<Answer<std::decay_t<Callback>>>(sinew::detail::escaping(std::forward<Callback>(callback)), uncalled_);
    const std::lock_guard lock(uncalled_->mutex);  // the answer may come before its id is known
    answer->id = send(*request, [answer, node = node_](const auto& response, const ServiceError* error) {
      answer->response = copy_of(response);
      if (error) answer->error = error->alone();
      const auto still = node.lock();
      const bool is_removed = error && error->kind() == ServiceError::Kind::cancelled;
      if (!still || is_removed) answer->fulfil();
      if (!still) return;
      if (is_removed) {
        still->post([] {});
      } else {
        still->post([answer] { answer->call(); });
      }
    });
    uncalled_->requests.insert(answer->id);
    return {answer->future, answer->id};
  }

  /// The future gets an error, unless there is an answer, and the provider sees the call as cancelled. A callback that has yet to be called is called no more.
  void remove_pending_request(std::int64_t request_id) {
    {
      const std::lock_guard lock(uncalled_->mutex);
      uncalled_->requests.erase(request_id);
    }
    client_->cancel(static_cast<typename Native::CallId>(request_id));
  }
  void remove_pending_request(const FutureAndRequestId& request) { remove_pending_request(request.request_id); }
  void remove_pending_request(const SharedFutureAndRequestId& request) { remove_pending_request(request.request_id); }

  bool service_is_ready() const { return wait_for_service(std::chrono::nanoseconds(0)); }
  /// Whether somebody provides the service, within the timeout; without one it waits as long as it takes. False also after shutdown(), and of a manager that says nothing, which has 0.1 s to do so however short the timeout is.
  /// Blocks; not needed for async_send_request, which waits by itself. Throws Error(exhausted) as watch_domain().
  template <class Rep = std::int64_t, class Period = std::nano>
  bool wait_for_service(std::chrono::duration<Rep, Period> timeout = std::chrono::nanoseconds(-1)) const {
    const auto node = node_.lock();
    return node && node->wait_for_provider(client_->service(), std::chrono::duration_cast<std::chrono::nanoseconds>(timeout));
  }

  /// "/add_two_ints".
  const char* get_service_name() const noexcept { return name_.c_str(); }

  /// For Node::create_client.
  Client(std::shared_ptr<Native> client, std::weak_ptr<detail::ClientNode> node)
      : client_(std::move(client)), node_(std::move(node)), name_("/" + client_->service()) {}

 private:
  /// Requests whose callbacks are to be called. Goes with the client.
  struct Uncalled {
    std::mutex mutex;
    std::set<std::int64_t> requests;  // guarded by mutex
  };
  /// An answer on its way to its callback.
  template <class Callback>
  struct Answer {
    template <class From>
    Answer(From&& from, const std::shared_ptr<Uncalled>& of) : callback(std::forward<From>(from)), uncalled(of) {}
    /// Where nobody spins any more: others may wait for it.
    ~Answer() {
      if (response || error) fulfil();
    }
    Answer(const Answer&) = delete;
    Answer& operator=(const Answer&) = delete;

    void fulfil() {
      const auto failed = std::exchange(error, std::nullopt);
      Client::fulfil(promise, std::exchange(response, nullptr), failed ? &*failed : nullptr);
    }
    void call() {
      fulfil();
      if (is_wanted()) callback(future);
    }
    bool is_wanted() {
      const auto client = uncalled.lock();
      if (!client) return false;
      const std::lock_guard lock(client->mutex);
      return client->requests.erase(id) > 0;
    }

    Callback callback;
    const std::weak_ptr<Uncalled> uncalled;
    Promise promise;
    const SharedFuture future = promise.get_future();
    SharedResponse response;
    std::optional<ServiceError> error;
    std::int64_t id = 0;
  };

  static SharedResponse copy_of(const std::shared_ptr<const typename S::Response>& response) {
    return response ? std::make_shared<typename S::Response>(*response) : nullptr;
  }
  static void fulfil(Promise& promise, SharedResponse response, const ServiceError* error) {
    if (error) {
      promise.set_exception(std::make_exception_ptr(error->alone()));
    } else {
      promise.set_value(std::move(response));
    }
  }
  template <class Answer>
  std::int64_t send(const typename S::Request& request, Answer answer) {
    return static_cast<std::int64_t>(client_->call(typename S::Request(request), std::move(answer)));
  }

  const std::shared_ptr<Native> client_;
  const std::weak_ptr<detail::ClientNode> node_;
  const std::string name_;
  const std::shared_ptr<Uncalled> uncalled_ = std::make_shared<Uncalled>();
};

}  // namespace sinew::rclcpp
