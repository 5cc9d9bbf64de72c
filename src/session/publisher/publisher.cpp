#include "session/publisher/publisher.hpp"

#include <algorithm>
#include <limits>
#include <new>

#include "base/log.hpp"
#include "base/point.hpp"
#include "os/clock.hpp"
#include "os/event.hpp"
#include "session/fork.hpp"
#include "session/node/node_session.hpp"
#include "session/publisher/foreign_end.hpp"
#include "session/publisher/publisher_end.hpp"
#include "session/subscriber/subscription.hpp"
#include "shm/bell.hpp"

namespace sinew::session {

Publisher::Publisher(std::shared_ptr<NodeSession> session, const Registered& as, const std::string& topic,
                     std::shared_ptr<const FrameStorage> storage, std::shared_ptr<const Objects> objects, const Options& options)
    : session_(std::move(session)),
      as_(as),
      when_unmapped_([session = session_, id = as.id] { session->release_window_of(id); }),
      storage_(std::move(storage)),
      objects_(std::move(objects)),
      options_(options),
      history_(options.qos.durability != wire::Durability::transient_local ? 0
               : options.qos.depth == 0                                    ? shm::ring_capacity / 2
                                                                           : options.qos.depth),
      counts_(session_->counters()->of_publisher(as.identity)),
      incompatible_(topic, session_->name(), options.qos),
      status_(*this, options.qos, options.watcher),
      window_(shm::Window::create(as.window.base, as.window.size, {.budget = options.budget, .lock = options.lock_memory}, this)),
      space_(options.endpoint == 0 ? os::create_eventfd() : os::Fd()),
      local_delivery_(objects_),
      frames_("sinew-ring", options.endpoint == 0 ? room_for(options.qos.depth) : 0) {
  if (options.endpoint != 0) frames_.ring().take_file();  // nobody is sent it
}

Publisher::~Publisher() {
  close();
}

shm::RingLayout& Publisher::ring() const noexcept {
  return frames_.ring().layout();
}

// --- publishing ------------------------------------------------------------------------------------------------------------------

Publisher::Pin::~Pin() {
  if (forked()) {
    new (std::nothrow) std::shared_ptr<Publisher>(std::move(publisher_));  // leaked: its mappings do not exist in the child
  } else if (sequence_ != 0) {
    publisher_->unpin(sequence_);
  }
}

void Publisher::unpin(std::uint64_t sequence) noexcept {
  const std::lock_guard lock(mutex_);
  KeptFrame* const frame = frames_.find(sequence);
  if (!frame || frame->pins == 0) return;  // it was not published after all
  --frame->pins;
  if (frame->pins > 0 || !is_abandoned_) return;  // memory is swept when it is needed
  release(*frame);
  frames_.forget(*frame);
}

Publisher::Outcome Publisher::refuse(std::unique_lock<std::mutex>& lock, const KeptFrame& frame, Outcome outcome) {
  if (lock.owns_lock()) lock.unlock();
  if (frame.is_in_window()) release(frame);
  if (outcome != Outcome::closed) count_refused();
  return outcome;
}

// Before a message ends a gap that is too long: after SIGCONT, the loop may have had no time to look, here as for subscribers of this process.
void Publisher::count_missed_deadlines() noexcept {
  if (options_.qos.deadline <= 0) return;
  const std::int64_t now = os::now_ns();
  if (!status_.is_late(now)) return;
  status_.count_missed_deadlines(now);
  try {
    std::vector<std::shared_ptr<Subscription>> takers;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& queue : locals_) takers.push_back(queue->options().taker.lock());
    }
    for (const auto& taker : takers) {
      if (taker) taker->status().gap_ends();
    }
  } catch (const std::bad_alloc& shortage) {
    base::log(base::LogLevel::error, shortage.what());
  }
}

