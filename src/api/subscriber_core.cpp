#include "sinew/detail/subscriber_core.hpp"

#include <chrono>
#include <new>
#include <utility>
#include <vector>

#include "api/description.hpp"
#include "api/held.hpp"
#include "api/raw_subscriber.hpp"
#include "api/subscriber_impl.hpp"
#include "base/call_back.hpp"
#include "base/cancel.hpp"
#include "base/log.hpp"
#include "msg/heap_memory.hpp"
#include "msg/walk.hpp"
#include "os/clock.hpp"
#include "session/fork.hpp"
#include "shm/scope.hpp"

namespace sinew::detail {
namespace {

constexpr std::string_view without_memory = "there is no memory to receive it";
constexpr std::string_view no_pieces = "its pieces do not lie in the publisher's memory";

Time time_at(std::int64_t ns) noexcept {
  return Time(std::chrono::duration_cast<Time::duration>(std::chrono::nanoseconds(ns)));
}

class ChunkRegion final : public msg::Region {
 public:
  explicit ChunkRegion(const session::ChunkTable& chunks) noexcept : chunks_(chunks) {}
  Range around(const void* address) const noexcept override {
    const session::ChunkTable::Entry* const chunk = chunks_.around(reinterpret_cast<std::uintptr_t>(address));
    // Not where the publisher has it: what lies here at its address is something else.
    if (!chunk || reinterpret_cast<std::uintptr_t>(chunk->mapping->data()) != chunk->address) return {};
    return {chunk->address, chunk->address + chunk->size};
  }
  std::uint64_t bytes() const noexcept override { return chunks_.bytes; }

