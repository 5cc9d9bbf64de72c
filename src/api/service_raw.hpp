// Services whose requests and responses are CDR streams, of types of which there is no more than the signature: for other languages and tools.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/service_stream.hpp"
#include "sinew/detail/service_core.hpp"
#include "sinew/node.hpp"
#include "sinew/publish_result.hpp"
#include "sinew/service.hpp"

namespace sinew::detail {

/// As ServiceClient, of streams. Thread-safe. Extents that are given are copied once, into shared memory, for each provider that the request goes to.
class RawServiceClient {
 public:
  /// Throws as Node::create_service_client, and Error(invalid_argument) where a signature is none.
  static RawServiceClient create(const Node& node, const std::string& service, const std::string& request, const std::string& response,
                                 const ServiceClientOptions& options = {});

  /// Of the response, or null and the error. As those of ServiceClient::call().
  using Callback = std::function<void(std::shared_ptr<RawFrame>, const ServiceError*)>;
  /// REQUIRES: the bytes of the extents stay as they are until the callback is called. Throws as ServiceClient::call(), and ServiceError(invalid) when they are no stream of the request's type: then there is no call.
  std::uint64_t call(Extents request, Callback callback, std::chrono::nanoseconds timeout) const;
  /// Waits for the response. Throws the same, and ServiceError.
  std::shared_ptr<RawFrame> call_and_wait(Extents request, std::chrono::nanoseconds timeout) const;
  void cancel(std::uint64_t call) const { core_->cancel(call); }
  ServiceClientStatistics statistics() const { return core_->statistics(); }

 private:
  RawServiceClient(std::unique_ptr<ServiceClientCore> core, std::shared_ptr<const ServiceStream> requests) noexcept
      : core_(std::move(core)), requests_(std::move(requests)) {}

  std::unique_ptr<ServiceClientCore> core_;
  std::shared_ptr<const ServiceStream> requests_;
};

/// A request that is to be answered, once, on any thread; unique ownership. When it is destroyed before that, the call fails. It does not keep the provider, but its memory and that of the request.
class RawServiceCall {
 public:
  /// For RawServiceProvider.
  RawServiceCall(std::shared_ptr<RunningCall> call, std::weak_ptr<ServiceProviderCore::Impl> provider,
                 std::shared_ptr<const ServiceStream> responses, std::shared_ptr<RawFrame> request) noexcept
      : call_(std::move(call)), provider_(std::move(provider)), responses_(std::move(responses)), request_(std::move(request)) {}
  ~RawServiceCall();
  RawServiceCall(const RawServiceCall&) = delete;
  RawServiceCall& operator=(const RawServiceCall&) = delete;

  const RawFrame& request() const noexcept { return *request_; }
  /// As ServiceCall::cancelled().
  bool is_cancelled() const noexcept { return call_->cancelled.load(std::memory_order_relaxed); }

  // REQUIRES, of both: it was not answered. It is, whatever they return or throw.
  /// Copies the stream into shared memory. `closed`: the client has gone, or the provider. Else, where it was not sent, the client is told that there is no memory (`no_memory`), or has not taken what it was sent before
  /// (`would_block`). Throws ServiceError(invalid), which the client is told, too, when it is no stream of the response's type.
  PublishResult answer(Extents response);
  /// The call ends with ServiceError::Kind::failed and the text, of which 64 KiB are sent. False: the provider has gone.
  bool fail(std::string_view text);

 private:
  const std::shared_ptr<RunningCall> call_;
  std::weak_ptr<ServiceProviderCore::Impl> provider_;  // empty: it was answered
  const std::shared_ptr<const ServiceStream> responses_;
  const std::shared_ptr<RawFrame> request_;
};

/// As ServiceProvider, of streams. When it is destroyed, requests that were not answered go to other providers, as if it had died.
class RawServiceProvider {
 public:
  /// On the provider's execution thread, one at a time. It may answer later, elsewhere: so there is no need for `parallel`, which is 1.
  using Handler = std::function<void(std::unique_ptr<RawServiceCall>)>;
  /// Throws as Node::create_service_provider, and Error(invalid_argument) where a signature is none, or memory_budget less than the least response takes.
  static RawServiceProvider create(const Node& node, const std::string& service, const std::string& request, const std::string& response,
                                   Handler handler, const ServiceProviderOptions& options = {});

  ServiceProviderStatistics statistics() const { return core_->statistics(); }

 private:
  explicit RawServiceProvider(std::unique_ptr<ServiceProviderCore> core) noexcept : core_(std::move(core)) {}

  std::unique_ptr<ServiceProviderCore> core_;
};

}  // namespace sinew::detail
