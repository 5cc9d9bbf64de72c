#include "api/raw_publisher.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <optional>

#include "api/node_impl.hpp"
#include "api/options.hpp"
#include "api/publisher_impl.hpp"
#include "api/raw_type.hpp"
#include "base/cancel.hpp"
#include "session/fork.hpp"
#include "shm/scope.hpp"

namespace sinew::detail {
namespace {

/// In a stream of CDR (C1.2); what follows only who knows the type can tell.
bool begins_as_stream(std::span<const std::byte> stream) noexcept {
  return stream.size() >= session::encapsulation && stream[0] == std::byte{0} && stream[1] <= std::byte{1} && stream[2] == std::byte{0} &&
         stream[3] == std::byte{0};
}

/// Nothing when no memory could have so many.
std::optional<std::size_t> size_of(std::span<const std::span<const std::byte>> extents) noexcept {
  std::size_t size = 0;
  for (const auto& extent : extents) {
    if (extent.size() > std::numeric_limits<std::size_t>::max() - size) return std::nullopt;
    size += extent.size();
  }
  return size;
}

std::string what_is_wrong() {
  return "it is no stream of CDR: those begin with the bytes 00 01 00 00, or 00 00 00 00 where numbers have their most significant byte "
         "first";
}

}  // namespace

RawLoan::~RawLoan() {
  if (!frame_.is_in_window() || session::forked()) return;
  const shm::HeapScope heap;
  session::Publisher& publisher = *core_->impl().publisher;
  publisher.start_over();
  publisher.window().free(frame_.pieces);
}

std::span<std::byte> RawLoan::bytes() const noexcept {
  return {session::stream_of(frame_), frame_.size};
}

std::shared_ptr<const void> RawLoan::keep() const {
  return core_->impl().publisher->window().keep(frame_.pieces);
}

RawPublisher RawPublisher::create(const Node& node, const std::string& topic, const std::string& signature, const Qos& qos,
                                  const PublisherOptions& options) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  refuse_in_child(node.name());
  require_topic(topic);
  require_budget_of_streams("topic '" + topic + "'", options.memory_budget);
  auto core = PublisherCore::Impl::create(NodeAccess::session(node), topic, description_of(topic, signature), PublisherCore::Impl::Table{},
                                          offered(topic, qos, options), options.events, options.execution_thread);
  core->prefault(options.prefault);
  return RawPublisher(std::move(core));
}

std::unique_ptr<RawLoan> RawPublisher::loan(std::size_t capacity, PublishResult* why) const {
  const shm::HeapScope heap;
  if (session::forked()) {
    if (why) *why = PublishResult::closed;
    return nullptr;
  }
  PublisherCore::Impl& impl = core_->impl();
  impl.publisher->reclaim();
  std::unique_ptr<RawLoan> loan(new (std::nothrow) RawLoan(core_));
  if (loan) loan->frame_ = session::stream_frame(impl.publisher->window(), capacity);
  if (loan && loan->frame_.is_in_window()) return loan;
  const PublishResult refused = impl.refused();
  if (why) *why = refused;
  return nullptr;
}

PublishResult RawPublisher::publish(std::unique_ptr<RawLoan> loan, std::size_t used, std::string* why_invalid) const {
  const shm::HeapScope heap;
  if (session::forked()) return PublishResult::closed;
  PublisherCore::Impl& impl = core_->impl();
  const std::size_t room = loan ? loan->bytes().size() : 0;
  if (loan && used > room) {
    return impl.invalid([&] { return "used = " + std::to_string(used) + " is more than the loan's " + std::to_string(room) + " bytes"; },
                        why_invalid);
  }
  if (!loan || !begins_as_stream(loan->bytes().first(used))) return impl.invalid(what_is_wrong, why_invalid);
  session::NewFrame frame = std::exchange(loan->frame_, {});
  session::shorten(frame, used);
  return impl.reported(impl.publisher->publish({}, frame), 0);
}

PublishResult RawPublisher::publish(std::unique_ptr<RawLoan> loan, std::span<const std::span<const std::byte>> extents) const {
  const shm::HeapScope heap;
  if (session::forked()) return PublishResult::closed;
  PublisherCore::Impl& impl = core_->impl();
  const auto first = std::ranges::find_if(extents, [](std::span<const std::byte> extent) { return !extent.empty(); });
  if (!loan || first == extents.end() || !begins_as_stream(*first)) return impl.invalid(what_is_wrong, nullptr);
  if (!size_of(extents)) return impl.refused();
  std::uint64_t copied = 0;
  const session::NewFrame frame = session::gathered_frame(impl.publisher->window(), loan->frame_, extents, copied);
  if (!frame.is_in_window()) return impl.refused();
  loan->frame_ = {};
  const PublishResult result = impl.reported(impl.publisher->publish({}, frame), 0);
  if (result == PublishResult::published) impl.publisher->count_copied(copied);
  return result;
}

PublishResult RawPublisher::publish(std::span<const std::span<const std::byte>> extents) const {
  const auto total = size_of(extents);
  if (!total) return core_->impl().refused();
  const std::size_t size = *total;
  PublishResult why{};
  std::unique_ptr<RawLoan> room = loan(size, &why);
  if (!room) return why;
  std::byte* into = room->bytes().data();
  for (const auto& extent : extents) {
    if (!extent.empty()) std::memcpy(into, extent.data(), extent.size());
    into += extent.size();
  }
  const PublishResult result = publish(std::move(room), size);
  if (result == PublishResult::published) core_->impl().publisher->count_copied(size);
  return result;
}

std::string RawPublisher::why_no_memory() const {
  return core_->impl().publisher->window().why_refused();
}

}  // namespace sinew::detail
