// What users ask for, checked, in the words of sessions.
#pragma once

#include <string>

#include "session/publisher/publisher.hpp"
#include "session/subscriber/subscription.hpp"
#include "sinew/ghost.hpp"
#include "sinew/publisher.hpp"
#include "sinew/qos.hpp"
#include "sinew/subscriber.hpp"
#include "wire/messages.hpp"

namespace sinew::detail {

/// Each throws Error(invalid_argument), which names the topic, the value and its range.

/// `whose`: "topic 'x'".
wire::Ghost ghost_of(const std::string& whose, Ghost ghost);
/// Of a memory_budget: a chunk at least, or nothing.
std::size_t budget_of(const std::string& whose, std::size_t bytes);
/// It is the name of no service's topic. The manager says what else may be wrong with it.
void require_topic(const std::string& topic);
session::Publisher::Options offered(const std::string& topic, const Qos& qos, const PublisherOptions& options);
/// But for what follows from the type.
session::Subscription::Options asked(const std::string& topic, const Qos& qos, const SubscriberOptions& options);

}  // namespace sinew::detail
