#include "api/options.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "shm/chunk_size.hpp"
#include "shm/layout.hpp"

namespace sinew::detail {
namespace {

constexpr std::uint32_t deepest = shm::ring_capacity / 2;

/// In nanoseconds; 0 for none.
std::int64_t duration_of(const std::string& topic, const std::string& what, const std::optional<std::chrono::nanoseconds>& duration) {
  if (!duration) return 0;
  if (duration->count() <= 0 || duration->count() > wire::max_duration) {
    throw Error(ErrorKind::invalid_argument, "topic '" + topic + "': a " + what + " of " + std::to_string(duration->count()) +
                                                 " ns is out of range, 1 ns to 100 years; leave it out for none");
  }
  return duration->count();
}

wire::Liveliness liveliness_of(const std::string& topic, Liveliness liveliness) {
  switch (liveliness) {
    case Liveliness::automatic:
      return wire::Liveliness::automatic;
    case Liveliness::manual_by_topic:
      return wire::Liveliness::manual_by_topic;
  }
  throw Error(ErrorKind::invalid_argument, "topic '" + topic + "': liveliness has a value that is none of Liveliness's");
}

wire::Qos qos_of(const std::string& topic, const Qos& qos) {
  if (!qos.keeps_all() && (qos.depth() == 0 || qos.depth() > deepest)) {
    throw Error(ErrorKind::invalid_argument, "topic '" + topic + "': keep_last(" + std::to_string(qos.depth()) +
                                                 ") is out of range, 1 to " + std::to_string(deepest) + "; use keep_all() for more");
  }
  return {.depth = qos.keeps_all() ? 0 : qos.depth(),
          .reliable = qos.is_reliable(),
          .durability = qos.is_transient_local() ? wire::Durability::transient_local : wire::Durability::volatile_,
          .deadline = duration_of(topic, "deadline", qos.deadline()),
          .lifespan = duration_of(topic, "lifespan", qos.lifespan()),
          .liveliness = liveliness_of(topic, qos.liveliness()),
          .lease = duration_of(topic, "lease", qos.lease())};
}

std::uint64_t withdraw_at_most(const std::string& topic, const PublisherOptions& options) {
  switch (options.when_full) {
    case WhenFull::withdraw:
      return std::numeric_limits<std::uint64_t>::max();
    case WhenFull::withdraw_some:
      if (options.withdraw_at_most > 0) return options.withdraw_at_most;
      throw Error(ErrorKind::invalid_argument, "topic '" + topic + "': withdraw_at_most = 0 with withdraw_some; use refuse for that");
    case WhenFull::refuse:
    case WhenFull::wait:
      return 0;
  }
  throw Error(ErrorKind::invalid_argument, "topic '" + topic + "': when_full has a value that is none of WhenFull's");
}

session::Thinning::Options thinning_of(const std::string& topic, const SubscriberOptions& options) {
  if (options.every == 0) {
    throw Error(ErrorKind::invalid_argument,
                "topic '" + topic + "': every = 0 is out of range: 1 takes every message, 2 every second, and so on");
  }
  if (!(options.max_rate >= 0) || !std::isfinite(options.max_rate)) {
    throw Error(ErrorKind::invalid_argument, "topic '" + topic + "': max_rate = " + std::to_string(options.max_rate) +
                                                 " is out of range: messages a second, or 0 for all");
  }
  const double period = options.max_rate > 0 ? 1e9 / options.max_rate : 0;
  // A rate of less than a message in a century is one that never comes again.
  return {.every = options.every, .period = static_cast<std::int64_t>(std::min(period, 3e18))};
}

/// `also`: what else it may be, as the end of the sentence.
void require_chunk(const std::string& whose, std::size_t bytes, const char* also) {
  if (bytes == 0 || bytes >= shm::chunk_unit) return;
  throw Error(ErrorKind::invalid_argument, whose + ": memory_budget = " + std::to_string(bytes) +
                                               " is out of range: " + std::to_string(shm::chunk_unit) +
                                               " bytes or more, as memory is taken in pieces of that" + also);
}

}  // namespace

wire::Ghost ghost_of(const std::string& whose, Ghost ghost) {
  switch (ghost) {
    case Ghost::no:
      return wire::Ghost::no;
    case Ghost::carrier:
      return wire::Ghost::carrier;
    case Ghost::observer:
      return wire::Ghost::observer;
  }
  throw Error(ErrorKind::invalid_argument, whose + ": ghost has a value that is none of Ghost's");
}

std::size_t budget_of(const std::string& whose, std::size_t bytes) {
  require_chunk(whose, bytes, "; or 0 for messages that go by pointer only");
  return bytes;
}

void require_budget_of_streams(const std::string& whose, std::size_t bytes) {
  require_chunk(whose, bytes, "");
}

void require_name(wire::Named what, std::string_view name) {
  if (const auto complaint = wire::complaint_about_length(what, name)) throw Error(ErrorKind::invalid_argument, *complaint);
}

void require_topic(const std::string& topic, bool may_be_of_service) {
  const wire::UsersName given = wire::users_name(topic);
  require_name(given.what, given.name);
  if (given.what == wire::Named::topic || may_be_of_service) return;
  throw Error(ErrorKind::invalid_argument,
              "topic name '" + topic + "' is not allowed: it is one of service '" + std::string(given.name) +
                  "': use create_service_client() or create_service_provider(), whose requests and responses nobody else reads");
}

session::Publisher::Options offered(const std::string& topic, const Qos& qos, const PublisherOptions& options) {
  return {.budget = budget_of("topic '" + topic + "'", options.memory_budget),
          .lock_memory = options.lock_memory,
          .withdraw_at_most = withdraw_at_most(topic, options),
          .wait_for_room = options.when_full == WhenFull::wait,
          .max_blocking = options.max_blocking,
          .qos = qos_of(topic, qos),
          .ghost = ghost_of("topic '" + topic + "'", options.ghost),
          // Who looks on at an action holds up none of its goals (A4).
          .waits_for_readers = topic.find("/_action/") == std::string::npos};
}

session::Subscription::Options asked(const std::string& topic, const Qos& qos, const SubscriberOptions& options) {
  session::Subscription::Options asked{
      .qos = qos_of(topic, qos), .thinning = thinning_of(topic, options), .ghost = ghost_of("topic '" + topic + "'", options.ghost)};
  // The depth counts messages that are wanted; the publisher keeps those between them as well.
  asked.qos.depth = static_cast<std::uint32_t>(std::min<std::uint64_t>(deepest, std::uint64_t{asked.qos.depth} * asked.thinning.every));
  return asked;
}

}  // namespace sinew::detail
