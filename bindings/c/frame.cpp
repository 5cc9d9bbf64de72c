#include "bindings/c/frame.hpp"

#include <chrono>
#include <utility>

using namespace sinew;

static_assert(static_cast<int>(Delivery::pointer) == SINEW_DELIVERY_POINTER);
static_assert(static_cast<int>(Delivery::native) == SINEW_DELIVERY_NATIVE);
static_assert(static_cast<int>(Delivery::view) == SINEW_DELIVERY_VIEW);
static_assert(static_cast<int>(Delivery::copy) == SINEW_DELIVERY_COPY);

static int64_t ns_of(Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

static const detail::RawFrame& frame_of(const sinew_frame* frame) {
  return *reinterpret_cast<const detail::RawFrame*>(frame);
}

namespace sinew::c {

sinew_frame* given_away(std::shared_ptr<detail::RawFrame> frame) noexcept {
  detail::RawFrame& it = *frame;
  it.itself = std::move(frame);
  return reinterpret_cast<sinew_frame*>(&it);
}

const sinew_frame* shown(const detail::RawFrame& frame) noexcept {
  return reinterpret_cast<const sinew_frame*>(&frame);
}

}  // namespace sinew::c

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
