#include <memory>
#include <utility>

#include "api/raw_subscriber.hpp"
#include "bindings/c/frame.hpp"
#include "bindings/c/node.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"
#include "session/fork.hpp"

using namespace sinew;

struct sinew_subscriber {
  detail::RawSubscriber subscriber;
};

static SubscriberOptions options_of(const sinew_subscriber_options& asked) {
  SubscriberOptions options;
  options.execution_thread = asked.execution_thread;
  if (asked.every != 0) options.every = asked.every;
  options.max_rate = asked.max_rate;
  options.ghost = c::ghost_of(asked.ghost);
  return options;
}

sinew_status sinew_subscriber_create(sinew_node* node, const char* topic, const char* signature, const sinew_qos* qos,
                                     const sinew_subscriber_options* options, sinew_subscriber** subscriber) {
  return c::guarded([&] {
    const sinew_subscriber_options asked = c::read(options, "sinew_subscriber_options");
    const c::EventSink sink{asked.on_event, c::kept(asked.context, asked.release), asked.events};
    sinew_subscriber*& into = c::given(subscriber, "subscriber");
    SubscriberOptions made = options_of(asked);
    made.events = c::subscriber_events(sink);
    detail::RawSubscriber::Callback callback;
    if (asked.on_frame) {
      callback = [call = asked.on_frame, context = sink.context](std::shared_ptr<detail::RawFrame> frame) {
        call(context.get(), c::given_away(std::move(frame)));
      };
    }
    into = new sinew_subscriber{detail::RawSubscriber::create(*c::given(node, "node").node, &c::given(topic, "topic"),
                                                              &c::given(signature, "signature"), std::move(callback),
                                                              c::qos_of(qos, &c::given(topic, "topic")), made)};
    return SINEW_OK;
  });
}

void sinew_subscriber_destroy(sinew_subscriber* subscriber) {
  delete subscriber;
}

sinew_status sinew_subscriber_take(sinew_subscriber* subscriber, int64_t timeout_ns, sinew_frame** frame) {
  return c::guarded([&] {
    sinew_frame*& into = c::given(frame, "frame");
    const detail::RawSubscriber& from = c::given(subscriber, "subscriber").subscriber;
    auto taken = from.take(c::timeout_of(timeout_ns));
    const bool is_detached = !taken && from.is_detached();
    if (is_detached) taken = from.take();  // what was published before the topic went is there now
    if (!taken) {
      if (session::forked()) return c::fail(SINEW_CLOSED, "this process was forked from the node's: no message comes here");
      if (from.is_closed()) return c::fail(SINEW_CLOSED, "the node has been destroyed: no message comes any more");
      if (is_detached) return c::fail(SINEW_CLOSED, "the ghost's topic is gone: no message comes any more");
      return c::fail(SINEW_NOTHING, "no message came in time");
    }
    into = c::given_away(std::move(taken));
    return sinew_status{SINEW_OK};
  });
}

sinew_status sinew_subscriber_wait(sinew_subscriber* subscriber, int64_t timeout_ns) {
  return c::guarded([&] {
    const bool may_take = c::given(subscriber, "subscriber").subscriber.wait(c::timeout_of(timeout_ns));
    return may_take ? sinew_status{SINEW_OK} : c::fail(SINEW_NOTHING, "no message came in time");
  });
}

sinew_status sinew_subscriber_get_statistics(const sinew_subscriber* subscriber, sinew_subscriber_statistics* statistics) {
  return c::guarded([&] {
    sinew_subscriber_statistics& into = c::given(statistics, "statistics");
    const SubscriberStatistics told = c::given(subscriber, "subscriber").subscriber.core().statistics();
    into = {.received = told.received,
            .missed = told.missed,
            .withdrawn = told.withdrawn,
            .skipped = told.skipped,
            .expired = told.expired,
            .bytes_copied = told.bytes_copied,
            .over_quota = told.over_quota,
            .rejected = told.rejected,
            .publishers = told.publishers,
            .held = told.held,
            .waiting = told.waiting,
            .incompatible = told.incompatible,
            .deadlines_missed = told.deadlines_missed,
            .publishers_alive = told.publishers_alive,
            .publishers_not_alive = told.publishers_not_alive,
            .detached = told.detached};
    return SINEW_OK;
  });
}
