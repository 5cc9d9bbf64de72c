#include "session/in_process/local_delivery.hpp"

#include <algorithm>
#include <utility>

namespace sinew::session {

void LocalDelivery::begin(const std::vector<std::shared_ptr<LocalQueue>>& queues, std::uint64_t sequence, std::int64_t source_time) {
  sharers_ = owners_ = 0;
  if (!parts_) parts_ = std::make_unique<Parts>();
  if (queues.empty()) return;
  parts_->reserve(queues.size());
  for (const auto& queue : queues) {
    if (!queue->wants(sequence, source_time)) continue;
    Part& part = parts_->emplace_back();
    part.queue = queue;
    part.item.sequence = sequence;
    (queue->options().buffer == Buffer::shared ? sharers_ : owners_) += 1;
  }
}

bool LocalDelivery::shares_frame(const GivenMessage& message) const noexcept {
  return sharers() > 0 && !message.shared && !(message.owned && owners_ == 0);
}

bool LocalDelivery::must_copy(const GivenMessage& message) const noexcept {
  if (message.owned) return owners_ > 1 || (owners_ == 1 && sharers() > 0);
  return owners_ > 0 || (sharers() > 0 && !message.shared);
}

std::shared_ptr<const void> LocalDelivery::common(GivenMessage& message, const std::shared_ptr<const void>& frame,
                                                  std::uint64_t& copies) const {
  if (message.shared) return message.shared;
  if (message.owned && owners_ == 0) return message.shared = shared_of(std::move(message.owned), objects_);
  if (frame) return frame;
  ++copies;
  return shared_of({objects_->copy(message.look()), {objects_.get()}}, objects_);
}

std::uint64_t LocalDelivery::prepare(GivenMessage& message, const std::shared_ptr<const void>& frame) {
  if (parts_->empty() && !keeps_) return 0;
  std::uint64_t copies = 0;
  const std::shared_ptr<const void> shared = sharers() > 0 ? common(message, frame, copies) : nullptr;
  if (keeps_) kept_ = shared;
  const void* const source = message.look();
  Part* first_owner = nullptr;
  for (Part& part : *parts_) {
    switch (part.queue->options().buffer) {
      case Buffer::shared:
        part.item.shared = shared;
        continue;
      case Buffer::owned:
      case Buffer::value:
        break;
    }
    if (message.owned && !first_owner) {
      first_owner = &part;  // gets the object itself, when the others have their copies
      continue;
    }
    ++copies;
    if (part.queue->options().buffer == Buffer::value) {
      part.item.copied = source;
    } else {
      part.item.owned = {objects_->copy(source), {objects_.get()}};
    }
  }
  const std::uint64_t bytes = copies > 0 ? copies * objects_->bytes(source) : 0;
  if (first_owner) first_owner->item.owned = std::move(message.owned);
  return bytes;
}

void LocalDelivery::put(std::int64_t source_time) noexcept {
  for (Part& part : *parts_) part.item.source_time = source_time;
  // Who copies from the object goes before who gets it.
  for (Part& part : *parts_) {
    if (part.item.copied) part.queue->put(part.item);
  }
  for (Part& part : *parts_) {
    if (!part.item.copied) part.queue->put(part.item);
  }
  for (Part& part : *parts_) part.queue->ring_if_asleep();
}

void LocalDelivery::end(Leftovers& into) noexcept {
  into.kept_ = std::move(kept_);
  if (!parts_) return;
  const auto is_left = [](const Part& part) { return part.item.shared || part.item.owned; };
  if (std::ranges::none_of(*parts_, is_left)) return parts_->clear();
  into.spare_ = spare_;
  into.parts_ = std::exchange(parts_, spare_->take());
}

}  // namespace sinew::session
