// How long the names may be that users give to nodes, topics, services and actions, and what is said of one that is not allowed: by nodes, which could not even send it, as by the manager.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/topic_name.hpp"

namespace sinew::wire {

enum class Named : std::uint8_t { node, topic, service, action };

/// A name as its user gave it.
struct UsersName {
  Named what;
  std::string_view name;
};
/// Of whom this is a topic: of the service that it is part of, or of itself.
constexpr UsersName users_name(std::string_view topic) noexcept {
  const std::string_view service = service_of(topic);
  return service.empty() ? UsersName{Named::topic, topic} : UsersName{Named::service, service};
}

/// "topic name 'a b' is not allowed: ", the reason, and what is allowed, as sentences. Of a name that is too long its beginning.
std::string bad_name(Named what, std::string_view name, const std::string& reason);

/// That it is empty, or longer than what is made of it may be (W7), likewise; nothing when it is neither.
std::optional<std::string> complaint_about_length(Named what, std::string_view name);

}  // namespace sinew::wire