 private:
  const session::ChunkTable& chunks_;
};

void count(std::atomic<std::uint64_t>& counter, std::uint64_t more) noexcept {
  // relaxed: one thread at a time receives, and nobody else counts
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

Delivery delivery_of(const session::Arrival& arrival, Handler::Takes takes) noexcept {
  return session::delivery_of(session::path_of(arrival.must_copy || takes == Handler::Takes::own, arrival.in_pieces));
}

/// What the views of one message refer to: the publisher's memory, or what was copied for them.
struct Views {
  class Blocks final : public msg::Memory {
   public:
    ~Blocks() {
      for (const auto& [block, alignment] : blocks_) heap_.free(block, alignment);
    }
    void* allocate(std::size_t size, std::size_t alignment) noexcept override {
      try {
        blocks_.emplace_back(nullptr, alignment);
      } catch (const std::bad_alloc&) {
        return nullptr;
      }
      return blocks_.back().first = heap_.allocate(size, alignment);
    }
    void free(void*, std::size_t) noexcept override {}  // all of them go with the message

   private:
    msg::HeapMemory heap_;
    std::vector<std::pair<void*, std::size_t>> blocks_;  // with their alignments
  };
  std::optional<Held> frame;
  Blocks blocks;
  std::shared_ptr<const void> object;  // goes first
};

// As `new` and `delete` of the type do it, so that a std::unique_ptr of it can have the object.
void* allocate_as_new(const msg::Type& type) {
  return type.align > __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? ::operator new(type.size, std::align_val_t(type.align))
                                                       : ::operator new(type.size);
}
void free_as_delete(const msg::Type& type, void* memory) noexcept {
  if (type.align > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    ::operator delete(memory, std::align_val_t(type.align));
  } else {
    ::operator delete(memory);
  }
}

/// Makes an object on the heap. `fill(memory, heap)` says whether it made one. Null when not.
template <class Fill>
void* make_on_heap(const msg::Type& type, Fill fill) {
  void* const memory = allocate_as_new(type);
  msg::HeapMemory heap;
  bool made = false;
  try {
    made = fill(memory, heap);
  } catch (...) {
    free_as_delete(type, memory);
    throw;
  }
  if (made) return memory;
  free_as_delete(type, memory);
  return nullptr;
}

std::shared_ptr<const void> shared_from_heap(const msg::Type& type, void* object) {
  return {static_cast<const void*>(object), [&type](const void* kept) {
            void* const made = const_cast<void*>(kept);  // const for its readers; made here
            type.destroy(made);
            free_as_delete(type, made);
          }};
}

}  // namespace

std::shared_ptr<SubscriberCore> SubscriberCore::Impl::create(const std::shared_ptr<session::NodeSession>& with, const std::string& of_topic,
                                                             const msg::Message& of_type, const session::Subscription::Options& options,
                                                             const SubscriberEvents& events, ThreadId execution_thread) {
  type = of_type.type;
  return create(with, of_topic, description_of(of_type), options, events, execution_thread);
}

std::shared_ptr<SubscriberCore> SubscriberCore::Impl::create(const std::shared_ptr<session::NodeSession>& with, const std::string& of_topic,
                                                             const wire::TypeDescription& of_type,
                                                             const session::Subscription::Options& options, const SubscriberEvents& events,
                                                             ThreadId execution_thread) {
  topic = of_topic;
  session = with;
  subscription = session->create_subscription(topic, of_type, options, handler.call ? this : nullptr, events, execution_thread);
  try {
    return std::make_shared<SubscriberCore>(shared_from_this());
  } catch (const std::bad_alloc&) {
    session->remove(subscription);
    throw;
  }
}

void SubscriberCore::Impl::reject(const session::Arrival& arrival, std::string_view complaint, bool no_memory) noexcept {
  if (rejections) rejections->rejected(sender, rejections->number_of(arrival, pieces), no_memory);
  reject(arrival.end->peer(), complaint);
}

void SubscriberCore::Impl::reject(const std::string& publisher, std::string_view complaint) noexcept {
  rejected.fetch_add(1, std::memory_order_relaxed);
  if (rejection_reported.exchange(true, std::memory_order_relaxed)) return;
  try {
    base::log(base::LogLevel::error, "topic '" + topic + "': a message of '" + publisher +
                                         "' was rejected (said once; statistics().rejected counts): " + std::string(complaint));
  } catch (const std::bad_alloc&) {
    base::log(base::LogLevel::error, complaint);
  }
}

std::nullopt_t SubscriberCore::Impl::refuse(const session::Arrival& arrival, std::string_view complaint) noexcept {
  if (arrival.end->is_still_there(arrival.frame)) {
    reject(arrival, complaint);
  } else {
    arrival.end->lose_taken();
  }
  return std::nullopt;
}

std::optional<ReceivedMessage> SubscriberCore::Impl::decode(const session::Arrival& arrival, Takes takes) {
  if (!arrival.gather_pieces(pieces)) return refuse(arrival, no_pieces);
  if (!reader) reader.emplace(*type);
  std::uint64_t stream = 0;
  for (const msg::cdr::Piece& piece : pieces) stream += piece.size();
  msg::cdr::Read read;
  const auto views = type->has_views ? std::make_shared<Views>() : nullptr;
  const bool in_place = views && !arrival.must_copy;
  void* const object = make_on_heap(*type, [&](void* memory, msg::HeapMemory& heap) {
    const std::uint64_t budget = reader->usual_budget(stream);
    read = views ? reader->read(pieces, memory, heap, budget, {views->blocks, in_place}) : reader->read(pieces, memory, heap, budget);
    return read.complaint.empty();
  });
  ReceivedMessage message;
  message.object = object;
  if (object && takes != Takes::own) message.keep = shared_from_heap(*type, object);
  if (!object || !arrival.end->is_still_there(arrival.frame)) {
    if (object && takes == Takes::own) let_go(object);
    return refuse(arrival, read.complaint);
  }
  if (in_place) {
    views->frame.emplace(arrival);  // has the claim from here on
  } else {
    arrival.end->release(arrival.slot);
  }
  count_received(arrival, read.bytes);
  if (takes == Takes::own) {
    message.owned = object;
  } else if (views) {
    views->object = std::move(message.keep);
    message.keep = views;
  }
  return message;
}

// Unless it is copied, the frame has the claim from here on.
std::optional<ReceivedMessage> SubscriberCore::Impl::receive_stream(const session::Arrival& arrival) {
  if (!arrival.gather_pieces(pieces)) return refuse(arrival, no_pieces);
  const auto frame = std::make_shared<RawFrame>();
  frame->extents = pieces;
  frame->info.publisher = arrival.end->peer();
  fill(frame->info, arrival.frame.sequence, arrival.frame.source_time, arrival.missed, delivery_of(arrival, Takes::share));
  const std::uint64_t copied = arrival.must_copy ? frame->copy() : 0;
  std::string_view complaint = no_pieces;
  std::shared_ptr<const void> message = frame;
  if (opener) message = opener->open(frame, complaint);
  if (!message || !arrival.end->is_still_there(arrival.frame)) return refuse(arrival, complaint);
  if (arrival.must_copy) {
    arrival.end->release(arrival.slot);
  } else {
    frame->hold(arrival);
  }
  count_received(arrival, copied);
  const void* const object = message.get();
  return ReceivedMessage{.object = object, .keep = std::move(message)};
}

void SubscriberCore::Impl::count_received(const session::Arrival& arrival, std::uint64_t copied) noexcept {
  arrival.end->count_received(arrival.frame.source_time, copied);
  count(bytes_copied, copied);
  count(received, 1);
}

void SubscriberCore::Impl::let_go(void* object) const noexcept {
  type->destroy(object);
  free_as_delete(*type, object);
}

std::optional<ReceivedMessage> SubscriberCore::Impl::admit(const session::Arrival& arrival, Takes takes) {
  if (!type) return receive_stream(arrival);
  if (arrival.in_pieces) return decode(arrival, takes);
  const ChunkRegion region(*arrival.chunks);
  ReceivedMessage message;
  message.object = arrival.root();
  if (arrival.must_copy || takes == Takes::own) {
    msg::CheckedCopy copied;
    void* const object = make_on_heap(*type, [&](void* memory, msg::HeapMemory& heap) {
      copied = msg::copy_checked(*type, arrival.root(), memory, heap, region, arrival.frame.size);
      return copied.complaint.empty();
    });
    if (!object) {
      reject(arrival, copied.complaint);
      return std::nullopt;
    }
    message.object = object;
    if (takes == Takes::own) {
      message.owned = object;
    } else {
      message.keep = shared_from_heap(*type, object);
    }
    arrival.end->release(arrival.slot);
    count_received(arrival, copied.bytes);
    return message;
  } else if (auto complaint = msg::complaint_about(*type, arrival.root(), region)) {
    reject(arrival, *complaint);
    return std::nullopt;
  } else if (takes == Takes::share) {
    message.keep = std::make_shared<Held>(arrival);
  }
  count_received(arrival, 0);
  return message;
}

ReceivedMessage SubscriberCore::Impl::admit(session::LocalArrival& arrival, Takes takes) {
  ReceivedMessage message;
  switch (takes) {
    case Takes::look:
      message.object = arrival.look();
      break;
    case Takes::share:
      message.keep = arrival.share();
      message.object = message.keep.get();
      break;
    case Takes::own:
      if (arrival.must_copy_to_own()) count(bytes_copied, msg::size_of_value(*type, arrival.look()));
      message.owned = arrival.own().release();
      message.object = message.owned;
      break;
  }
  count(received, 1);
  return message;
}

void SubscriberCore::Impl::fill(MessageInfo& into, std::uint64_t sequence, std::int64_t source_time, std::uint64_t missed,
                                Delivery delivery) const {
  into.sequence = sequence;
  into.source_time = time_at(source_time);
  into.receive_time = time_at(os::now_ns());
  into.delivery = delivery;
  into.missed = missed;
}

void SubscriberCore::Impl::call(ReceivedMessage& message) {
  message.endpoint = sender;
  message.info = handler.wants_info ? &info : nullptr;
  base::call_back(handler.call, message);
  if (message.owned) let_go(message.owned);
}

bool SubscriberCore::Impl::accept(const session::Arrival& arrival) {
  const auto self = shared_from_this();  // the callback may destroy the subscriber
  sender = arrival.end->endpoint();
  std::optional<ReceivedMessage> message;
  try {
    if (handler.wants_info && info.publisher != arrival.end->peer()) info.publisher = arrival.end->peer();
    message = admit(arrival, handler.takes);
  } catch (const std::bad_alloc&) {
    if (arrival.in_pieces)
      arrival.gather_pieces(pieces);  // for the publisher's name there may have been none: then they are another message's
    reject(arrival, without_memory, true);
  }
  const bool ours = !message || (!message->keep && !message->owned);
  if (!message) {
    arrival.end->not_delivered(arrival.missed);
  } else {
    if (handler.wants_info) {
      fill(info, arrival.frame.sequence, arrival.frame.source_time, arrival.missed, delivery_of(arrival, handler.takes));
    }
    call(*message);
  }
  if (ours) arrival.end->release(arrival.slot);
  return true;
}

bool SubscriberCore::Impl::accept(session::LocalArrival& arrival) {
  const auto self = shared_from_this();
  sender = arrival.from->endpoint();
  ReceivedMessage message;
  const std::uint64_t number = rejections ? rejections->number_of(arrival.look()) : 0;
  try {
    if (const std::string& from = arrival.from->options().publisher; handler.wants_info && info.publisher != from) info.publisher = from;
    message = admit(arrival, handler.takes);
  } catch (const std::bad_alloc&) {
    if (rejections) rejections->rejected(sender, number, true);
    reject(arrival.from->options().publisher, without_memory);
    return true;
  }
  if (handler.wants_info) {
    fill(info, arrival.sequence, arrival.source_time, arrival.missed, Delivery::pointer);
  }
  call(message);
  return true;
}

/// Takes one message for take().
class SubscriberCore::Taker final : public session::Receiver {
 public:
  Taker(Impl& impl, MessageInfo* info) noexcept : impl_(impl), info_(info) {}