// What is made beside the message, for other processes and for those of this one that want copies, is made without the mutex; whether it is needed is known only under it.
Publisher::Outcome Publisher::publish(GivenMessage message, NewFrame given) {
  count_missed_deadlines();
  struct LettingGo {  // behind all locks: a message's deleter may publish, or end this publisher
    Publisher& publisher;
    std::shared_ptr<Publisher> alive = publisher.history_ > 0 ? publisher.shared_from_this() : nullptr;
    LocalDelivery::Leftovers leftovers{};
    ~LettingGo() {
      if (publisher.history_ > 0) publisher.let_go_of_history();
    }
  } letting_go{*this};
  const std::lock_guard one_at_a_time(publishing_);
  struct End {
    LettingGo& into;
    ~End() { into.publisher.local_delivery_.end(into.leftovers); }
  } const end{letting_go};
  const void* const object = message.look();  // it lives until it has been put into the last queue
  KeptFrame frame{.root = given.root, .size = given.size, .pieces = given.pieces, .beside = given.beside};
  std::unique_lock lock(mutex_);
  if (!wait_for_space(lock)) return refuse(lock, frame, Outcome::held_back);
  if (closed_ || status_.is_detached()) return refuse(lock, frame, Outcome::closed);
  start_over();
  frame.sequence = frames_.head() + 1;
  frame.source_time = os::now_ns();
  Made made;
  // The next message has this one's number, and what was to hold this one is let go when that may be there already.
  const auto give_up = [&](Outcome outcome) {
    if (const auto pin = made.pin.lock()) pin->hold(0);
    return refuse(lock, frame, outcome);
  };
  try {
    local_delivery_.begin(locals_, frame.sequence, frame.source_time);
    late_.clear();
    while (!make_more(lock, message, object, frame, made)) {
      if (made.failed) return give_up(Outcome::no_memory);
      lock.lock();
      if (closed_) return give_up(Outcome::closed);
      frame.source_time = os::now_ns();
    }
    frames_.prepare([this](KeptFrame& old) { leave_history_locked(old); });
    if (history_ > 0) gone_.reserve(gone_.size() + 1);
    if (!frame.root) frame.local = local_delivery_.kept();
    if (frame.is_in_window()) {
      publish_frame_locked(frame);
    } else {
      frames_.skip(frame);
    }
    if (history_ > 0 && frame.sequence > history_) {
      if (KeptFrame* const old = frames_.waiting(frame.sequence - history_)) leave_history_locked(*old);
    }
    for (const auto& queue : late_) hand_over_locked(*frames_.waiting(frame.sequence), *queue);
  } catch (const std::bad_alloc&) {
    return give_up(Outcome::no_memory);
  }
  status_.published(frame.source_time);
  local_delivery_.put(frame.source_time);
  count_published(frame.size, frame.source_time);
  if (given.is_in_window() && given.root != object) count_copied(given.size);  // by the caller, for whom the publisher may be gone
  if (!foreign_.empty()) export_frame(lock, frame);
  return Outcome::published;
}

// True when nothing was missing, with the lock held; else without it, when it is to be looked again.
bool Publisher::make_more(std::unique_lock<std::mutex>& lock, GivenMessage& message, const void* object, KeptFrame& frame, Made& made) {
  const bool needs_frame = is_read_elsewhere() && !frame.is_in_window();
  const auto keeps_object = [&] { return history_ > 0 && object && !frame.root; };
  const auto needs_pieces = [&] { return frame.root && !made.pieces && piece_readers_.load(std::memory_order_relaxed) > 0; };
  const auto shares_frame = [&] { return frame.root && !made.local && local_delivery_.shares_frame(message); };
  if (!made.local) local_delivery_.keep(keeps_object());
  if (!needs_frame && !needs_pieces() && !shares_frame() && (made.local || !local_delivery_.must_copy(message))) {
    if (!made.local) local_delivery_.prepare(message, nullptr);
    return true;
  }
  lock.unlock();
  if (needs_frame) {
    const NewFrame copy = copy_in(object);
    made.failed = !copy.is_in_window();
    if (made.failed) return false;
    frame.root = copy.root;
    frame.size = copy.size;
    frame.pieces = copy.pieces;
    count_copied(copy.size);
  }
  if (needs_pieces()) {
    frame.pieces = storage_->write_pieces(frame.root, *window_, true);
    made.pieces = true;
    SINEW_POINT("publisher.pieces_written");
  }
  if (!made.local) {
    local_delivery_.keep(keeps_object());
    std::shared_ptr<const void> shared;
    if (shares_frame()) {
      auto pin = std::make_shared<Pin>(shared_from_this());
      made.pin = pin;
      shared = pinned(frame, std::move(pin));
    }
    if (const std::uint64_t bytes = local_delivery_.prepare(message, shared)) count_copied(bytes);
    made.local = true;
    SINEW_POINT("publisher.prepared");
  }
  return false;
}

void Publisher::publish_frame_locked(KeptFrame& frame) {
  frame.tells_pieces = frame.pieces || piece_readers_.load(std::memory_order_relaxed) > 0;
  // Read before announcing: what this names is announced below, whatever other threads allocate meanwhile.
  const std::uint64_t newest_chunk = notes_.newest.load(std::memory_order_acquire);  // sync: NEWEST (with chunk_added)
  announce_changes_locked();
  count_unswept_locked(frame.size);
  SINEW_POINT("publisher.before_publish");
  frames_.publish(frame, newest_chunk);
  SINEW_POINT("publisher.before_doorbell");
  for (const auto& end : connections_) end->ring_if_asleep();
}

// After everybody else was served, and with the mutex free: a stranger's copy holds nobody up but this thread.
void Publisher::export_frame(std::unique_lock<std::mutex>& lock, const KeptFrame& frame) {
  if (!has_foreigners_locked()) return;
  const std::uint64_t stream = frame.root ? storage_->stream_size(frame.root) : frame.size;
  export_->prepare(stream);
  exporting_ = frame.sequence;
  lock.unlock();
  const std::uint64_t exported = export_->publish(stream, frame.source_time, [&](std::byte* into) {
    if (frame.root) return storage_->write_stream(frame.root, into);
    join_pieces(frame.pieces, into);
  });
  lock.lock();
  exporting_ = 0;
  shm::add(counts().bytes_exported, exported);
  for (const auto& end : foreign_) {
    if (end->is_attached()) tell_exported(*end, *export_);
  }
}

