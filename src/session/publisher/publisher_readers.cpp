// The readers that a publisher serves: how they come, what they are told, how they go.
#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "base/point.hpp"
#include "os/clock.hpp"
#include "os/event.hpp"
#include "session/io/trust.hpp"
#include "session/node/node_session.hpp"
#include "session/publisher/foreign_end.hpp"
#include "session/publisher/publisher.hpp"
#include "session/publisher/publisher_end.hpp"
#include "session/subscriber/subscription.hpp"

namespace sinew::session {
namespace {

constexpr std::chrono::milliseconds linger{200};

// A reader's quota is this part of the memory: three that hold as much as they may, and never let go, leave as much again for messages on their way.
constexpr std::uint64_t quota_part = 4;

}  // namespace

void Publisher::incompatible(const wire::Incompatible& peer) {
  incompatible_.add(peer);
  status_.raise();
}

MatchedEvent Publisher::matched() const {
  const std::lock_guard lock(mutex_);
  return {.total_count = ever_matched_, .current_count = subscribers_locked()};
}

void Publisher::came_locked() {
  ++ever_matched_;
  status_.raise();
}

void Publisher::show_alive(std::int64_t now) {
  ring().header.alive.store(static_cast<std::uint64_t>(now), std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (export_) export_->show_alive(now);
}

bool Publisher::add_connecting(const std::shared_ptr<PublisherEnd>& end) {
  const std::lock_guard lock(mutex_);
  if (!closed_) connecting_.push_back(end);
  return !closed_;
}

void Publisher::start_serving(const std::shared_ptr<PublisherEnd>& end) {
  std::unique_lock lock(mutex_);
  if (closed_) return;
  awaiting_history_.push_back(end);
  std::erase(connecting_, end);
  count_readers_locked();  // from now on every message has a frame
  const std::uint64_t newest = frames_.head(), first = first_for_locked(end->asked());
  lock.unlock();
  if (history_ > 0) {
    put_history_into_window(end, newest, first);
  } else {
    enlist(end);
  }
}

void Publisher::enlist(const std::shared_ptr<PublisherEnd>& end) {
  const std::lock_guard lock(mutex_);
  if (!awaits_history_locked(end)) return;
  // Room for an observer's is made at once: what is shown has no message that could be refused for want of it.
  const std::size_t room = end->endpoint() == 0 ? shm::ring_capacity : 0;
  const os::Fd lane =
      options_.endpoint != 0 ? lanes_.try_emplace(end.get(), "sinew-lane", room).first->second.ring().take_file() : os::Fd();
  if (options_.endpoint == 0) frames_.reserve(room_for(end->asked().depth));
  const std::uint64_t start = first_for_locked(end->asked());
  end->set_start(start);
  end->set_connection(++connected_);
  connections_.push_back(end);  // before the ring goes out: nobody may claim unseen (S3)
  std::erase(awaiting_history_, end);
  if (end->reads_pieces()) write_missing_pieces_locked(frames_, start);
  came_locked();
  SINEW_POINT("publisher.listed");
  const int ring_fd = lane ? lane.get() : frames_.ring().file().get();
  end->channel().send(wire::Ring{static_cast<std::uint32_t>(ring_file_size()), start, options_.budget / quota_part}, {&ring_fd, 1});
  announce_all_locked(*end);
}

void Publisher::announce_all_locked(PublisherEnd& end) {
  // Read first: a chunk that is made after this is announced with the next frame, unless a newer id was told here before it.
  const std::uint64_t newest = notes_.newest.load(std::memory_order_acquire);  // sync: NEWEST (with chunk_added)
  window_->for_each_chunk([&](const shm::Chunk& chunk) { end.announce({chunk.id, chunk.address, chunk.size, &chunk.memfd}); });
  SINEW_POINT("publisher.newcomer_told");
  end.announce({newest, 0, 0, nullptr});  // it may be gone already; a frame may still name it
}

void Publisher::chunk_added(const shm::Chunk& chunk) {
  offer_mapping(chunk.memfd, chunk.mapping);
  {
    const std::lock_guard lock(notes_.mutex);
    notes_.dropped.reserve(notes_.dropped.size() + notes_.chunks + 1);
    ++notes_.chunks;
    if (notes_.chunks > 1 && trimmer_) trimmer_->set(os::now_ns() + trim_interval);
  }
  notes_.changed.store(true, std::memory_order_relaxed);  // relaxed: the id that is stored next tells of it
  // sync: NEWEST (with publish_frame_locked)
  notes_.newest.store(
      chunk.id, std::memory_order_release);  // after `changed`: who reads this id also finds something to announce, or it was announced
}

void Publisher::chunk_dropped(std::uint64_t id) {
  const std::lock_guard lock(notes_.mutex);
  notes_.dropped.push_back(id);
  --notes_.chunks;
  notes_.changed.store(true, std::memory_order_release);  // sync: CHANGED (with announce_changes_locked)
}

// Where one reader cannot be told, for want of descriptors or memory, the others are served nevertheless.
void Publisher::announce_to_all_locked(const shm::Chunk& chunk) {
  for (const auto& end : connections_) {
    try {
      end->announce({chunk.id, chunk.address, chunk.size, &chunk.memfd});
    } catch (const std::bad_alloc&) {
      throw;  // this frame is refused, and the next one tries again
    } catch (const std::exception& error) {
      give_up_locked(*end, error);
    }
  }
}

void Publisher::give_up_locked(PublisherEnd& end, const std::exception& why) noexcept {
  end.give_up(why.what());
  left_locked();
  if (dynamic_cast<const Violation*>(&why) == nullptr) meet_readers_again();
}

void Publisher::meet_readers_again() noexcept {
  session_->introduce_again(*this);
}

void Publisher::announce_changes_locked() {
  // sync: CHANGED (with chunk_dropped)
  // relaxed, a first look: who has to announce something has read its id, or waits for the next frame
  if (!notes_.changed.load(std::memory_order_relaxed) || !notes_.changed.exchange(false, std::memory_order_acq_rel)) return;
  try {
    // What is made after this is for the next time: the withdrawal of a chunk that was made after the others were told would make readers take an older one for told.
    const std::uint64_t newest = notes_.newest.load(std::memory_order_acquire);  // sync: NEWEST (with chunk_added)
    SINEW_POINT("publisher.telling");
    std::uint64_t mapped = 0;
    window_->for_each_chunk([&](const shm::Chunk& chunk) {
      mapped += chunk.size;
      announce_to_all_locked(chunk);
    });
    session_->tell_memory(id(), mapped);
    // Only now: a chunk that was dropped before it could be told of must be withdrawn, for the next frame may name it.
    std::vector<std::uint64_t> dropped;
    {
      const std::lock_guard lock(notes_.mutex);
      std::ranges::copy_if(notes_.dropped, std::back_inserter(dropped), [&](std::uint64_t chunk) { return chunk <= newest; });
    }
    SINEW_POINT("publisher.all_told");
    for (const std::uint64_t chunk : dropped) {
      withdraw_chunk_locked(chunk);
      const std::lock_guard lock(notes_.mutex);
      std::erase(notes_.dropped, chunk);
    }
  } catch (...) {
    // sync: CHANGED (with announce_changes_locked)
    notes_.changed.store(true, std::memory_order_release);  // what was not told yet is told before the next frame
    throw;
  }
}

void Publisher::withdraw_chunk_locked(std::uint64_t chunk) {
  Withdrawal withdrawal{chunk, {}};
  withdrawal.waits_for.reserve(connections_.size());
  withdrawals_.reserve(withdrawals_.size() + 1);
  for (const auto& end : connections_) {
    try {
      if (!end->withdraw(chunk)) continue;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      give_up_locked(*end, error);
    }
    withdrawal.waits_for.push_back(end.get());
  }
  if (withdrawal.waits_for.empty()) {
    window_->reuse_address(chunk);
  } else {
    withdrawals_.push_back(std::move(withdrawal));
  }
}

void Publisher::on_chunk_mapped(PublisherEnd& end, std::uint64_t chunk) {
  const std::lock_guard lock(mutex_);
  end.on_mapped(chunk);
  if (end.take_is_behind()) announce_all_locked(end);
  if (closed_) announced_.notify_all();
}

// An address is used again only when nobody can have the old chunk mapped there (F3).
void Publisher::stop_waiting_locked(const PublisherEnd& end, std::optional<std::uint64_t> chunk) {
  std::erase_if(withdrawals_, [&](Withdrawal& each) {
    if (chunk && each.chunk != *chunk) return false;
    std::erase(each.waits_for, &end);
    if (!each.waits_for.empty()) return false;
    window_->reuse_address(each.chunk);
    not_unmapped_in_time_ = 0;
    if (trimmer_) trimmer_->set(os::now_ns());  // more may go now
    return true;
  });
}

void Publisher::on_chunk_unmapped(PublisherEnd& end, std::uint64_t chunk) {
  const std::lock_guard lock(mutex_);
  end.on_unmapped(chunk);
  stop_waiting_locked(end, chunk);
}

// Anew with each change, so that no way in which a connection can end, also twice, or after close(), makes the counts wrong.
void Publisher::count_readers_locked() noexcept {
  std::size_t elsewhere = foreign_.size(), pieces = 0, reliable = 0, observers = 0;
  for (const auto* ends : {&awaiting_history_, &connections_}) {
    for (const auto& end : *ends) {
      if (end->is_served()) ++elsewhere;
      if (looks_on(*end)) ++observers;
      if (end->reads_pieces()) ++pieces;
      if (end->holds_back()) ++reliable;
    }
  }
  for (const auto& queue : locals_) {
    if (queue->options().holds_back) ++reliable;
  }
  observers_.store(options_.endpoint != 0 ? observers : 0, std::memory_order_relaxed);
  read_elsewhere_.store(elsewhere, std::memory_order_relaxed);
  piece_readers_.store(pieces, std::memory_order_relaxed);
  reliable_readers_.store(reliable, std::memory_order_relaxed);
}

void Publisher::left_locked() {
  count_readers_locked();
  sweep_is_due_.store(true, std::memory_order_relaxed);  // perhaps nothing will be published that would count
  status_.raise();
}

void Publisher::start_writing_pieces(PublisherEnd& end) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !end.is_served()) return;
  end.set_reads_pieces();
  count_readers_locked();
  if (const auto lane = lanes_.find(&end); lane != lanes_.end()) {
    write_missing_pieces_locked(lane->second, 0);
  } else {
    write_missing_pieces_locked(frames_, end.decided(frames_.head()) + 1);
  }
  end.ring_if_asleep();
  announce_changes_locked();  // the pieces may be in a new chunk, for which its reader waits (M38)
}

