// Publishers and subscribers that are only there as long as others are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sinew/detail/language.hpp"

namespace sinew {

/// Whether a publisher, a subscriber, a client or a provider is there for its own sake, or is a ghost: for tools and gateways, which look at topics and must not keep them. A ghost is not created on a topic that does not
/// exist (Error of the kind unavailable), does not keep the topic or its type, and is detached when the last one that is no ghost goes. Within one process its messages go as between processes. The numbers are those of C.
enum class Ghost : std::uint8_t {
  no = 0,  ///< It is none: it is there for its own sake.
  /// It carries messages into the domain and out of it, as gateways and bridges do. It connects to no other carrier, so that what one has brought in none takes out again. Gateways do not count it.
  carrier = 1,
  /// It looks at what there is, or does what a person at a tool asks for once. It connects to carriers, too. A subscriber of this kind is no reason for a gateway to bring a topic; what such a publisher publishes is taken out as that of others.
  observer = 2,
};

/// The word above, "carrier".
constexpr const char* to_string(Ghost ghost) noexcept {
  constexpr std::array names = {"no", "carrier", "observer"};
  const auto index = static_cast<std::size_t>(ghost);
  return index < names.size() ? names[index] : "unknown";
}

}  // namespace sinew
