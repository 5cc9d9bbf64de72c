#include "session/local_queue.hpp"

#include <new>
#include <utility>

#include "os/clock.hpp"
#include "session/execution_thread.hpp"
#include "shm/layout.hpp"

namespace sinew::session {

std::shared_ptr<const void> shared_of(OwnedObject object, const std::shared_ptr<const Objects>& objects) {
  const void* const shared = object.release();  // when the pointer cannot be made, the deleter is called
  return {shared, [objects](const void* kept) { objects->dispose(const_cast<void*>(kept)); }};
}

std::shared_ptr<const void> LocalArrival::share() {
  if (shared) return std::move(shared);
  if (!owned) owned = {from->objects()->take_over(value), {from->objects().get()}};
  return shared_of(std::move(owned), from->objects());
}

OwnedObject LocalArrival::own() {
  if (owned) return std::move(owned);
  const Objects& objects = *from->objects();
  return {shared ? objects.copy(shared.get()) : objects.take_over(value), {&objects}};
}

LocalQueue::LocalQueue(Options options, std::shared_ptr<const Objects> objects, std::shared_ptr<Doorbell> bell,
                       std::function<void()> made_space)
    : items_(options.depth == 0 ? shm::ring_capacity : options.depth),
      options_(std::move(options)),
      capacity_(items_.size()),
      objects_(std::move(objects)),
      bell_(std::move(bell)),
      made_space_(std::move(made_space)),
      ringer_(bell_->word()),
      thinning_(options_.thinning),
      settled_(thinning_) {
  if (options_.buffer != Buffer::value) return;
  std::size_t room = (capacity_ + 1) * objects_->size() + objects_->alignment();
  memory_ = std::make_unique<std::byte[]>(room);
  void* at = memory_.get();
  objects_at_ = static_cast<std::byte*>(std::align(objects_->alignment(), room - objects_->alignment(), at, room));
}

LocalQueue::~LocalQueue() {
  drop_values();
  if (looked_at_) objects_->destroy(slot(capacity_));
}

void* LocalQueue::slot(std::size_t index) const noexcept {
  return objects_at_ + index * objects_->size();
}

void LocalQueue::drop_values() noexcept {
  if (options_.buffer != Buffer::value) return;
  for (std::uint64_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) objects_->destroy(slot((first_ + i) % capacity_));
}

// --- the publisher's side --------------------------------------------------------------------------------------------------------------

bool LocalQueue::wants(std::uint64_t sequence, std::int64_t source_time) noexcept {
  if (std::exchange(asked_, sequence) != sequence) {
    settled_ = thinning_;
    settled_skipped_ = skipped_.load(std::memory_order_relaxed);
  }
  thinning_ = settled_;
  const bool wanted = thinning_.next_from(sequence) == sequence && thinning_.wants(sequence, source_time);
  skipped_.store(settled_skipped_ + (wanted ? 0 : 1), std::memory_order_relaxed);
  return wanted;
}

bool LocalQueue::is_full() const {
  return is_open() && count_.load(std::memory_order_seq_cst) >= capacity_;
}

bool LocalQueue::fill_slot(std::size_t index, Item& item) noexcept {
  try {
    if (item.owned) {
      objects_->move_to(slot(index), item.owned.get());
    } else {
      objects_->copy_to(slot(index), item.copied);
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void LocalQueue::put(Item& item) noexcept {
  const std::lock_guard lock(mutex_);
  if (closed_.load(std::memory_order_relaxed)) return;
  const bool by_value = options_.buffer == Buffer::value;
  std::uint64_t count = count_.load(std::memory_order_relaxed);
  const bool full = count == capacity_;
  if (full) {
    if (by_value) objects_->destroy(slot(first_));
    first_ = (first_ + 1) % capacity_;
    --count;
    miss_locked();
  }
  const std::size_t index = (first_ + count) % capacity_;
  if (by_value && !fill_slot(index, item)) {
    miss_locked();
    count_.store(count, std::memory_order_seq_cst);
    return;
  }
  if (!by_value) {
    std::swap(items_[index].shared, item.shared);
    std::swap(items_[index].owned, item.owned);
  }
  items_[index].sequence = item.sequence;
  items_[index].source_time = item.source_time;
  count_.store(count + 1, std::memory_order_seq_cst);  // Dekker pair with the bell's epoch, as the head of a ring
}

void LocalQueue::miss() noexcept {
  const std::lock_guard lock(mutex_);
  miss_locked();
}

void LocalQueue::miss_locked() noexcept {
  ++missed_since_;
  missed_.fetch_add(1, std::memory_order_relaxed);
}

void LocalQueue::ring_if_asleep() noexcept {
  if (ringer_.must_ring()) bell_->ring();
}

// --- the subscription's side -------------------------------------------------------------------------------------------------------------

std::optional<LocalArrival> LocalQueue::take() {
  for (;;) {
    auto arrival = take_next();
    if (!arrival) return arrival;
    if (options_.lifespan == 0 || os::now_ns() - arrival->source_time <= options_.lifespan) {
      received_.fetch_add(1, std::memory_order_relaxed);
      return arrival;
    }
    missed_since_taken_ = arrival->missed;
    expired_.fetch_add(1, std::memory_order_relaxed);
  }
}

std::optional<std::int64_t> LocalQueue::next_from_history() const noexcept {
  const std::lock_guard lock(mutex_);
  if (count_.load(std::memory_order_relaxed) == 0) return std::nullopt;
  const Item& next = items_[first_];
  return next.sequence <= history_end_.load(std::memory_order_relaxed) ? std::optional(next.source_time) : std::nullopt;
}

std::optional<LocalArrival> LocalQueue::take_next() {
  if (!has_news()) return std::nullopt;
  if (std::exchange(looked_at_, false)) objects_->destroy(slot(capacity_));
  std::unique_lock lock(mutex_);
  const std::uint64_t count = count_.load(std::memory_order_relaxed);
  if (count == 0) return std::nullopt;
  Item& item = items_[first_];
  LocalArrival arrival;
  arrival.from = this;
  if (options_.buffer == Buffer::value) {
    arrival.value = slot(capacity_);
    objects_->move_to(arrival.value, slot(first_));
    objects_->destroy(slot(first_));
    looked_at_ = true;
  }
  arrival.shared = std::move(item.shared);
  arrival.owned = std::move(item.owned);
  arrival.sequence = item.sequence;
  arrival.source_time = item.source_time;
  arrival.missed = std::exchange(missed_since_, 0) + std::exchange(missed_since_taken_, 0);
  first_ = (first_ + 1) % capacity_;
  count_.store(count - 1, std::memory_order_seq_cst);  // Dekker pair with the epoch of a publisher that waits for space
  lock.unlock();
  if (options_.holds_back && count - 1 <= capacity_ / 2) made_space_();
  return arrival;
}

void LocalQueue::close() {
  std::vector<Item> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (closed_.exchange(true, std::memory_order_seq_cst)) return;
    drop_values();
    count_.store(0, std::memory_order_seq_cst);
    dropped.swap(items_);
  }
}

}  // namespace sinew::session
