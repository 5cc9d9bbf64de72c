// What sinew throws: Error, and for calls of services and goals of actions ServiceError (sinew/service_error.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "sinew/detail/language.hpp"

#define SINEW_API __attribute__((visibility("default")))

namespace sinew {

/// What the caller can do about an Error. Kinds are named for the remedy, not for the place that failed.
enum class ErrorKind {
  invalid_argument,  ///< The call itself is wrong (a bad name, a bad option): fix the call.
  name_taken,        ///< Another node of the domain has this name: choose another, or set SINEW_NODE, for a program with one node.
  type_mismatch,     ///< The topic carries another type: the text names the first field that differs.
  incompatible,      ///< The other side speaks another version of sinew: use the same version everywhere.
  unavailable,  ///< No manager could be reached or started, it does not answer, or the topic that a ghost is for is not there: the text says what was tried.
  denied,       ///< This user or group may not take part in this domain, or not in this topic: the text says which rule.
  exhausted,    ///< A budget, a limit or the machine's memory is used up: free something or raise the limit.
  disconnected,  ///< The node was destroyed, or there is no manager at the moment: the node seeks one, try again.
  system,        ///< A system call failed for a reason that sinew does not know a remedy for; the text has errno.
};

/// The word above, "name_taken".
constexpr const char* to_string(ErrorKind kind) noexcept {
  constexpr std::array names = {"invalid_argument", "name_taken", "type_mismatch", "incompatible", "unavailable",
                                "denied",           "exhausted",  "disconnected",  "system"};
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : "unknown";
}

/// Thrown by the calls that say so. what() is a complete sentence for a person: what was asked, what is there, what to do.
/// A ServiceError is no Error: what the other side of a call did has no such kinds. Both are std::runtime_error, so catch that for either.
class SINEW_API Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace sinew
