// The parts of services that do not depend on the message types. Not for direct use.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sinew/detail/publisher_core.hpp"
#include "sinew/error.hpp"
#include "sinew/service_error.hpp"
#include "sinew/service_statistics.hpp"

namespace sinew {

// What goes over the topics of a service (spec/services.md). The parts before `body` are a multiple of 8 bytes, so that its stream is the one that it has alone.
template <class T>
struct ServiceRequest {
  std::uint64_t id = 0;  ///< of the call: counted by the client, from 1
  T body;
};
template <class T>
struct ServiceResponse {
  std::uint64_t id = 0;      ///< of the call; 0: of those that could not be read
  std::uint64_t status = 0;  ///< a detail::ServiceStatus
  T body;
  std::string error;  ///< for people; empty when it is answered
};

namespace detail {

enum class ServiceStatus : std::uint64_t {
  answered = 0,
  threw = 1,       ///< the provider's handler, with this text
  no_memory = 2,   ///< for the response
  unreadable = 3,  ///< a request, of which nobody knows which it was
  dropped = 4,     ///< nobody waited for it any more
};

/// Who waits for the answer to a call. One of the two is called, once.
class AwaitedAnswer {
 public:
  explicit AwaitedAnswer(bool runs_user_code) noexcept : runs_user_code_(runs_user_code) {}
  virtual ~AwaitedAnswer() = default;
  AwaitedAnswer(const AwaitedAnswer&) = delete;
  AwaitedAnswer& operator=(const AwaitedAnswer&) = delete;
  virtual void answer(std::shared_ptr<const void>&& keep, const void* response) = 0;
  virtual void fail(const ServiceError& error) = 0;
  /// Then it is called on the client's own thread only.
  bool runs_user_code() const noexcept { return runs_user_code_; }

 private:
  const bool runs_user_code_;
};

/// The text in a ServiceResponse.
using ErrorOf = std::string (*)(const void* response);
template <class Response>
std::string error_of(const void* response) {
  return static_cast<const ServiceResponse<Response>*>(response)->error;
}

/// Thread-safe.
class SINEW_API ServiceClientCore {
 public:
  struct Impl;
  explicit ServiceClientCore(std::shared_ptr<Impl> impl) noexcept;
  ~ServiceClientCore();

  static constexpr std::chrono::nanoseconds for_ever = std::chrono::nanoseconds::max();

  const std::string& service() const noexcept;
  std::uint64_t next_id() noexcept;
  /// What sends the ServiceRequests.
  const std::shared_ptr<PublisherCore>& requests() const noexcept;
  /// `request` is a ServiceRequest with this id.
  void call(std::uint64_t id, SharedMessage request, std::shared_ptr<AwaitedAnswer> answer, std::chrono::nanoseconds timeout);
  /// Returns the ServiceResponse. Throws ServiceError.
  std::shared_ptr<const void> call_and_wait(std::uint64_t id, SharedMessage request, std::chrono::nanoseconds timeout);
  void cancel(std::uint64_t id);
  bool recall(std::uint64_t id);
  ServiceClientStatistics statistics() const;
  std::weak_ptr<Impl> impl() const noexcept { return impl_; }
  static void cancel(const std::weak_ptr<Impl>& impl, std::uint64_t id);

 private:
  std::shared_ptr<Impl> impl_;
};

/// A request that is being answered. Thread-safe.
struct RunningCall {
  std::uint64_t endpoint = 0, id = 0;
  std::string client;
  std::atomic<bool> cancelled{false};  // relaxed: looked at now and then, and nothing else with it
};

/// Thread-safe.
class SINEW_API ServiceProviderCore {
 public:
  struct Impl;
  explicit ServiceProviderCore(std::shared_ptr<Impl> impl) noexcept;
  ~ServiceProviderCore();

  const std::string& service() const noexcept;
  ServiceProviderStatistics statistics() const;

  /// What the typed side does: answers the request with reply().
  using Serve = std::function<void(const void* request, const std::shared_ptr<RunningCall>& call, Impl& provider)>;
  /// Makes a ServiceResponse that says this. Throws std::bad_alloc.
  using MakeError = std::shared_ptr<const void> (*)(std::uint64_t id, ServiceStatus status, const std::string& text);
  /// Sends the ServiceResponse.
  static void reply(Impl& provider, const RunningCall& call, std::shared_ptr<const void> response);
  /// The same with one that was loaned from responses(). It is no more afterwards.
  static void reply_in_place(Impl& provider, const RunningCall& call, void* response);
  /// What sends them.
  static const std::shared_ptr<PublisherCore>& responses(Impl& provider) noexcept;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace detail
}  // namespace sinew
