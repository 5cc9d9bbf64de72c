// Names of topics, as both nodes and the manager compare them.
#pragma once

#include <string_view>

namespace sinew::wire {

/// Without the one '/' that may stand before it: "/camera/image" and "camera/image" are the same topic (W20).
constexpr std::string_view canonical_topic_name(std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  return name;
}

}  // namespace sinew::wire
