// Services: requests, each of which gets one response.
//
//   auto provider = node->create_service_provider<Sum::Request, Sum::Response>("sum", [](const Sum::Request& request) { return add(request); });
//   auto client = node->create_service_client<Sum::Request, Sum::Response>("sum");
//   std::int64_t total = client->call({{1, 2, 3}}).get().total;
//
// Requests and responses are messages, and travel as those of topics do: in place between processes of one user, by pointer within a process, copied for other users.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "sinew/detail/escaping.hpp"
#include "sinew/detail/publisher_core.hpp"
#include "sinew/detail/service_core.hpp"
#include "sinew/executor.hpp"
#include "sinew/ghost.hpp"
#include "sinew/msg/reflect.hpp"
#include "sinew/publisher.hpp"
#include "sinew/request_loan.hpp"
#include "sinew/service_error.hpp"
#include "sinew/service_statistics.hpp"

namespace sinew {

struct ServiceClientOptions {
  /// Bytes of shared memory that requests on their way may take, as PublisherOptions::memory_budget. Requests that wait for a provider are kept on the heap, but for those that were loaned.
  /// For each provider of another user as much again, of which one request takes an eighth at most.
  std::size_t memory_budget = std::size_t{1} << 30;
  /// As PublisherOptions::ghost: is created only where the service has a client or a provider, and does not keep it. When the last one that is no ghost has gone, calls that wait and all later ones end with
  /// ServiceError::Kind::disconnected (ServiceClientStatistics::detached).
  Ghost ghost = Ghost::no;
};

struct ServiceProviderOptions {
  /// Which execution thread calls the handler, see Executor.
  ThreadId execution_thread = 0;
  /// How many requests may be executed at a time, 1 to 1024. 1: one after the other, on the execution thread. More: on so many threads of the provider's own, at most; the handler must bear that.
  std::uint32_t parallel = 1;
  /// Executes no request of which this provider may have begun to execute it before it went away a second time elsewhere: such calls end with ServiceError::Kind::lost. Otherwise they go to
  /// another provider, or wait for one to come.
  bool at_most_once = false;
  /// Bytes of shared memory that responses may take, until clients let go of them, as PublisherOptions::memory_budget. For each client of another user as much again, of which one response takes an
  /// eighth at most.
  std::size_t memory_budget = std::size_t{1} << 30;
  /// As ServiceClientOptions::ghost. A carrier never serves another one.
  Ghost ghost = Ghost::no;
};

/// The future of a call, which can be cancelled as well. Move-only. A plain std::future can be made of it; destroying either changes nothing.
template <class T>
class PendingCall : public std::future<T> {
 public:
  /// The call ends with ServiceError::Kind::cancelled, unless it has ended, and its provider sees it as cancelled. Thread-safe.
  void cancel() { detail::ServiceClientCore::cancel(client_, id_); }

  /// For ServiceClient.
  PendingCall(std::future<T>&& answer, std::weak_ptr<detail::ServiceClientCore::Impl> client, std::uint64_t id) noexcept
      : std::future<T>(std::move(answer)), client_(std::move(client)), id_(id) {}

 private:
  std::weak_ptr<detail::ServiceClientCore::Impl> client_;
  std::uint64_t id_;
};

namespace detail {

template <class T>
void end_with(std::promise<T>& promise, const ServiceError& error) {
  try {
    promise.set_exception(std::make_exception_ptr(error.alone()));
  } catch (const std::bad_alloc&) {
    promise.set_exception(std::make_exception_ptr(error));
  }
}

template <class Response>
class FutureAnswer final : public AwaitedAnswer {
 public:
  FutureAnswer() : AwaitedAnswer(false) {}
  void answer(std::shared_ptr<const void>&&, const void* response) override {
    try {
      promise.set_value(static_cast<const ServiceResponse<Response>*>(response)->body);
    } catch (const std::future_error&) {
      throw;
    } catch (...) {
      promise.set_exception(std::current_exception());  // there was no memory for the copy
    }
  }
  void fail(const ServiceError& error) override { end_with(promise, error); }
  std::promise<Response> promise;
};

template <class Response>
std::shared_ptr<const Response> body_of(std::shared_ptr<const void> keep, const void* response) noexcept {
  return {std::move(keep), &static_cast<const ServiceResponse<Response>*>(response)->body};
}

template <class Response>
class SharedAnswer final : public AwaitedAnswer {
 public:
  SharedAnswer() : AwaitedAnswer(false) {}
  void answer(std::shared_ptr<const void>&& keep, const void* response) override {
    promise.set_value(body_of<Response>(std::move(keep), response));
  }
  void fail(const ServiceError& error) override { end_with(promise, error); }
  std::promise<std::shared_ptr<const Response>> promise;
};

template <class Response, class Callback>
class CalledAnswer final : public AwaitedAnswer {
 public:
  explicit CalledAnswer(Callback callback) : AwaitedAnswer(true), callback_(std::move(callback)) {}
  void answer(std::shared_ptr<const void>&& keep, const void* response) override {
    callback_(body_of<Response>(std::move(keep), response), static_cast<const ServiceError*>(nullptr));
  }
  void fail(const ServiceError& error) override { callback_(std::shared_ptr<const Response>(), &error); }

