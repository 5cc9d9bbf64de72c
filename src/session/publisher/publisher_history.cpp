// What a transient-local publisher keeps for readers that come late, and how each kind of reader gets it.
//
// A message is kept in one form only, the one that it was published in: as a frame, which its floor does not pass, or, when nobody in another process read it, by pointer (of types with maps, whose frames
// have no object, those that came as frames keep their object beside). Only when
// the first reader comes to whom a pointer means nothing is a frame made of it, in the place in the ring that it has had all along.
#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "base/point.hpp"
#include "session/node/node_session.hpp"
#include "session/publisher/foreign_end.hpp"
#include "session/publisher/publisher.hpp"
#include "session/publisher/publisher_end.hpp"

namespace sinew::session {

// The oldest message that this reader is to get.
std::uint64_t Publisher::first_for_locked(const wire::Qos& asked) const noexcept {
  const std::uint64_t head = frames_.head();
  if (asked.durability != wire::Durability::transient_local) return head + 1;
  const std::uint64_t depth = asked.depth == 0 ? shm::ring_capacity : asked.depth;
  return head + 1 - std::min({head, depth, history_});
}

// Null when it is not there, or not any more.
KeptFrame* Publisher::in_history_locked(std::uint64_t sequence) noexcept {
  KeptFrame* const kept = frames_.waiting(sequence);
  return kept && (kept->is_in_window() || kept->local) ? kept : nullptr;
}

void Publisher::leave_history_locked(KeptFrame& frame) {
  if (frame.local) gone_.push_back(std::move(frame.local));
}

void Publisher::let_go_of_history() noexcept {
  std::unique_lock lock(mutex_);
  let_go_of_history(lock);
}

// One by one, so that the list keeps its memory for the messages to come. True when there was one.
bool Publisher::let_go_of_history(std::unique_lock<std::mutex>& lock) noexcept {
  const bool some = !gone_.empty();
  while (!gone_.empty()) {
    std::shared_ptr<const void> gone = std::move(gone_.back());
    gone_.pop_back();
    lock.unlock();
    gone.reset();
    lock.lock();
  }
  return some;
}

// --- readers of this process -------------------------------------------------------------------------------------------------------------

std::shared_ptr<const void> Publisher::pinned(KeptFrame& frame, std::shared_ptr<Pin> pin) noexcept {
  pin->hold(frame.sequence);
  ++frame.pins;
  return {std::move(pin), static_cast<const void*>(frame.root)};
}

void Publisher::hand_over_locked(KeptFrame& frame, LocalQueue& queue) noexcept {
  if (!frame.root && !frame.local) return queue.miss();
  if (!queue.wants(frame.sequence, frame.source_time)) return;
  LocalQueue::Item item;
  item.sequence = frame.sequence;
  item.source_time = frame.source_time;
  try {
    gone_.reserve(gone_.size() + 1);
    if (queue.options().buffer == Buffer::value) {
      item.copied = frame.local ? frame.local.get() : frame.root;
    } else {
      // Who wants to own it copies it when it takes it.
      item.shared = frame.local ? frame.local : pinned(frame, std::make_shared<Pin>(shared_from_this()));
    }
    queue.put(item);
    if (item.shared) gone_.push_back(std::move(item.shared));  // what it has pushed out
    queue.ring_if_asleep();
  } catch (const std::bad_alloc&) {
    queue.miss();
  }
}

void Publisher::hand_over_history_locked(const wire::Qos& asked, LocalQueue& queue) {
  for (std::uint64_t sequence = first_for_locked(asked); sequence <= frames_.head(); ++sequence) {
    if (KeptFrame* const kept = in_history_locked(sequence)) {
      hand_over_locked(*kept, queue);
    } else {
      queue.miss();
    }
  }
}

// --- readers of other processes ----------------------------------------------------------------------------------------------------------

// On the loop's thread, before the reader is listed. Whatever is published from now on has a frame already. The newest first: it is the oldest that is missed when memory is short.
// One message in a turn of the loop, which has other work; when the rest cannot be put off, for want of memory, it is done at once.
void Publisher::put_history_into_window(const std::shared_ptr<PublisherEnd>& end, std::uint64_t newest, std::uint64_t first) {
  while (put_next_into_window(end, newest, first)) {
    try {
      return session_->loop().post([weak = weak_from_this(), end, newest, first] {
        const auto publisher = weak.lock();
        if (!publisher) return;
        try {
          publisher->put_history_into_window(end, newest, first);
        } catch (const std::exception& error) {
          end->fail(error);
        }
      });
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
  enlist(end);
}

// It has neither gone nor, which it may do meanwhile, unsubscribed.
bool Publisher::awaits_history_locked(const std::shared_ptr<PublisherEnd>& end) const noexcept {
  return !closed_ && end->is_served() && std::ranges::find(awaiting_history_, end) != awaiting_history_.end();
}

// The next one up to `newest`, which goes down to what is left to be looked at. False when nothing is left.
bool Publisher::put_next_into_window(const std::shared_ptr<PublisherEnd>& end, std::uint64_t& newest, std::uint64_t first) {
  struct Filling {
    std::atomic<std::thread::id>& thread;  // relaxed: as filling_
    explicit Filling(std::atomic<std::thread::id>& of) noexcept : thread(of) {
      thread.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }
    ~Filling() { thread.store({}, std::memory_order_relaxed); }
  } const filling(filling_);
  std::unique_lock lock(mutex_);
  bool has_put = false;
  for (; newest >= first && awaits_history_locked(end); --newest) {
    const KeptFrame* const kept = in_history_locked(newest);
    if (!kept || kept->is_in_window()) continue;
    if (has_put) return true;
    put_into_window(lock, newest, end->reads_pieces());
    announce_changes_locked();  // readers that are behind may come across it
    let_go_of_history(lock);
    has_put = true;
  }
  return false;
}

void Publisher::put_into_window(std::unique_lock<std::mutex>& lock, std::uint64_t sequence, bool in_pieces) {
  gone_.reserve(history_ + gone_.size());  // others may add to it meanwhile
  std::shared_ptr<const void> message = in_history_locked(sequence)->local;
  lock.unlock();
  NewFrame frame = storage_->copy_in(message.get(), *window_);
  message.reset();
  if (frame.root && in_pieces) frame.pieces = storage_->write_pieces(frame.root, *window_, true);  // now that the window may grow for them
  SINEW_POINT("publisher.history_copied");
  lock.lock();
  if (!frame.is_in_window()) return;  // its reader will miss it, and count that
  KeptFrame* const kept = in_history_locked(sequence);
  if (!kept || kept->is_in_window() || closed_) {
    return release({.sequence = sequence, .root = frame.root, .size = frame.size, .pieces = frame.pieces});
  }
  count_copied(frame.size);
  if (frame.root) leave_history_locked(*kept);  // else those of this process still need the object
  kept->root = frame.root;
  kept->size = frame.size;
  kept->pieces = frame.pieces;
  kept->tells_pieces = frame.pieces != nullptr;
  count_unswept_locked(frame.size);
  frames_.fill(*kept, notes_.newest.load(std::memory_order_acquire));  // sync: NEWEST (with chunk_added)
}

// An export that begins, or begins again, has in it what a reader of another user may still get: one message in a turn of the loop, without the mutex. Then, in one step under it, the reader gets the ring, and what is
// published from then on is exported by who publishes it (export_frame).
//
// Invariant: while no reader is attached, and no publish() exports (exporting_), only the loop's thread, which attaches them, touches the export. So it has the frames in their order, each once, whatever is published meanwhile.
void Publisher::export_history(const std::shared_ptr<ForeignEnd>& end, std::size_t turn) {
  // Who publishes as fast as that copies would put it off for ever: then the rest is done at once.
  constexpr std::size_t most_turns = std::size_t{4} * shm::export_depth;
  while (export_next(end, turn >= most_turns)) {
    ++turn;
    try {
      return session_->loop().post([weak = weak_from_this(), end, turn] {
        const auto publisher = weak.lock();
        if (!publisher) return;
        try {
          publisher->export_history(end, turn);
        } catch (const std::exception& error) {
          end->fail(error);
        }
      });
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
}

// True when there may be more to export before this reader can be attached; else it is, or has gone. `holds_mutex`: all is exported in one go.
bool Publisher::export_next(const std::shared_ptr<ForeignEnd>& end, bool holds_mutex) {
  std::unique_lock lock(mutex_);
  if (closed_ || std::ranges::find(foreign_, end) == foreign_.end()) return false;
  if (!export_) export_ = std::make_unique<Export>(topic(), options_.budget, options_.budget);
  const std::uint64_t head = frames_.head();
  while (!has_foreigners_locked() && exporting_ == 0) {  // else the newest messages are in it
    const std::uint64_t kept = std::min({head, history_, std::uint64_t{shm::export_depth}});
    export_->skip_to(std::max(export_->head(), head - kept));
    if (export_->head() == head) break;
    export_from_history(lock, holds_mutex);
    if (!holds_mutex) return true;
  }
  export_->show_alive(static_cast<std::int64_t>(ring().header.alive.load(std::memory_order_relaxed)));
  end->send_ring(*export_, std::max(first_for_locked(end->asked()), head + 1 - std::min<std::uint64_t>(head, shm::export_depth)));
  came_locked();
  return false;
}

void Publisher::export_from_history(std::unique_lock<std::mutex>& lock, bool holds_mutex) {
  KeptFrame* const frame = in_history_locked(export_->head() + 1);
  const void* const message = !frame ? nullptr : frame->local ? frame->local.get() : frame->root;
  const void* const pieces = frame ? frame->pieces : nullptr;
  const std::uint64_t size = frame ? frame->size : 0;
  const std::int64_t source_time = frame ? frame->source_time : 0;
  std::shared_ptr<const void> kept;  // it may leave the history meanwhile; let go of without the mutex
  if (frame && !holds_mutex) kept = frame->local ? frame->local : pinned(*frame, std::make_shared<Pin>(shared_from_this()));
  if (!holds_mutex) lock.unlock();
  const std::uint64_t stream = message ? storage_->stream_size(message) : size;
  export_->prepare(stream);
  const std::uint64_t exported = export_->publish(stream, source_time, [&](std::byte* into) {
    if (message) return storage_->write_stream(message, into);
    join_pieces(pieces, into);
  });
  kept.reset();
  if (!holds_mutex) lock.lock();
  shm::add(counts().bytes_exported, exported);
}

}  // namespace sinew::session
