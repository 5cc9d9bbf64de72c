#include <chrono>
#include <memory>
#include <utility>

#include "api/raw_subscriber.hpp"
#include "bindings/c/node.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"

using namespace sinew;

struct sinew_subscriber {
  detail::RawSubscriber subscriber;
};

// A sinew_frame is a detail::RawFrame that keeps itself.
static const detail::RawFrame& frame_of(const sinew_frame* frame) {
  return *reinterpret_cast<const detail::RawFrame*>(frame);
}

static sinew_frame* given_away(std::shared_ptr<detail::RawFrame> frame) {
  detail::RawFrame& it = *frame;
  it.itself = std::move(frame);
  return reinterpret_cast<sinew_frame*>(&it);
}

static_assert(static_cast<int>(Delivery::pointer) == SINEW_DELIVERY_POINTER);
static_assert(static_cast<int>(Delivery::native) == SINEW_DELIVERY_NATIVE);
static_assert(static_cast<int>(Delivery::view) == SINEW_DELIVERY_VIEW);
static_assert(static_cast<int>(Delivery::copy) == SINEW_DELIVERY_COPY);
static_assert(static_cast<int>(Delivery::network) == SINEW_DELIVERY_NETWORK);

static int64_t ns_of(Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

static SubscriberOptions options_of(const sinew_subscriber_options& asked) {
  SubscriberOptions options;
  options.execution_thread = asked.execution_thread;
  if (asked.every != 0) options.every = asked.every;
  options.max_rate = asked.max_rate;
  options.ghost = asked.ghost;
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
        call(context.get(), given_away(std::move(frame)));
      };
    }
    into =
        new sinew_subscriber{detail::RawSubscriber::create(*c::given(node, "node").node, &c::given(topic, "topic"),
                                                           &c::given(signature, "signature"), std::move(callback), c::qos_of(qos), made)};
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
    auto taken = from.take(timeout_ns < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(timeout_ns));
    if (!taken) {
      return from.is_closed() ? c::fail(SINEW_CLOSED, "the node has been destroyed: no message comes any more")
                              : c::fail(SINEW_NOTHING, "no message came in time");
    }
    into = given_away(std::move(taken));
    return sinew_status{SINEW_OK};
  });
}

size_t sinew_frame_extent_count(const sinew_frame* frame) {
  return frame_of(frame).extents.size();
}

sinew_extent sinew_frame_extent(const sinew_frame* frame, size_t index) {
  const auto& extent = frame_of(frame).extents[index];
  return {reinterpret_cast<const uint8_t*>(extent.data()), extent.size()};
}

sinew_message_info sinew_frame_info(const sinew_frame* frame) {
  const MessageInfo& told = frame_of(frame).info;
  return {.publisher = told.publisher.c_str(),
          .sequence = told.sequence,
          .source_time_ns = ns_of(told.source_time),
          .receive_time_ns = ns_of(told.receive_time),
          .missed = told.missed,
          .delivery = static_cast<int32_t>(told.delivery),
          .reserved = 0};
}

void sinew_frame_release(sinew_frame* frame) {
  if (frame) std::exchange(reinterpret_cast<detail::RawFrame*>(frame)->itself, nullptr);
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
            .incompatible = told.incompatible,
            .deadlines_missed = told.deadlines_missed,
            .publishers_alive = told.publishers_alive,
            .publishers_not_alive = told.publishers_not_alive,
            .detached = told.detached};
    return SINEW_OK;
  });
}
