#include "api/raw_subscriber.hpp"

#include <cstring>
#include <new>

#include "api/node_impl.hpp"
#include "api/options.hpp"
#include "api/raw_type.hpp"
#include "api/subscriber_impl.hpp"
#include "base/cancel.hpp"
#include "os/clock.hpp"
#include "session/fork.hpp"
#include "session/publisher/new_frame.hpp"

namespace sinew::detail {
namespace {

// The body of a copied stream is aligned as in a publisher's window.
constexpr std::align_val_t alignment{session::body_alignment};
constexpr std::size_t before_stream = session::body_alignment - session::encapsulation;

std::shared_ptr<RawFrame> frame_of(ReceivedMessage& received) {
  auto* const frame = static_cast<RawFrame*>(const_cast<void*>(received.object));  // made here, and nobody else has it yet
  return {std::const_pointer_cast<void>(std::move(received.keep)), frame};
}

}  // namespace

void RawFrame::Free::operator()(void* memory) const noexcept {
  ::operator delete(memory, alignment);
}

std::uint64_t RawFrame::copy() {
  std::size_t size = 0;
  for (const auto& extent : extents) size += extent.size();
  copied_.reset(::operator new(before_stream + size, alignment));
  std::byte* const stream = static_cast<std::byte*>(copied_.get()) + before_stream;
  std::byte* into = stream;
  for (const auto& extent : extents) {
    std::memcpy(into, extent.data(), extent.size());
    into += extent.size();
  }
  extents.assign(1, {stream, size});
  return size;
}

RawSubscriber RawSubscriber::create(const Node& node, const std::string& topic, const std::string& signature, Callback callback,
                                    const Qos& qos, const SubscriberOptions& options) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  refuse_in_child(node.name());
  require_topic(topic, options.ghost != Ghost::no);
  if (options.buffer || (options.delivery && *options.delivery != Delivery::view)) {
    throw Error(ErrorKind::invalid_argument, "topic '" + topic + "': who takes streams reads them by delivery view, and has no buffer");
  }
  session::Subscription::Options asked = detail::asked(topic, qos, options);
  asked.reading = session::Reading::view;
  const auto impl = std::make_shared<SubscriberCore::Impl>();
  if (callback) {
    impl->handler = {Handler::Takes::share, false,
                     [callback = std::move(callback)](ReceivedMessage& received) { callback(frame_of(received)); }};
  }
  auto core =
      impl->create(NodeAccess::session(node), topic, description_of(topic, signature), asked, options.events, options.execution_thread);
  return RawSubscriber(std::move(core), impl->subscription);
}

std::shared_ptr<RawFrame> RawSubscriber::take(std::chrono::nanoseconds timeout) const {
  auto received = core_->take(timeout, nullptr);
  return received ? frame_of(*received) : nullptr;
}

bool RawSubscriber::wait(std::chrono::nanoseconds timeout) const {
  if (core_->has_callback()) throw Error(ErrorKind::invalid_argument, "wait() is for subscribers without a callback");
  const std::int64_t until = os::later(os::now_ns(), timeout.count());
  const auto ends = [this] { return session::forked() || is_closed() || is_detached(); };
  for (;;) {
    if (ends() || subscription_->wait(until)) return true;
    if (os::now_ns() >= until) return ends();
  }
}

}  // namespace sinew::detail