 private:
  Callback callback_;
};

/// What ServiceClient::call accepts: (std::shared_ptr<const Response>, const ServiceError*).
template <class Callback, class Response>
concept AnswerCallback = std::invocable<Callback&, std::shared_ptr<const Response>, const ServiceError*>;

}  // namespace detail

/// Made by Node::create_service_client. Thread-safe. When it is destroyed, it waits for a callback that is running, unless it is destroyed by it; calls that wait end with ServiceError::Kind::cancelled.
///
/// A call goes to one of the providers that are connected, in turn, or waits until there is one. When a provider goes away, or dies, before it has answered, its calls go to another, or wait for one to
/// come, so a handler may be executed twice for one call, or fail the call (ServiceProviderOptions::at_most_once); a call is answered once, in either case. Each provider has at most 256 calls of a client
/// at a time, one of another user 8; further ones wait here.
///
/// Answers are received by a thread of the client's own, so that a call can be waited for anywhere, also in callbacks of the same node; but not in the callback of a call of the same client, nor, where
/// requests are executed one after the other, on the very execution thread that executes them.
///
/// The functions that call throw std::bad_alloc when there is no memory to remember the call, and Error(exhausted) when there is no thread to receive the answer: then nothing was sent, and no callback comes. Whatever
/// memory is short of afterwards, the call ends, with an answer or with an error, which says less when there is no memory for its text.
///
/// Each of them takes the request as an object, which is handed over within this process, and copied once into shared memory for each other provider that it goes to; or as a loan, which is read where it was built by
/// whatever provider it goes to, and its memory used again when the call has ended and no provider holds it. Without a loan the call ends with ServiceError::Kind::invalid. When the call throws, the loan may be gone.
template <class Request, class Response>
class ServiceClient {
 public:
  using CallId = std::uint64_t;
  static constexpr std::chrono::nanoseconds for_ever = detail::ServiceClientCore::for_ever;

  /// An empty request, value-initialised, to be filled in shared memory, as Publisher::loan(). Where there is no memory for it, it is built on the heap and copied as others are. A loan may outlive the client; then it
  /// is good for nothing.
  RequestLoan<Request> loan() { return RequestLoan<Request>(Loan<ServiceRequest<Request>>::make(core_->requests())); }

  /// Sends a request, and waits for no provider, but where these have yet to unmap much of what was given back (PublisherOptions::memory_budget) 0.1 s for that. The future gets the response, copied from the provider's memory, or throws ServiceError. Without `timeout` it waits as long as it takes; with 0 or less it ends with Kind::timeout at once, though the request may be executed.
  PendingCall<Response> call(Request request, std::chrono::nanoseconds timeout = for_ever) {
    return start<detail::FutureAnswer<Response>, Response>(std::move(request), timeout);
  }
  template <std::same_as<RequestLoan<Request>> Loaned>
  PendingCall<Response> call(Loaned&& request, std::chrono::nanoseconds timeout = for_ever) {
    return start<detail::FutureAnswer<Response>, Response>(std::forward<Loaned>(request), timeout);
  }

  /// The same with the response where the provider built it, whatever its size: nothing is copied. While it is held it takes of the provider's memory.
  PendingCall<std::shared_ptr<const Response>> call_shared(Request request, std::chrono::nanoseconds timeout = for_ever) {
    return start<detail::SharedAnswer<Response>, std::shared_ptr<const Response>>(std::move(request), timeout);
  }
  template <std::same_as<RequestLoan<Request>> Loaned>
  PendingCall<std::shared_ptr<const Response>> call_shared(Loaned&& request, std::chrono::nanoseconds timeout = for_ever) {
    return start<detail::SharedAnswer<Response>, std::shared_ptr<const Response>>(std::forward<Loaned>(request), timeout);
  }

