// Which names nodes and topics may have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sinew::manager {

/// What is wrong with a node's name, as a sentence; nothing when it is good: 1 to 255 letters, digits and _ . / - of ASCII.
std::optional<std::string> complaint_about_node_name(std::string_view name);

/// What is wrong with a topic's name, as a sentence; nothing when it is good: segments of ASCII letters, digits and _, separated by
/// single '/', at most 255 bytes. One leading '/' is allowed and means nothing. Behind the name of a service, of at most 246, stands what wire::request_topic() or response_topic() puts there.
std::optional<std::string> complaint_about_topic_name(std::string_view name);

}  // namespace sinew::manager
