// Who looks on at what a service's client or provider sends: readers without an endpoint, as recorders are.
//
// Each of them has a lane, like any reader, and in it a copy of its own of each message that was sent. Invariant: those whose messages they are do not notice. An observer never holds a message back: its lane gives up what it has
// not taken in time; what it has not taken is withdrawn first where memory is short; and where there is no memory for its copy the message is missing in its lane alone, and counted by it.
#include <algorithm>
#include <new>
#include <utility>

#include "base/point.hpp"
#include "os/clock.hpp"
#include "session/publisher/publisher.hpp"
#include "session/publisher/publisher_end.hpp"

namespace sinew::session {

bool Publisher::looks_on(const PublisherEnd& end) noexcept {
  return end.endpoint() == 0 && end.is_served();
}

void Publisher::copy_for_observers(std::unique_lock<std::mutex>& lock, const void* message) {
  try {
    for (const auto& end : connections_) {
      if (looks_on(*end)) shown_.push_back({end, {.tells_pieces = end->reads_pieces()}});
    }
  } catch (const std::bad_alloc&) {
    shown_.clear();  // then all of them miss it
  }
  lock.unlock();
  for (Shown& each : shown_) {
    const NewFrame copy = copy_in(message);
    KeptFrame& frame = each.frame;
    frame = {.root = copy.root, .size = copy.size, .pieces = copy.pieces, .tells_pieces = frame.tells_pieces || !copy.root};
    if (frame.root && frame.tells_pieces) frame.pieces = storage_->write_pieces(frame.root, *window_, true);
  }
  SINEW_POINT("publisher.copied_for_observers");
  lock.lock();
}

void Publisher::show_observers_locked(bool sent) noexcept {
  for (const auto& end : connections_) {
    if (!sent || !looks_on(*end)) continue;
    const auto lane = lanes_.find(end.get());
    if (lane == lanes_.end()) continue;
    const auto shown = std::ranges::find(shown_, end, &Shown::to);
    // One that has just come, or whose copy there was no memory for, gets an entry without a message.
    show_locked(*end, lane->second, shown != shown_.end() ? std::exchange(shown->frame, {}) : KeptFrame{});
  }
  for (const Shown& each : shown_) {
    if (each.frame.is_in_window()) release(each.frame);
  }
  shown_.clear();
}

void Publisher::show_locked(PublisherEnd& end, KeptFrames& lane, KeptFrame frame) noexcept {
  try {
    // Read before announcing, as in publish_frame_locked().
    const std::uint64_t newest_chunk = notes_.newest.load(std::memory_order_acquire);  // sync: NEWEST (with chunk_added)
    announce_changes_locked();
    lane.prepare(nothing_beside);
    frame.source_time = os::now_ns();
    frame.tells_pieces |= !frame.root;
    lane.publish(frame, newest_chunk);
    count_copied(frame.size);
    count_unswept_locked(std::exchange(frame, {}).size);
    if (end.reads_pieces()) write_missing_pieces_locked(lane, lane.head());  // where it has begun to want them meanwhile
  } catch (const std::bad_alloc&) {
    if (frame.is_in_window()) release(frame);
    shm::add(counts().withdrawn, 1);
  }
  SINEW_POINT("publisher.shown");
  end.ring_if_asleep();
}

// What an observer has claimed it keeps, as any reader does.
bool Publisher::withdraw_from_observers_locked() {
  for (auto& [end, lane] : lanes_) {
    if (end->endpoint() != 0 || lane.oldest() > lane.head()) continue;
    lane.retire_up_to(lane.oldest(), nothing_beside);
    shm::add(counts().withdrawn, 1);
    return true;
  }
  return false;
}

}  // namespace sinew::session