  /// Calls `callback` with the response, or with null and the error. On the client's own thread, one at a time; for calls that are pending when the client is destroyed, in its destructor. It may make calls
  /// and destroy the client. An exception that leaves it ends the program.
  template <class Callback>
    requires detail::AnswerCallback<std::decay_t<Callback>, Response>
  CallId call(Request request, Callback&& callback, std::chrono::nanoseconds timeout = for_ever) {
    return start_with(std::move(request), std::forward<Callback>(callback), timeout);
  }
  template <std::same_as<RequestLoan<Request>> Loaned, class Callback>
    requires detail::AnswerCallback<std::decay_t<Callback>, Response>
  CallId call(Loaned&& request, Callback&& callback, std::chrono::nanoseconds timeout = for_ever) {
    return start_with(std::forward<Loaned>(request), std::forward<Callback>(callback), timeout);
  }

  /// Sends a request and waits for the response, which stays where the provider built it. Throws ServiceError. The fastest way: the thread that waits is the one that the provider wakes.
  std::shared_ptr<const Response> call_and_wait(Request request, std::chrono::nanoseconds timeout = for_ever) {
    return wait_for(std::move(request), timeout);
  }
  template <std::same_as<RequestLoan<Request>> Loaned>
  std::shared_ptr<const Response> call_and_wait(Loaned&& request, std::chrono::nanoseconds timeout = for_ever) {
    return wait_for(std::forward<Loaned>(request), timeout);
  }

  /// The call ends with ServiceError::Kind::cancelled, unless it has ended, and its provider sees it as cancelled.
  void cancel(CallId call) { core_->cancel(call); }
  /// The same, but only while no provider has it, so that none executes it from now on. Whether it did that.
  bool recall(CallId call) { return core_->recall(call); }

  ServiceClientStatistics statistics() const { return core_->statistics(); }
  const std::string& service() const noexcept { return core_->service(); }

  /// For Node::create_service_client.
  explicit ServiceClient(std::unique_ptr<detail::ServiceClientCore> core) noexcept : core_(std::move(core)) {}

 private:
  // In each: a call made while a message is being built keeps nothing in that message's memory but what its arguments have there.
  detail::SharedMessage message_of(CallId id, Request&& request) {
    return {std::make_shared<const ServiceRequest<Request>>(ServiceRequest<Request>{id, std::move(request)})};
  }
  detail::SharedMessage message_of(CallId id, RequestLoan<Request>&& request) {
    return core_->requests()->share_object(request.release(id));
  }

  template <class Answer, class T, class From>
  PendingCall<T> start(From&& request, std::chrono::nanoseconds timeout) {
    const detail::AllocateOnHeap heap;
    const auto answer = std::make_shared<Answer>();
    const CallId id = core_->next_id();
    detail::SharedMessage message = message_of(id, std::forward<From>(request));
    PendingCall<T> pending(answer->promise.get_future(), core_->impl(), id);
    core_->call(id, std::move(message), answer, timeout);
    return pending;
  }
  template <class From, class Callback>
  CallId start_with(From&& request, Callback&& callback, std::chrono::nanoseconds timeout) {
    const detail::AllocateOnHeap heap;
    const auto answer =
        std::make_shared<detail::CalledAnswer<Response, std::decay_t<Callback>>>(detail::escaping(std::forward<Callback>(callback)));
    const CallId id = core_->next_id();
    detail::SharedMessage message = message_of(id, std::forward<From>(request));
    core_->call(id, std::move(message), answer, timeout);
    return id;
  }
  template <class From>
  std::shared_ptr<const Response> wait_for(From&& request, std::chrono::nanoseconds timeout) {
    const detail::AllocateOnHeap heap;
    const CallId id = core_->next_id();
    detail::SharedMessage message = message_of(id, std::forward<From>(request));
    auto response = core_->call_and_wait(id, std::move(message), timeout);
    const void* const at = response.get();
    return detail::body_of<Response>(std::move(response), at);
  }

  const std::unique_ptr<detail::ServiceClientCore> core_;
};

/// A request that is being executed, for handlers that want to know more of it than what is asked. Valid during the call of the handler.
template <class Response>
class ServiceCall {
 public:
  /// Nobody waits for the response any more: the client cancelled the call, it took too long, or the client has gone. Any thread.
  bool cancelled() const noexcept { return call_->cancelled.load(std::memory_order_relaxed); }
  /// The name of the client's node.
  const std::string& client() const noexcept { return call_->client; }

