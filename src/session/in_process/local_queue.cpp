#include "session/in_process/local_queue.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "os/clock.hpp"
#include "session/callbacks/execution_thread.hpp"
#include "session/callbacks/listener.hpp"
#include "session/fork.hpp"
#include "shm/layout.hpp"

namespace sinew::session {
namespace {

// What a slot's state says of a position. A slot serves the positions p, p + slots, p + 2 * slots and so on, and its state only grows: empty, full, busy, empty for the next.
// Whoever turns full into busy, the taker or the publisher that pushes it out, has what is in the slot for itself, and empties it.
constexpr std::uint64_t empty(std::uint64_t position) {
  return position * 4;
}
constexpr std::uint64_t full(std::uint64_t position) {
  return position * 4 + 1;
}
constexpr std::uint64_t busy(std::uint64_t position) {
  return position * 4 + 2;
}

// Between claiming a slot and emptying it a taker runs a few instructions; only when it is interrupted just there, for as long as it takes to publish a whole queue, its publisher waits.
constexpr int patient_looks = 1000;
constexpr std::chrono::microseconds look_again{20};

}  // namespace

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

LocalQueue::LocalQueue(Options options, Counters::Slot counts, std::shared_ptr<const Objects> objects, std::shared_ptr<Doorbell> bell,
                       std::function<void()> made_space)
    : options_(std::move(options)),
      counts_(std::move(counts)),
      joined_at_(os::now_ns()),
      capacity_(options_.depth == 0 ? shm::ring_capacity : options_.depth),
      slot_count_(capacity_ + 1),
      slots_(std::make_unique<Slot[]>(slot_count_)),
      objects_(std::move(objects)),
      bell_(std::move(bell)),
      made_space_(std::move(made_space)),
      ringer_(bell_->word()),
      thinning_(options_.thinning),
      settled_(thinning_) {
  for (std::uint64_t position = 0; position < slot_count_; ++position)
    slots_[position].state.store(empty(position), std::memory_order_relaxed);  // relaxed: nobody else has it yet
  if (options_.buffer != Buffer::value) return;
  std::size_t room = (slot_count_ + 1) * objects_->size() + objects_->alignment();
  memory_ = std::make_unique_for_overwrite<std::byte[]>(room);
  void* at = memory_.get();
  objects_at_ = static_cast<std::byte*>(std::align(objects_->alignment(), room - objects_->alignment(), at, room));
}

LocalQueue::~LocalQueue() {
  drop_all();
  if (looked_at_) objects_->destroy(value_at(slot_count_));
}

LocalQueue::Slot& LocalQueue::slot(std::uint64_t position) const noexcept {
  return slots_[position % slot_count_];
}

void* LocalQueue::value_at(std::uint64_t index) const noexcept {
  return objects_at_ + index * objects_->size();
}

// --- the publisher's side --------------------------------------------------------------------------------------------------------------

bool LocalQueue::wants(std::uint64_t sequence, std::int64_t source_time) noexcept {
  if (std::exchange(asked_, sequence) != sequence) {
    settled_ = thinning_;
    settled_skipped_ = counts().skipped.load(std::memory_order_relaxed);
  }
  thinning_ = settled_;
  const bool wanted = thinning_.next_from(sequence) == sequence && thinning_.wants(sequence, source_time);
  const std::uint64_t skipped = settled_skipped_ + (wanted ? 0 : 1);
  if (counts().skipped.load(std::memory_order_relaxed) != skipped) counts().skipped.store(skipped, std::memory_order_relaxed);
  return wanted;
}

std::uint64_t LocalQueue::waiting() const noexcept {
  // sync: QUEUE_HEAD (with give_back)
  const std::uint64_t head = head_.load(std::memory_order_seq_cst);  // first: it does not overtake the tail
  return tail_.load(std::memory_order_relaxed) - head;
}

bool LocalQueue::is_full() const noexcept {
  return is_open() && waiting() >= capacity_;
}

bool LocalQueue::fill_value(std::uint64_t position, Item& item) noexcept {
  void* const at = value_at(position % slot_count_);
  try {
    if (item.owned) {
      objects_->move_to(at, item.owned.get());
    } else {
      objects_->copy_to(at, item.copied);
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void LocalQueue::put(Item& item) noexcept {
  if (closed_.load(std::memory_order_relaxed)) return;
  const std::uint64_t position = tail_.load(std::memory_order_relaxed);
  Slot& into = slot(position);
  for (int looks = 0; into.state.load(std::memory_order_acquire) != empty(position); ++looks) {  // sync: QUEUE_STATE (with give_back)
    if (looks >= patient_looks) os::sleep_for(look_again);
  }
  if (options_.buffer == Buffer::value) {
    if (!fill_value(position, item)) return miss();
  } else {
    into.object.store(item.shared ? item.shared.get() : item.owned.get(), std::memory_order_relaxed);
    std::swap(into.shared, item.shared);
    std::swap(into.owned, item.owned);
  }
  // Who sees one of these does not find the old state at its second look.
  // sync: QUEUE_FIELDS (with next_from_history)
  into.sequence.store(item.sequence, std::memory_order_release);
  into.source_time.store(item.source_time, std::memory_order_release);
  if (position - head_seen_ >= capacity_) {
    head_seen_ = head_.load(std::memory_order_acquire);  // sync: QUEUE_HEAD (with give_back)
    if (position - head_seen_ >= capacity_) push_out(position - capacity_, item);
  }
  tail_.store(position + 1, std::memory_order_release);         // sync: QUEUE_TAIL (with claim)
  into.state.store(full(position), std::memory_order_seq_cst);  // sync: QUEUE_STATE (with claim, has_news)
  // By someone who may have looked at the slot before.
  if (closed_.load(std::memory_order_seq_cst)) push_out(position, item);  // sync: QUEUE_CLOSED (with close)
  __builtin_prefetch(&slot(position + 1), 1);
}

void LocalQueue::push_out(std::uint64_t position, Item& into) noexcept {
  Slot& oldest = slot(position);
  std::uint64_t state = full(position);
  // sync: QUEUE_STATE (with claim)
  if (!oldest.state.compare_exchange_strong(state, busy(position), std::memory_order_acq_rel)) return;  // its taker has it after all
  if (options_.buffer == Buffer::value) {
    objects_->destroy(value_at(position % slot_count_));  // and what `into` was made of stays there, moved from
  } else {
    std::swap(oldest.shared, into.shared);
    std::swap(oldest.owned, into.owned);
  }
  oldest.state.store(empty(position + slot_count_), std::memory_order_release);  // sync: QUEUE_STATE (with put)
}

void LocalQueue::miss() noexcept {
  not_put_.fetch_add(1, std::memory_order_relaxed);
  count_missed(1);
}

void LocalQueue::count_missed(std::uint64_t count) noexcept {
  if (forked()) return;  // what was there when the queue ends in a child
  counts().missed.fetch_add(count, std::memory_order_relaxed);
  if (options_.losses) options_.losses->raise();
}

void LocalQueue::ring_if_asleep() noexcept {
  if (ringer_.must_ring()) bell_->ring();
}

// --- the subscription's side -------------------------------------------------------------------------------------------------------------

bool LocalQueue::has_news() const noexcept {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  return slot(head).state.load(std::memory_order_seq_cst) != empty(head);  // sync: QUEUE_STATE (with put)
}

// The next message, in a slot that is busy from now on, at position `head_`. Null when there is none.
LocalQueue::Slot* LocalQueue::claim() noexcept {
  for (;;) {
    const std::uint64_t head = head_.load(std::memory_order_relaxed);
    Slot& next = slot(head);
    std::uint64_t state = next.state.load(std::memory_order_seq_cst);  // sync: QUEUE_STATE (with put)
    if (state == empty(head)) return nullptr;
    // Taking the slot for itself, and the message into the cache, both need another core's answer: side by side.
    if (state == full(head)) __builtin_prefetch(next.object.load(std::memory_order_relaxed));
    // sync: QUEUE_STATE (with push_out)
    if (state == full(head) && next.state.compare_exchange_strong(state, busy(head), std::memory_order_acq_rel)) return &next;
    // sync: QUEUE_TAIL (with put)
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);  // it was pushed out
    const std::uint64_t oldest = std::max(head + 1, tail - std::min<std::uint64_t>(tail, capacity_));
    missed_since_ += oldest - head;
    count_missed(oldest - head);
    head_.store(oldest, std::memory_order_seq_cst);  // sync: QUEUE_HEAD (with waiting)
  }
}

void LocalQueue::give_back(Slot& taken) noexcept {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  taken.state.store(empty(head + slot_count_), std::memory_order_release);  // sync: QUEUE_STATE (with put)
  // sync: QUEUE_HEAD (with waiting)
  head_.store(head + 1, options_.holds_back ? std::memory_order_seq_cst : std::memory_order_release);
}

std::optional<LocalArrival> LocalQueue::take() {
  for (;;) {
    auto arrival = take_next();
    if (!arrival) return arrival;
    if (options_.lifespan == 0 || os::now_ns() - arrival->source_time <= options_.lifespan) {
      shm::add(counts().messages, 1);  // by one taker at a time
      if (shm::wants_latency(counts(), arrival->source_time)) shm::count_latency(counts(), arrival->source_time, os::now_ns());
      return arrival;
    }
    missed_since_ = arrival->missed;
    shm::add(counts().expired, 1);
    if (options_.losses) options_.losses->raise();
  }
}

std::optional<LocalArrival> LocalQueue::take_next() {
  Slot* const taken = claim();
  if (!taken) return std::nullopt;
  std::optional<LocalArrival> arrival(std::in_place);
  arrival->from = this;
  if (options_.buffer == Buffer::value) arrival->value = take_value(*taken);
  arrival->shared = std::move(taken->shared);
  arrival->owned = std::move(taken->owned);
  arrival->sequence = taken->sequence.load(std::memory_order_relaxed);
  arrival->source_time = taken->source_time.load(std::memory_order_relaxed);
  give_back(*taken);
  arrival->missed = std::exchange(missed_since_, 0);
  if (not_put_.load(std::memory_order_relaxed) > 0) arrival->missed += not_put_.exchange(0, std::memory_order_relaxed);
  tell_space();
  return arrival;
}

void LocalQueue::tell_space() const noexcept {
  if (options_.holds_back && waiting() <= capacity_ / 2) made_space_();
}

// From its slot to where it is looked at. A type that can only be copied may find no memory for that: then it is missed.
void* LocalQueue::take_value(Slot& taken) {
  void* const at = value_at(slot_count_);
  if (std::exchange(looked_at_, false)) objects_->destroy(at);
  void* const value = value_at(static_cast<std::uint64_t>(&taken - slots_.get()));
  try {
    objects_->move_to(at, value);
  } catch (const std::bad_alloc&) {
    objects_->destroy(value);
    give_back(taken);
    tell_space();
    ++missed_since_;
    count_missed(1);
    throw;
  }
  objects_->destroy(value);
  looked_at_ = true;
  return at;
}

// Where only the process has to answer for its publisher, no sign is asked for: this process is that one.
Sighting LocalQueue::sighting() const {
  Sighting sighting{.publisher = this, .node = options_.publisher, .is_connected = !hung_up(), .lease = options_.lease};
  if (!options_.pulse) return sighting;
  sighting.newest = newest();
  sighting.sign =
      std::max(options_.pulse->published.load(std::memory_order_relaxed), options_.pulse->asserted.load(std::memory_order_relaxed));
  return sighting;
}

MatchedPublisher LocalQueue::matched() const {
  return {.node = options_.publisher,
          .delivery = Delivery::pointer,
          .why = "both are in this process",
          .received = received(),
          .missed = missed()};
}

void LocalQueue::count_losses(SubscriberStatistics& into) const noexcept {
  into.missed += missed();
  into.skipped += counts().skipped.load(std::memory_order_relaxed);
  into.expired += counts().expired.load(std::memory_order_relaxed);
}

bool LocalQueue::cancel_call(std::uint64_t call) const noexcept {
  if (const auto watcher = options_.watcher.lock()) watcher->call_cancelled(options_.subscriber_endpoint, call);
  return true;
}

std::int64_t LocalQueue::newest() const noexcept {
  const std::int64_t published = options_.pulse ? options_.pulse->published.load(std::memory_order_relaxed) : 0;
  return published >= joined_at_ ? published : 0;
}

std::optional<std::int64_t> LocalQueue::next_from_history() const noexcept {
  const std::uint64_t tail = tail_.load(std::memory_order_acquire);  // sync: QUEUE_TAIL (with put)
  const std::uint64_t oldest = tail - std::min<std::uint64_t>(tail, capacity_);
  for (std::uint64_t position = std::max(head_.load(std::memory_order_relaxed), oldest);; ++position) {
    const Slot& next = slot(position);
    const std::uint64_t state = next.state.load(std::memory_order_acquire);  // sync: QUEUE_STATE (with put)
    if (state == empty(position)) return std::nullopt;
    if (state != full(position)) continue;                                         // it was pushed out
    const std::uint64_t sequence = next.sequence.load(std::memory_order_acquire);  // sync: QUEUE_FIELDS (with put)
    const std::int64_t time = next.source_time.load(std::memory_order_acquire);    // sync: QUEUE_FIELDS (with put)
    if (next.state.load(std::memory_order_relaxed) != state) continue;             // relaxed: behind the fields
    return sequence <= history_end_.load(std::memory_order_relaxed) ? std::optional(time) : std::nullopt;
  }
}

void LocalQueue::drop_all() noexcept {
  while (Slot* const taken = claim()) {
    if (options_.buffer == Buffer::value) objects_->destroy(value_at(static_cast<std::uint64_t>(taken - slots_.get())));
    const std::shared_ptr<const void> shared = std::move(taken->shared);
    const OwnedObject owned = std::move(taken->owned);
    give_back(*taken);
  }
}

void LocalQueue::close() {
  if (closed_.exchange(true, std::memory_order_seq_cst)) return;  // sync: QUEUE_CLOSED (with put)
  drop_all();
}

}  // namespace sinew::session
