// What keeps a message that is read where it lies.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "session/fork.hpp"
#include "session/subscriber/subscriber_end.hpp"
#include "shm/scope.hpp"

namespace sinew::detail {

/// The claim on the frame of a message.
class Held {
 public:
  explicit Held(const session::Arrival& arrival) noexcept : end_(arrival.end->shared_from_this()), slot_(arrival.slot) {}
  ~Held() {
    const shm::HeapScope heap;  // the last one takes the connection down, perhaps amid a loan that is filled
    if (session::forked()) {
      new (std::nothrow) std::shared_ptr<session::SubscriberEnd>(std::move(end_));  // leaked: its mappings do not exist in the child
    } else {
      end_->release(slot_);
      end_.reset();  // in this scope of the heap
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::shared_ptr<session::SubscriberEnd> end_;
  std::uint32_t slot_;
};

}  // namespace sinew::detail