void Publisher::tell_exported(ForeignEnd& end, const Export& exported) noexcept {
  try {
    end.tell(exported, exported.head());
  } catch (const std::exception& error) {
    base::log(base::LogLevel::warn, "a subscriber of another user could not be told of a message:");
    base::log(base::LogLevel::warn, error.what());
  }
}

bool Publisher::has_foreigners_locked() const {
  return std::ranges::any_of(foreign_, [](const auto& end) { return end->is_attached(); });
}

std::uint64_t Publisher::slowest_reliable_locked() const {
  std::uint64_t slowest = frames_.head();
  for (const auto& end : connections_) {
    if (end->holds_back()) slowest = std::min(slowest, end->decided(frames_.head()));
  }
  return slowest;
}

// Dekker with SubscriberEnd::tell_blocked_publisher(): either the reader sees the odd epoch and rings, or we see its cursor.
bool Publisher::wait_for_space(std::unique_lock<std::mutex>& lock) {
  if (!may_be_held_back()) return true;
  const auto is_full = [](const auto& local) { return local->options().holds_back && local->is_full(); };
  const auto space = [&] {
    return closed_ || (frames_.head() - slowest_reliable_locked() < shm::ring_capacity && std::ranges::none_of(locals_, is_full));
  };
  if (space()) return true;
  if (options_.max_blocking.count() <= 0) return false;
  const std::int64_t deadline = os::later(os::now_ns(), options_.max_blocking.count());
  shm::Sleeper sleeper(ring().header.blocked);
  for (bool rung = true; rung;) {
    sleeper.mark_asleep();
    if (!space()) {
      lock.unlock();
      rung = os::wait_and_drain(space_.get(), deadline);
      lock.lock();
    }
    sleeper.mark_awake();
    if (space()) return true;
  }
  return false;
}

void Publisher::count_published(std::uint64_t bytes, std::int64_t source_time) noexcept {
  shm::add(counts().messages, 1);
  shm::add(counts().bytes, bytes);
  counts().newest.store(static_cast<std::uint64_t>(source_time), std::memory_order_relaxed);  // relaxed: only told
}

void Publisher::start_over() noexcept {
  withdrawn_for_next_.store(0, std::memory_order_relaxed);
  waited_in_vain_.store(false, std::memory_order_relaxed);
}

void Publisher::count_refused() noexcept {
  start_over();
  counts().refused.fetch_add(1, std::memory_order_relaxed);
}

PublisherStatistics Publisher::statistics() const {
  const shm::Window::Usage usage = window_->usage();
  const std::lock_guard lock(mutex_);
  return {.published = counts().messages.load(std::memory_order_relaxed),
          .bytes = counts().bytes.load(std::memory_order_relaxed),
          .bytes_copied = counts().bytes_copied.load(std::memory_order_relaxed),
          .bytes_exported = counts().bytes_exported.load(std::memory_order_relaxed),
          .why_repaired = {},
          .refused = counts().refused.load(std::memory_order_relaxed),
          .withdrawn = counts().withdrawn.load(std::memory_order_relaxed),
          .subscribers = subscribers_locked(),
          .memory_mapped = usage.mapped,
          .memory_in_use = usage.in_use,
          .incompatible = incompatible_.count(),
          .deadlines_missed = status_.deadlines_missed(),
          .liveliness_lost = status_.liveliness_lost(),
          .detached = status_.is_detached()};
}

std::uint64_t Publisher::subscribers_locked() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(connections_, [](const auto& end) { return end->is_served(); }) +
                                    std::ranges::count_if(foreign_, [](const auto& end) { return end->is_attached(); }) +
                                    std::ranges::count_if(locals_, [](const auto& queue) { return queue->is_open(); }));
}

std::vector<MatchedSubscriber> Publisher::subscribers() const {
  const std::int64_t now = os::now_ns();
  const std::lock_guard lock(mutex_);
  std::vector<MatchedSubscriber> all;
  std::vector<std::uint64_t> claims;
  for (const auto& end : connections_) {
    MatchedSubscriber one{.node = end->peer(), .received = end->ack().received(), .missed = end->ack().missed()};
    one.waiting = frames_.head() - end->decided(frames_.head());
    claims.clear();
    end->gather_claims(claims);
    std::ranges::sort(claims);
    claims.erase(std::ranges::unique(claims).begin(), claims.end());
    for (const std::uint64_t sequence : claims) {
      const KeptFrame* const frame = frames_.find(sequence);
      if (frame == nullptr) continue;
      if (one.held == 0) one.held_for = std::chrono::nanoseconds(now - frame->source_time);
      ++one.held;
      one.bytes_held += frame->size;
    }
    if (end->is_served() || one.held > 0) all.push_back(std::move(one));
  }
  for (const auto& end : foreign_) {
    if (end->is_attached()) all.push_back({.node = end->peer()});  // what it says of itself is not looked at
  }
  for (const auto& queue : locals_) {
    if (!queue->is_open()) continue;
    all.push_back(
        {.node = queue->options().subscriber, .received = queue->received(), .missed = queue->missed(), .waiting = queue->kept()});
  }
  return all;
}

}  // namespace sinew::session
