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
  bool contains(const void* address, std::size_t size) const noexcept override { return chunks_.contains(address, size); }

 private:
  const session::ChunkTable& chunks_;
};

class HeapMemory final : public msg::Memory {
 public:
  void* allocate(std::size_t size, std::size_t alignment) noexcept override {
    return alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? ::operator new(size, std::align_val_t(alignment), std::nothrow)
                                                        : ::operator new(size, std::nothrow);
  }
  void free(void* block) noexcept override { ::operator delete(block); }
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

std::shared_ptr<const void> copy_of(const msg::Type& type, const void* object, std::uint64_t& bytes) {
  void* const memory = ::operator new(type.size, std::align_val_t(type.align));
  HeapMemory heap;
  const msg::Copied copied = msg::copy_value(type, object, memory, heap);
  if (!copied.complete) {
    ::operator delete(memory, std::align_val_t(type.align));
    return nullptr;
  }
  bytes = copied.bytes;
  return {static_cast<const void*>(memory), [&type](const void* kept) {
            void* const object_again = const_cast<void*>(kept);  // const for its readers; made here
            type.destroy(object_again);
            ::operator delete(object_again, std::align_val_t(type.align));
          }};
}

}  // namespace

std::optional<ReceivedMessage> SubscriberCore::Impl::admit(const session::Arrival& arrival, bool keep) {
  if (auto complaint = msg::complaint_about(*type, arrival.root(), ChunkRegion(*arrival.chunks))) {
    rejected.fetch_add(1, std::memory_order_relaxed);
    if (!rejection_reported.exchange(true, std::memory_order_relaxed)) {
      base::log(base::LogLevel::error, "topic '" + topic + "': a message of '" + arrival.end->peer() +
                                           "' was rejected (said once; statistics().rejected counts): " + *complaint);
    }
    return std::nullopt;
  }
  ReceivedMessage message{arrival.root(), nullptr, nullptr};
  if (arrival.must_copy) {
    std::uint64_t bytes = 0;
    auto copy = copy_of(*type, arrival.root(), bytes);
    if (!copy) {
      rejected.fetch_add(1, std::memory_order_relaxed);
      return std::nullopt;
    }
    arrival.end->release(arrival.slot);
    message.object = copy.get();
    message.keep = std::move(copy);
    bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
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
      fill(info, arrival, arrival.must_copy ? Delivery::copy : Delivery::native);
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
      impl_->fill(*info, arrival, arrival.must_copy ? Delivery::copy : Delivery::native);
    }
    return true;
  });
  return message;
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
          .held = counters.held};
}

}  // namespace sinew::detail
