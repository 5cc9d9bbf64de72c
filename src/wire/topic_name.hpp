// Names of topics, as both nodes and the manager compare them.
#pragma once

#include <string>
#include <string_view>

namespace sinew::wire {

/// Without the one '/' that may stand before it: "/camera/image" and "camera/image" are the same topic (W20).
constexpr std::string_view canonical_topic_name(std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  return name;
}

// A service is two topics, whose names no topic of a user can have (spec/services.md).
inline constexpr std::string_view request_suffix = "@request", response_suffix = "@response";

/// The topic of a service's requests, which its clients publish.
inline std::string request_topic(std::string_view service) {
  return std::string(service).append(request_suffix);
}
/// The topic of its responses, which its providers publish.
inline std::string response_topic(std::string_view service) {
  return std::string(service).append(response_suffix);
}
/// The service that a topic is part of; empty when it is a topic of its own.
constexpr std::string_view service_of(std::string_view topic) {
  for (const std::string_view suffix : {request_suffix, response_suffix}) {
    if (topic.ends_with(suffix)) return topic.substr(0, topic.size() - suffix.size());
  }
  return {};
}

}  // namespace sinew::wire
