// How messages wait for a subscriber of the same process.
#pragma once

#include <cstdint>

#include "sinew/detail/language.hpp"

namespace sinew {

/// What waits for a subscriber in its own process.
enum class Buffer : std::uint8_t {
  shared,  ///< pointers that all subscribers may share. A subscriber that takes `std::unique_ptr<T>` then copies what it takes, and nothing that it does not take.
  owned,   ///< objects of its own: publishers copy for it where the message is not its alone
  value,   ///< the objects themselves, side by side: no allocation for small messages
};

}  // namespace sinew
