// Publishers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bindings/python/src/node.hpp"

namespace sinew::python {

/// What a publisher may have in shared memory.
struct Budget {
  std::string topic;
  std::uint64_t bytes;

  /// Calls without the GIL what publishes or loans so many bytes, and raises what comes of it: in particular, where they can never fit.
  template <typename Call>
  void call(std::uint64_t size, Call&& call) const {
    Outcome outcome;
    {
      const Released released;
      outcome = Outcome::of(call());
    }
    if (outcome.status == SINEW_NO_MEMORY && size > bytes) raise_too_large(size);
    outcome.check();
  }
  [[noreturn]] void raise_too_large(std::uint64_t size) const;
};

struct Publisher : Endpoint<sinew_publisher> {
  std::string topic;
  TypePtr type;
  std::shared_ptr<const Budget> budget;
};

}  // namespace sinew::python
