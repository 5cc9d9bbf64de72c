// What users ask for, checked, in the words of sessions.
#pragma once

#include <string>

#include "session/publisher/publisher.hpp"
#include "session/subscriber/subscription.hpp"
#include "sinew/publisher.hpp"
#include "sinew/qos.hpp"
#include "sinew/subscriber.hpp"

namespace sinew::detail {

/// Each throws Error(invalid_argument), which names the topic, the value and its range.

/// It is the name of no service's topic. The manager says what else may be wrong with it.
void require_topic(const std::string& topic);
session::Publisher::Options offered(const std::string& topic, const Qos& qos, const PublisherOptions& options);
/// But for what follows from the type.
session::Subscription::Options asked(const std::string& topic, const Qos& qos, const SubscriberOptions& options);

}  // namespace sinew::detail