  std::optional<ReceivedMessage> message;

  bool accept(const session::Arrival& arrival) override {
    impl_.sender = arrival.end->endpoint();
    try {
      message = impl_.admit(arrival, Handler::Takes::share);
    } catch (const std::bad_alloc&) {
      if (impl_.rejections) {
        impl_.reject(arrival, without_memory, true);
      } else {
        arrival.end->not_delivered(arrival.missed);
        arrival.end->release(arrival.slot);
        throw;
      }
    }
    if (!message) {
      arrival.end->not_delivered(arrival.missed);
      arrival.end->release(arrival.slot);
      return false;
    }
    message->endpoint = impl_.sender;
    if (info_) {
      info_->publisher = arrival.end->peer();
      const Delivery delivery = delivery_of(arrival, Handler::Takes::share);
      impl_.fill(*info_, arrival.frame.sequence, arrival.frame.source_time, arrival.missed, delivery);
    }
    return true;
  }

  bool accept(session::LocalArrival& arrival) override {
    impl_.sender = arrival.from->endpoint();
    message = impl_.admit(arrival, Handler::Takes::share);
    message->endpoint = impl_.sender;
    if (info_) {
      info_->publisher = arrival.from->options().publisher;
      impl_.fill(*info_, arrival.sequence, arrival.source_time, arrival.missed, Delivery::pointer);
    }
    return true;
  }

