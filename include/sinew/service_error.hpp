// Why a call of a service has no answer.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "sinew/error.hpp"

namespace sinew {

/// What a call ends with instead of a response; not an Error. what() is a sentence for a person; of Kind::failed it is the text of the provider's exception, and nothing else, where there is one.
class SINEW_API ServiceError : public std::runtime_error {
 public:
  enum class Kind {
    failed,  ///< The provider's handler threw an exception, other than std::bad_alloc, whose text what() is; or it made a response that cannot be sent, as a variant in it has lost its value.
    timeout,    ///< No answer came in time. The provider sees the call as cancelled.
    cancelled,  ///< The caller cancelled it, or destroyed the client.
    lost,  ///< The provider has gone before it answered, and is one that executes no request twice (ServiceProviderOptions::at_most_once); or a message between it and the client was lost. It may be done or not.
    no_memory,  ///< There is no memory for the request, or at the provider to receive or execute it (its handler threw std::bad_alloc) or for the response, or here to receive that.
    invalid,  ///< The request could not be sent or read: a loan that was moved from, a variant without a value, or what no message of its type can be.
    disconnected,  ///< The client's node has been destroyed, or the client is a ghost and its service is gone.
  };
  ServiceError(Kind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

  /// For the library: a copy that shares no text with this one, as copies of standard exceptions do, by counters that no race detector sees.
  ServiceError alone() const { return {kind_, what()}; }

 private:
  Kind kind_;
};

/// The word above, "timeout".
constexpr const char* to_string(ServiceError::Kind kind) noexcept {
  constexpr std::array names = {"failed", "timeout", "cancelled", "lost", "no_memory", "invalid", "disconnected"};
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : "unknown";
}

}  // namespace sinew
