#include "sinew/detail/subscriber_core.hpp"

#include <chrono>
#include <new>

#include "api/subscriber_impl.hpp"
#include "base/log.hpp"
#include "msg/walk.hpp"
#include "os/clock.hpp"
#include "session/fork.hpp"
#include "shm/scope.hpp"

namespace sinew::detail {
namespace {

Time time_at(std::int64_t ns) noexcept {
  return Time(std::chrono::duration_cast<Time::duration>(std::chrono::nanoseconds(ns)));
}

class ChunkRegion final : public msg::Region {
 public:
  explicit ChunkRegion(const session::ChunkTable& chunks) noexcept : chunks_(chunks) {}
  Range around(const void* address) const noexcept override {
    const session::ChunkTable::Entry* const chunk = chunks_.around(reinterpret_cast<std::uintptr_t>(address));
    return chunk ? Range{chunk->address, chunk->address + chunk->size} : Range{};
  }
  std::uint64_t bytes() const noexcept override { return chunks_.bytes; }

 private:
  const session::ChunkTable& chunks_;
};

class HeapMemory final : public msg::Memory {
 public:
  void* allocate(std::size_t size, std::size_t alignment) noexcept override {
    return alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? ::operator new(size, std::align_val_t(alignment), std::nothrow)
                                                        : ::operator new(size, std::nothrow);
  }
  void free(void* block, std::size_t alignment) noexcept override {
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      ::operator delete(block, std::align_val_t(alignment));
    } else {
      ::operator delete(block);
    }
  }
};

/// What keeps a message that is read in place: the claim on its frame.
class Held {
 public:
  explicit Held(const session::Arrival& arrival) noexcept : end_(arrival.end->shared_from_this()), slot_(arrival.slot) {}
  ~Held() {
    if (session::forked()) {
      new (std::nothrow) std::shared_ptr<session::SubscriberEnd>(std::move(end_));  // leaked: its mappings do not exist in the child
    } else {
      end_->release(slot_);
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::shared_ptr<session::SubscriberEnd> end_;
  std::uint32_t slot_;
};

Delivery delivery_of(const session::Arrival& arrival) noexcept {
  if (arrival.must_copy) return Delivery::copy;
  return arrival.in_pieces ? Delivery::view : Delivery::native;
}

/// What the views of one message refer to: the publisher's memory, or what was copied for them.
struct Views {
  class Blocks final : public msg::Memory {
   public:
    ~Blocks() {
      for (void* const block : blocks_) ::operator delete(block);
    }
    void* allocate(std::size_t size, std::size_t alignment) noexcept override {
      if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) return nullptr;  // no number is aligned so
      try {
        blocks_.reserve(blocks_.size() + 1);
      } catch (const std::bad_alloc&) {
        return nullptr;
      }
      void* const block = ::operator new(size, std::nothrow);
      if (block) blocks_.push_back(block);
      return block;
    }
    void free(void*, std::size_t) noexcept override {}  // all of them go with the message

   private:
    std::vector<void*> blocks_;
  };
  std::optional<Held> frame;
  Blocks blocks;
  std::shared_ptr<const void> object;  // goes first
};

/// Makes an object on the heap. `fill(memory, heap)` gives the bytes it took, or nothing when it made no object.
template <class Fill>
std::shared_ptr<const void> make_on_heap(const msg::Type& type, Fill fill) {
  void* const memory = ::operator new(type.size, std::align_val_t(type.align));
  HeapMemory heap;
  bool made = false;
  try {
    made = fill(memory, heap);
  } catch (...) {
    ::operator delete(memory, std::align_val_t(type.align));
    throw;
  }
  if (!made) {
    ::operator delete(memory, std::align_val_t(type.align));
    return nullptr;
  }
  return {static_cast<const void*>(memory), [&type](const void* kept) {
            void* const object = const_cast<void*>(kept);  // const for its readers; made here
            type.destroy(object);
            ::operator delete(object, std::align_val_t(type.align));
          }};
}

}  // namespace

void SubscriberCore::Impl::reject(const session::Arrival& arrival, const std::string& complaint) {
  rejected.fetch_add(1, std::memory_order_relaxed);
  if (rejection_reported.exchange(true, std::memory_order_relaxed)) return;
  base::log(base::LogLevel::error, "topic '" + topic + "': a message of '" + arrival.end->peer() +
                                       "' was rejected (said once; statistics().rejected counts): " + complaint);
}

std::optional<ReceivedMessage> SubscriberCore::Impl::decode(const session::Arrival& arrival) {
  if (!arrival.gather_pieces(pieces)) {
    reject(arrival, "its pieces do not lie in the publisher's memory");
    return std::nullopt;
  }
  if (!reader) reader.emplace(*type);
  std::uint64_t stream = 0;
  for (const msg::cdr::Piece& piece : pieces) stream += piece.size();
  msg::cdr::Read read;
  const auto views = type->has_views ? std::make_shared<Views>() : nullptr;
  const bool in_place = views && !arrival.must_copy;
  auto object = make_on_heap(*type, [&](void* memory, HeapMemory& heap) {
    const std::uint64_t budget = reader->usual_budget(stream);
    read = views ? reader->read(pieces, memory, heap, budget, {views->blocks, in_place}) : reader->read(pieces, memory, heap, budget);
    return read.complaint.empty();
  });
  if (!arrival.end->is_still_there(arrival.frame)) {
    arrival.end->lose_taken();
    return std::nullopt;
  }
  if (!object) {
    reject(arrival, read.complaint);
    return std::nullopt;
  }
  if (in_place) {
    views->frame.emplace(arrival);  // has the claim from here on
  } else {
    arrival.end->release(arrival.slot);
  }
  arrival.end->count_copied(read.bytes);
  bytes_copied.fetch_add(read.bytes, std::memory_order_relaxed);
  received.fetch_add(1, std::memory_order_relaxed);
  const void* const address = object.get();
  if (!views) return ReceivedMessage{address, std::move(object), nullptr};
  views->object = std::move(object);
  return ReceivedMessage{address, views, nullptr};
}

std::optional<ReceivedMessage> SubscriberCore::Impl::admit(const session::Arrival& arrival, bool keep) {
  if (arrival.in_pieces) return decode(arrival);
  const ChunkRegion region(*arrival.chunks);
  ReceivedMessage message{arrival.root(), nullptr, nullptr};
  if (arrival.must_copy) {
    msg::CheckedCopy copied;
    message.keep = make_on_heap(*type, [&](void* memory, HeapMemory& heap) {
      copied = msg::copy_checked(*type, arrival.root(), memory, heap, region, arrival.frame.size);
      return copied.complaint.empty();
    });
    if (!message.keep) {
      reject(arrival, copied.complaint);
      return std::nullopt;
    }
    arrival.end->release(arrival.slot);
    message.object = message.keep.get();
    arrival.end->count_copied(copied.bytes);
    bytes_copied.fetch_add(copied.bytes, std::memory_order_relaxed);
  } else if (auto complaint = msg::complaint_about(*type, arrival.root(), region)) {
    reject(arrival, *complaint);
    return std::nullopt;
  } else if (keep) {
    message.keep = std::make_shared<Held>(arrival);
  }
  received.fetch_add(1, std::memory_order_relaxed);
  return message;
}

void SubscriberCore::Impl::fill(MessageInfo& into, const session::Arrival& arrival, Delivery delivery) const {
  into.sequence = arrival.frame.sequence;
  into.source_time = time_at(arrival.frame.source_time);
  into.receive_time = time_at(os::now_ns());
  into.delivery = delivery;
  into.missed = arrival.missed;
}

void SubscriberCore::Impl::on_arrival(const session::Arrival& arrival) {
  const auto self = shared_from_this();  // the callback may destroy the subscriber
  auto message = admit(arrival, handler.wants_to_keep);
  const bool ours = !message || !message->keep;
  if (message) {
    if (handler.wants_info) {
      if (info_connection != arrival.end->connection()) {
        info.publisher = arrival.end->peer();
        info_connection = arrival.end->connection();
      }
      fill(info, arrival, delivery_of(arrival));
      message->info = &info;
    }
    handler.call(*message);
  }
  if (ours) arrival.end->release(arrival.slot);
}

SubscriberCore::SubscriberCore(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

SubscriberCore::~SubscriberCore() {
  if (session::forked()) {
    new (std::nothrow) std::shared_ptr<Impl>(std::move(impl_));  // dead in the child, see PublisherCore
    return;
  }
  const shm::HeapScope heap;
  impl_->session->remove(impl_->subscription);
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
  std::optional<ReceivedMessage> message;
  impl_->subscription->take([&](const session::Arrival& arrival) {
    try {
      message = impl_->admit(arrival, true);
    } catch (...) {
      arrival.end->release(arrival.slot);
      throw;
    }
    if (!message) {
      arrival.end->release(arrival.slot);
      return false;
    }
    if (info) {
      info->publisher = arrival.end->peer();
      impl_->fill(*info, arrival, delivery_of(arrival));
    }
    return true;
  });
  return message;
}

std::vector<PublisherShare> SubscriberCore::publishers() const {
  const shm::HeapScope heap;
  std::vector<PublisherShare> all;
  if (session::forked()) return all;
  impl_->subscription->for_each_publisher([&](const session::SubscriberEnd& end) {
    const Delivery delivery = end.copies() ? Delivery::copy : end.reads_in_pieces() ? Delivery::view : Delivery::native;
    std::string why = end.why_not_in_place();
    if (why.empty() && end.copies()) why = "the subscriber asks for it";
    all.push_back({.node = end.peer(),
                   .delivery = delivery,
                   .why = std::move(why),
                   .received = end.received(),
                   .missed = end.missed(),
                   .bytes_copied = end.bytes_copied(),
                   .held = end.held()});
  });
  return all;
}

SubscriberStatistics SubscriberCore::statistics() const {
  const shm::HeapScope heap;
  if (session::forked()) return {};
  const session::Subscription::Counters counters = impl_->subscription->counters();
  return {.received = impl_->received.load(std::memory_order_relaxed),
          .missed = counters.missed,
          .withdrawn = counters.withdrawn,
          .skipped = counters.skipped,
          .bytes_copied = impl_->bytes_copied.load(std::memory_order_relaxed),
          .rejected = impl_->rejected.load(std::memory_order_relaxed),
          .publishers = counters.publishers,
          .held = counters.held,
          .incompatible = counters.incompatible};
}

}  // namespace sinew::detail