void Publisher::write_missing_pieces_locked(KeptFrames& frames, std::uint64_t from) {
  frames.write_missing_pieces(from, [this](const KeptFrame& frame) { return storage_->write_pieces(frame.root, *window_, false); });
}

void Publisher::on_unsubscribed(PublisherEnd& end) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t taken = taken_locked(end);
  end.leave();
  if (end.has_unsubscribed()) tell_left_locked(end.endpoint(), taken);
  left_locked();
  wake_who_waits_for_space();
}

void Publisher::forget(const std::shared_ptr<PublisherEnd>& end) {
  const std::lock_guard lock(mutex_);
  std::erase(connecting_, end);
  if (std::erase(awaiting_history_, end) + std::erase(connections_, end) == 0) return;
  end->part();
  if (!end->has_unsubscribed()) tell_left_locked(end->endpoint(), taken_locked(*end));  // until now it may have gone on taking
  left_locked();
  let_go_of_lane_locked(*end);
  stop_waiting_locked(*end, std::nullopt);
  announced_.notify_all();
  wake_who_waits_for_space();  // it may have been the one that held us back
}

// --- readers of this process ---------------------------------------------------------------------------------------------------------

std::shared_ptr<LocalQueue> Publisher::add_local(Subscription& subscription, const std::string& own_node, const std::string& its_node) {
  const Subscription::Options& wanted = subscription.options();
  const std::uint32_t every = wanted.thinning.every;
  const bool manual_by_topic = options_.qos.liveliness == wire::Liveliness::manual_by_topic;
  // Between processes the depth counts what lies between the messages that are wanted as well.
  auto queue = std::make_shared<LocalQueue>(LocalQueue::Options{.buffer = wanted.buffer,
                                                                .depth = (wanted.qos.depth + every - 1) / every,
                                                                .holds_back = is_held_back_by(wanted.qos),
                                                                .lifespan = options_.qos.lifespan,
                                                                .thinning = wanted.thinning,
                                                                .publisher = own_node,
                                                                .subscriber = its_node,
                                                                .taker = subscription.weak_from_this(),
                                                                .losses = subscription.status().loss_listener(),
                                                                .pulse = status_.pulse(),
                                                                .lease = manual_by_topic ? options_.qos.lease : 0,
                                                                .publisher_endpoint = options_.endpoint,
                                                                .subscriber_endpoint = subscription.options().endpoint,
                                                                .watcher = options_.watcher},
                                            subscription.counters().of_pair(subscription.identity(), as_.identity), objects_,
                                            subscription.bell(), [weak = weak_from_this()] {
                                              if (const auto publisher = weak.lock()) publisher->made_space();
                                            });
  const std::lock_guard lock(mutex_);
  if (closed_) return nullptr;
  late_.reserve(late_.size() + 1);
  locals_.push_back(queue);
  if (history_ > 0 && wanted.qos.durability == wire::Durability::transient_local) {
    late_.push_back(queue);  // for a message that is being published, and counts from now on or later
    hand_over_history_locked(wanted.qos, *queue);
    queue->end_history(frames_.head());
  }
  count_readers_locked();
  came_locked();
  return queue;
}

