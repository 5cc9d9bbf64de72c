// Requests that are built where their provider will read them.
#pragma once

#include <cstdint>
#include <utility>

#include "sinew/detail/publisher_core.hpp"
#include "sinew/detail/service_core.hpp"
#include "sinew/publisher.hpp"

namespace sinew {

template <class Request, class Response>
class ServiceClient;

/// A request being built in shared memory, made by ServiceClient::loan(). What Loan says of messages holds for it: storage that grows inside `loan->...` or `loan.build(...)` is read in place by the provider,
/// what grows elsewhere is copied in by the call. Move-only. Not thread-safe; may be moved to another thread.
template <class Request>
class RequestLoan {
  using Message = ServiceRequest<Request>;

 public:
  /// None, as one that was moved from.
  RequestLoan() noexcept = default;

  /// The expression's temporary: allocates in place until the end of the full expression.
  class Access {
   public:
    Request* operator->() const noexcept { return &message_->body; }

   private:
    friend class RequestLoan;
    explicit Access(Loan<Message>& message) : scope_(message.operator->()), message_(&*message) {}
    typename Loan<Message>::Access scope_;
    Message* message_;
  };
  /// REQUIRES: there is one. Not on a temporary loan: what it gives access to would be gone.
  Access operator->() & { return Access(message_); }
  Access operator->() && = delete;

  /// The request; allocates as usual.
  Request& operator*() & noexcept { return (*message_).body; }
  const Request& operator*() const& noexcept { return (*message_).body; }

  /// Runs `fill(Request&)` with this thread allocating in place; returns what it returns. Exceptions pass through, the loan stays usable. Do not suspend a coroutine inside. Not on a temporary loan: what was built would be gone.
  template <class Fill>
  decltype(auto) build(Fill&& fill) & {
    return message_.build([&fill](Message& message) -> decltype(auto) { return std::forward<Fill>(fill)(message.body); });
  }
  template <class Fill>
  decltype(auto) build(Fill&& fill) && = delete;

  /// False when there is none: also after it was moved from or called with.
  explicit operator bool() const noexcept { return static_cast<bool>(message_); }

 private:
  template <class, class>
  friend class ServiceClient;
  explicit RequestLoan(Loan<Message> message) noexcept : message_(std::move(message)) {}
  Message* release(std::uint64_t id) noexcept {
    if (message_ && !detail::PublisherCore::in_forked_child()) (*message_).id = id;
    return message_.release();
  }

  Loan<Message> message_;
};

}  // namespace sinew
