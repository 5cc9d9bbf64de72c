// What users ask for, checked, in the words of sessions.
#pragma once

#include <string>
#include <string_view>

#include "session/publisher/publisher.hpp"
#include "session/subscriber/subscription.hpp"
#include "sinew/ghost.hpp"
#include "sinew/publisher.hpp"
#include "sinew/qos.hpp"
#include "sinew/subscriber.hpp"
#include "wire/messages.hpp"
#include "wire/names.hpp"

namespace sinew::detail {

/// Each throws Error(invalid_argument), which names the topic, the value and its range.

/// `whose`: "topic 'x'".
wire::Ghost ghost_of(const std::string& whose, Ghost ghost);
/// Of a memory_budget: a chunk at least, or nothing.
std::size_t budget_of(const std::string& whose, std::size_t bytes);
/// The same of streams, which do not go by pointer: other languages, which they come from, have 0 for the default, and are told of no other.
void require_budget_of_streams(const std::string& whose, std::size_t bytes);
/// It is neither empty nor too long: such a name cannot be sent to the manager, or only as the name of a part, which is not what its user gave. The manager says what else may be wrong with it.
void require_name(wire::Named what, std::string_view name);
/// The same, and it is the name of no service's topic, unless it may be, for who looks on.
void require_topic(const std::string& topic, bool may_be_of_service = false);
session::Publisher::Options offered(const std::string& topic, const Qos& qos, const PublisherOptions& options);
/// But for what follows from the type.
session::Subscription::Options asked(const std::string& topic, const Qos& qos, const SubscriberOptions& options);

}  // namespace sinew::detail