bool Publisher::is_held_back_by(const wire::Qos& asked) const noexcept {
  return options_.waits_for_readers && options_.qos.reliable && asked.reliable && asked.depth == 0;
}

void Publisher::wake_who_waits_for_space() const noexcept {
  if (space_) os::ring(space_.get());
}

// Dekker with wait_for_space(), as SubscriberEnd::tell_blocked_publisher().
void Publisher::made_space() noexcept {
  if (ring().header.blocked.load(std::memory_order_seq_cst) % 2 == 1) wake_who_waits_for_space();  // sync: BLOCKED (with mark_asleep)
}

// One by one, for there may be no memory to list them: it is called from destructors.
void Publisher::forget_closed_locals() noexcept {
  while (forget_closed_local()) {
  }
}

bool Publisher::forget_closed_local() noexcept {
  std::shared_ptr<LocalQueue> closed;  // what is left in it goes without the lock
  const std::lock_guard lock(mutex_);
  const auto gone = std::ranges::find_if(locals_, [](const auto& queue) { return !queue->is_open(); });
  if (gone == locals_.end()) return false;
  closed = std::move(*gone);
  locals_.erase(gone);
  std::erase(late_, closed);
  tell_left_locked(closed->options().subscriber_endpoint, closed->received());
  count_readers_locked();
  wake_who_waits_for_space();  // it may have been the one that held us back
  status_.raise();
  return true;
}

