#include "bindings/c/options.hpp"

#include <array>
#include <chrono>
#include <new>

namespace sinew::c {
namespace {

constexpr std::uint32_t of_both = SINEW_EVENT_MATCHED | SINEW_EVENT_INCOMPATIBLE_QOS | SINEW_EVENT_DEADLINE_MISSED | SINEW_EVENT_DETACHED;
constexpr std::uint32_t of_publishers = of_both | SINEW_EVENT_LIVELINESS_LOST;
constexpr std::uint32_t of_subscribers = of_both | SINEW_EVENT_LIVELINESS_CHANGED | SINEW_EVENT_MESSAGE_LOST;

// By their bits.
constexpr std::array kind_names = {"SINEW_EVENT_MATCHED",         "SINEW_EVENT_INCOMPATIBLE_QOS",   "SINEW_EVENT_DEADLINE_MISSED",
                                   "SINEW_EVENT_LIVELINESS_LOST", "SINEW_EVENT_LIVELINESS_CHANGED", "SINEW_EVENT_MESSAGE_LOST",
                                   "SINEW_EVENT_DETACHED"};
static_assert(1U << (kind_names.size() - 1) == std::uint32_t{SINEW_EVENT_DETACHED});

/// "SINEW_EVENT_MATCHED, SINEW_EVENT_DETACHED"; of those that are none their numbers.
std::string text_of(std::uint32_t kinds) {
  std::string text;
  for (std::size_t bit = 0; bit < 32; ++bit) {
    const std::uint32_t kind = std::uint32_t{1} << bit;
    if ((kinds & kind) == 0) continue;
    if (!text.empty()) text += ", ";
    text += bit < kind_names.size() ? kind_names[bit] : std::to_string(kind);
  }
  return text;
}

void require(const EventSink& sink, std::uint32_t kinds, const char* whose) {
  if (const std::uint32_t wrong = sink.kinds & ~kinds; wrong != 0) {
    throw Error(ErrorKind::invalid_argument, "events = " + std::to_string(sink.kinds) + " has " + text_of(wrong) + ", which " + whose +
                                                 " has not: it has " + text_of(kinds));
  }
  if (sink.kinds != 0 && sink.call == nullptr) throw Error(ErrorKind::invalid_argument, "events are asked for, but on_event is NULL");
}

sinew_event event(std::uint32_t kind) noexcept {
  sinew_event event{};
  event.kind = kind;
  event.node = event.text = "";
  return event;
}

sinew_event of(const MatchedEvent& told) {
  sinew_event event = c::event(SINEW_EVENT_MATCHED);
  event.total_count = told.total_count;
  event.total_count_change = told.total_count_change;
  event.current_count = told.current_count;
  event.current_count_change = told.current_count_change;
  return event;
}

sinew_event of(const DeadlineMissedEvent& told) {
  sinew_event event = c::event(SINEW_EVENT_DEADLINE_MISSED);
  event.total_count = told.total_count;
  event.total_count_change = told.total_count_change;
  return event;
}

sinew_event of(const LivelinessLostEvent& told) {
  sinew_event event = c::event(SINEW_EVENT_LIVELINESS_LOST);
  event.total_count = told.total_count;
  event.total_count_change = told.total_count_change;
  return event;
}

sinew_event of(const LivelinessChangedEvent& told) {
  sinew_event event = c::event(SINEW_EVENT_LIVELINESS_CHANGED);
  event.current_count = told.alive_count;
  event.current_count_change = told.alive_count_change;
  event.not_alive_count = told.not_alive_count;
  event.not_alive_count_change = told.not_alive_count_change;
  event.node = told.node.c_str();
  return event;
}

sinew_event of(const MessageLostEvent& told) {
  sinew_event event = c::event(SINEW_EVENT_MESSAGE_LOST);
  event.total_count = told.total_count;
  event.total_count_change = told.total_count_change;
  event.pushed_out = told.pushed_out.total_count;
  event.withdrawn = told.withdrawn.total_count;
  event.expired = told.expired.total_count;
  return event;
}

sinew_event of(const DetachedEvent& told) {
  sinew_event event = c::event(SINEW_EVENT_DETACHED);
  event.text = told.topic.c_str();
  return event;
}

/// "reliability: offered best_effort, requested reliable; ..."; nothing where there is no memory for it.
std::string text_of(const IncompatibleQosEvent& told) noexcept {
  try {
    std::string text;
    for (const auto& policy : told.policies) {
      text += (text.empty() ? "" : "; ") + policy.name + ": offered " + policy.offered + ", requested " + policy.requested;
    }
    return text;
  } catch (const std::bad_alloc&) {
    return {};
  }
}

template <class Event>
std::function<void(const Event&)> handler(const EventSink& sink, std::uint32_t kind) {
  if ((sink.kinds & kind) == 0) return {};
  return [sink](const Event& told) {
    const sinew_event event = of(told);
    sink.call(sink.context.get(), &event);
  };
}

std::function<void(const IncompatibleQosEvent&)> incompatible_handler(const EventSink& sink) {
  if ((sink.kinds & SINEW_EVENT_INCOMPATIBLE_QOS) == 0) return {};
  return [sink](const IncompatibleQosEvent& told) {
    const std::string text = text_of(told);
    sinew_event event = c::event(SINEW_EVENT_INCOMPATIBLE_QOS);
    event.total_count = told.total_count;
    event.total_count_change = told.total_count_change;
    event.node = told.node.c_str();
    event.text = text.c_str();
    sink.call(sink.context.get(), &event);
  };
}

}  // namespace

std::shared_ptr<void> kept(void* context, void (*release)(void* context)) {
  return {context, [release](void* kept) {
            if (release) release(kept);
          }};
}

Qos qos_of(const sinew_qos* given, const char* topic) {
  const sinew_qos asked = read(given, "sinew_qos");
  if (asked.manual_by_topic && asked.lease_ns == 0) {
    throw Error(
        ErrorKind::invalid_argument,
        "topic '" + std::string(topic) + "': manual_by_topic needs a lease (lease_ns, or lease=): how long a publisher may be silent");
  }
  Qos qos;
  if (asked.depth != 0) qos.keep_last(asked.depth);
  if (asked.keep_all) qos.keep_all();
  if (asked.reliable) qos.reliable();
  if (asked.transient_local) qos.transient_local();
  if (asked.deadline_ns != 0) qos.deadline(std::chrono::nanoseconds(asked.deadline_ns));
  if (asked.lifespan_ns != 0) qos.lifespan(std::chrono::nanoseconds(asked.lifespan_ns));
  if (asked.manual_by_topic || asked.lease_ns != 0) {
    qos.liveliness(asked.manual_by_topic ? Liveliness::manual_by_topic : Liveliness::automatic, std::chrono::nanoseconds(asked.lease_ns));
  }
  return qos;
}

Ghost ghost_of(std::uint8_t given) {
  if (given > SINEW_GHOST_OBSERVER) {
    throw Error(ErrorKind::invalid_argument, "ghost = " + std::to_string(given) + " is none of SINEW_GHOST_...");
  }
  return static_cast<Ghost>(given);
}

static_assert(static_cast<int>(Ghost::no) == SINEW_GHOST_NO);
static_assert(static_cast<int>(Ghost::carrier) == SINEW_GHOST_CARRIER);
static_assert(static_cast<int>(Ghost::observer) == SINEW_GHOST_OBSERVER);

PublisherEvents publisher_events(const EventSink& sink) {
  require(sink, of_publishers, "a publisher");
  PublisherEvents events;
  events.matched = handler<MatchedEvent>(sink, SINEW_EVENT_MATCHED);
  events.incompatible_qos = incompatible_handler(sink);
  events.deadline_missed = handler<DeadlineMissedEvent>(sink, SINEW_EVENT_DEADLINE_MISSED);
  events.liveliness_lost = handler<LivelinessLostEvent>(sink, SINEW_EVENT_LIVELINESS_LOST);
  events.detached = handler<DetachedEvent>(sink, SINEW_EVENT_DETACHED);
  return events;
}

SubscriberEvents subscriber_events(const EventSink& sink) {
  require(sink, of_subscribers, "a subscriber");
  SubscriberEvents events;
  events.matched = handler<MatchedEvent>(sink, SINEW_EVENT_MATCHED);
  events.incompatible_qos = incompatible_handler(sink);
  events.deadline_missed = handler<DeadlineMissedEvent>(sink, SINEW_EVENT_DEADLINE_MISSED);
  events.liveliness_changed = handler<LivelinessChangedEvent>(sink, SINEW_EVENT_LIVELINESS_CHANGED);
  events.message_lost = handler<MessageLostEvent>(sink, SINEW_EVENT_MESSAGE_LOST);
  events.detached = handler<DetachedEvent>(sink, SINEW_EVENT_DETACHED);
  return events;
}

}  // namespace sinew::c