  /// Runs `fill(Response&)` with this thread allocating where the client will read it, as Loan::build: nothing of the response is copied. For handlers that return void. May be called more than once.
  template <class Fill>
  decltype(auto) build(Fill&& fill) {
    if (!response_) {
      response_ = Loan<Message>::make(detail::ServiceProviderCore::responses(*provider_));
      (*response_).id = call_->id;
    }
    return response_.build([&fill](Message& message) -> decltype(auto) { return std::forward<Fill>(fill)(message.body); });
  }

  /// For the library.
  ServiceCall(std::shared_ptr<detail::RunningCall> call, detail::ServiceProviderCore::Impl& provider) noexcept
      : call_(std::move(call)), provider_(&provider) {}
  ServiceCall(const ServiceCall&) = delete;
  ServiceCall& operator=(const ServiceCall&) = delete;
  void reply() {
    if (!response_) build([](Response&) {});
    detail::ServiceProviderCore::reply_in_place(*provider_, *call_, response_.release());
  }

 private:
  using Message = ServiceResponse<Response>;
  const std::shared_ptr<detail::RunningCall> call_;
  detail::ServiceProviderCore::Impl* const provider_;
  Loan<Message> response_;
};

/// Made by Node::create_service_provider. Thread-safe. When it is destroyed, it waits for handlers that are running, but for one that destroys it, and their responses are sent. Requests that it has not
/// begun to execute go to other providers; but those that it has received and had no thread for yet (`parallel` above 1) end with ServiceError::Kind::lost when it is one that executes `at_most_once`.
template <class Request, class Response>
class ServiceProvider {
 public:
  ServiceProviderStatistics statistics() const { return core_->statistics(); }
  const std::string& service() const noexcept { return core_->service(); }

  /// For Node::create_service_provider.
  explicit ServiceProvider(std::unique_ptr<detail::ServiceProviderCore> core) noexcept : core_(std::move(core)) {}

 private:
  const std::unique_ptr<detail::ServiceProviderCore> core_;
};

namespace detail {

/// What Node::create_service_provider accepts: (const Request&) that returns a Response; the same with (ServiceCall<Response>&) behind it, which may also return nothing, having built the response.
template <class Handler, class Request, class Response>
concept SimpleHandler = std::is_invocable_r_v<Response, Handler&, const Request&>;
template <class Handler, class Request, class Response>
concept CallHandler = std::is_invocable_r_v<Response, Handler&, const Request&, ServiceCall<Response>&>;
template <class Handler, class Request, class Response>
concept BuildingHandler = std::invocable<Handler&, const Request&, ServiceCall<Response>&> &&
                          std::is_void_v<std::invoke_result_t<Handler&, const Request&, ServiceCall<Response>&>>;
template <class Handler, class Request, class Response>
concept ServiceHandler =
    SimpleHandler<Handler, Request, Response> || CallHandler<Handler, Request, Response> || BuildingHandler<Handler, Request, Response>;

template <class Response>
std::shared_ptr<const void> make_error(std::uint64_t id, ServiceStatus status, const std::string& text) {
  return std::make_shared<const ServiceResponse<Response>>(
      ServiceResponse<Response>{.id = id, .status = static_cast<std::uint64_t>(status), .body = {}, .error = text});
}

template <class Request, class Response, class Handler>
ServiceProviderCore::Serve make_serve(Handler handler) {
  return [handler = std::move(handler)](const void* message, const std::shared_ptr<RunningCall>& running,
                                        ServiceProviderCore::Impl& provider) mutable {
    const Request& request = static_cast<const ServiceRequest<Request>*>(message)->body;
    const auto reply = [&](Response&& response) {
      ServiceProviderCore::reply(provider, *running,
                                 std::make_shared<const ServiceResponse<Response>>(
                                     ServiceResponse<Response>{.id = running->id, .body = std::move(response), .error = {}}));
    };
    if constexpr (SimpleHandler<Handler, Request, Response>) {
      reply(handler(request));
    } else if constexpr (BuildingHandler<Handler, Request, Response>) {
      ServiceCall<Response> call(running, provider);
      handler(request, call);
      call.reply();
    } else {
      ServiceCall<Response> call(running, provider);
      reply(handler(request, call));
    }
  };
}

}  // namespace detail
}  // namespace sinew