 private:
  Impl& impl_;
  MessageInfo* info_;
};

SubscriberCore::SubscriberCore(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

SubscriberCore::~SubscriberCore() {
  if (session::forked()) {
    new (std::nothrow) std::shared_ptr<Impl>(std::move(impl_));  // dead in the child, see PublisherCore
    return;
  }
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  impl_->session->remove(impl_->subscription);
  impl_.reset();  // while nobody can cancel it
}

const std::string& SubscriberCore::topic() const noexcept {
  return impl_->topic;
}

bool SubscriberCore::has_callback() const noexcept {
  return static_cast<bool>(impl_->handler.call);
}

std::optional<ReceivedMessage> SubscriberCore::take(MessageInfo* info) {
  const shm::HeapScope heap;
  if (has_callback())
    throw Error(ErrorKind::invalid_argument, "topic '" + impl_->topic + "': take() is for subscribers without a callback");
  if (session::forked()) return std::nullopt;
  Taker taker(*impl_, info);
  impl_->subscription->take(taker);
  return std::move(taker.message);
}

std::optional<ReceivedMessage> SubscriberCore::take(std::chrono::nanoseconds timeout, MessageInfo* info) {
  const std::int64_t until = os::later(os::now_ns(), timeout.count());
  for (;;) {
    // Before taking: what was published before the topic went is there then.
    const bool ends = impl_->subscription->is_closed() || impl_->subscription->status().is_detached();
    auto message = take(info);
    if (message || ends || session::forked() || os::now_ns() >= until) return message;
    impl_->subscription->wait(until);
  }
}

std::vector<MatchedPublisher> SubscriberCore::publishers() const {
  const shm::HeapScope heap;
  if (session::forked()) return {};
  return impl_->subscription->publishers();
}

SubscriberStatistics SubscriberCore::statistics() const {
  const shm::HeapScope heap;
  if (session::forked()) return {};
  SubscriberStatistics statistics = impl_->subscription->statistics();
  statistics.received = impl_->received.load(std::memory_order_relaxed);
  statistics.bytes_copied = impl_->bytes_copied.load(std::memory_order_relaxed);
  statistics.rejected = impl_->rejected.load(std::memory_order_relaxed);
  return statistics;
}

}  // namespace sinew::detail