// Nothing of it may fail for want of memory: it is called from destructors. What cannot be listed as abandoned is never used again in this process, which is as safe.
void Publisher::close() {
  std::vector<std::shared_ptr<PublisherEnd>> ends, connecting, awaiting_history;
  std::vector<std::shared_ptr<ForeignEnd>> foreign, unread;
  std::shared_ptr<LoopTimer> unread_timer;
  std::vector<std::shared_ptr<LocalQueue>> locals;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    wake_who_waits_for_space();
  }
  status_.stop();
  if (trimmer_) trimmer_->stop();
  {
    const std::lock_guard one_at_a_time(publishing_);  // a publish() that had begun is over, and reads nothing of the window any more
    std::unique_lock lock(mutex_);
    // A message may have been published a moment ago; its readers need its chunks before we vanish.
    announced_.wait_for(lock, linger, [&] {
      return std::all_of(connections_.begin(), connections_.end(), [](const auto& end) { return end->knows_all(); });
    });
    // As if this process had died: what readers hold or have yet to take stays in the ring and in its chunks, which are theirs from now on.
    std::vector<const void*> abandoned;
    try {
      sweep_locked();
      frames_.abandon([this](KeptFrame& frame) { leave_history_locked(frame); });
      const auto list_it = [&](const KeptFrame& frame) {
        if (frame.pins == 0) list(frame, abandoned);
      };
      frames_.for_each(list_it);
      for (const auto& [end, lane] : lanes_) lane.for_each(list_it);
    } catch (const std::bad_alloc&) {
      base::log(base::LogLevel::warn, "a publisher closed without the memory to give back all of its own");
    }
    is_abandoned_ = true;
    frames_.forget_all_but_pinned();  // who reads it in our own mapping frees it by unpin()
    // Our own mapping of the window ends with its last block, which a user may have moved out of a message (F5).
    window_->close(abandoned, std::move(when_unmapped_));
    ends = std::move(connections_);
    connecting = std::move(connecting_);
    awaiting_history = std::move(awaiting_history_);
    connections_.clear();
    connecting_.clear();
    awaiting_history_.clear();
    lanes_.clear();  // after the window: what goes with them may be held by readers, and is not used again
    foreign = std::move(foreign_);
    foreign_.clear();
    unread = std::move(unread_);
    unread_.clear();
    unread_timer = std::move(unread_timer_);
    locals = std::move(locals_);
    locals_.clear();
    count_readers_locked();
    late_.clear();
  }
  let_go_of_history();
  for (const auto& queue : locals) {
    queue->publisher_gone();
    queue->ring_if_asleep();
    if (const auto taker = queue->options().taker.lock()) taker->status().publishers_changed();
  }
  try {
    session_->loop().run([&] {
      for (const auto& end : ends) end->stop();
      for (const auto& end : connecting) end->stop();
      for (const auto& end : awaiting_history) end->stop();
      for (const auto& end : foreign) end->stop();
    });
  } catch (const std::bad_alloc&) {
    return;  // their sockets close with them all the same
  }
}

}  // namespace sinew::session
