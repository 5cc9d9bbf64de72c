// What a publisher keeps because readers may still want it, and how its memory comes back.
#include <algorithm>
#include <bit>
#include <new>
#include <thread>

#include "base/point.hpp"
#include "os/clock.hpp"
#include "session/node/node_session.hpp"
#include "session/publisher/foreign_end.hpp"
#include "session/publisher/publisher.hpp"
#include "session/publisher/publisher_end.hpp"

namespace sinew::session {
namespace {

// Before so much was published since the last sweep, one costs more (two cache lines per reader, which it may be writing) than the memory it brings back is worth.
constexpr std::uint64_t sweep_bytes = 32 * 1024;
constexpr std::uint64_t sweep_frames = 64;

// Readers do not say when they let go of a frame, so who waits for that looks again and again.
constexpr std::chrono::milliseconds look_again{1};

// A reader that runs answers by then that it has unmapped what it is to let go of.
constexpr std::chrono::nanoseconds unmapping_patience = std::chrono::milliseconds(100);

}  // namespace

std::size_t Publisher::room_for(std::uint32_t depth) noexcept {
  return depth == 0 ? shm::ring_capacity : std::min<std::size_t>(std::bit_ceil(depth + sweep_frames), shm::ring_capacity);
}

// The newest sequence that no reader can still want. Cursors are read here, claims later (S14): a reader stores its claim before its cursor.
std::uint64_t Publisher::floor_locked() const {
  const std::uint64_t head = frames_.head();
  std::uint64_t floor = head;
  for (const auto& end : connections_) floor = std::min(floor, end->decided(head));
  if (exporting_ != 0) floor = std::min(floor, exporting_ - 1);
  if (history_ > 0) floor = std::min(floor, head - std::min(head, history_));
  return floor;
}

void Publisher::retire_up_to_locked(std::uint64_t sequence) {
  frames_.retire_up_to(sequence, [this](KeptFrame& frame) { leave_history_locked(frame); });
}

void Publisher::release(const KeptFrame& frame) noexcept {
  shm::Window::Freeing blocks(*window_);
  release(frame, blocks);
}

void Publisher::release(const KeptFrame& frame, shm::Window::Freeing& blocks) noexcept {
  if (frame.pieces) blocks.free(frame.pieces);
  if (frame.beside) blocks.free(frame.beside);
  if (frame.root && !frame.shared) storage_->release(frame.root, blocks);
}

void Publisher::list(const KeptFrame& frame, std::vector<const void*>& into) const {
  if (frame.pieces) into.push_back(frame.pieces);
  if (frame.beside) into.push_back(frame.beside);
  if (frame.root && !frame.shared) storage_->list(frame.root, into);
}

void Publisher::count_unswept_locked(std::uint64_t bytes) noexcept {
  unswept_bytes_ += bytes;
  ++unswept_frames_;
  if (unswept_bytes_ >= sweep_bytes || unswept_frames_ >= sweep_frames) sweep_is_due_.store(true, std::memory_order_relaxed);
}

bool Publisher::sweep_locked() {
  unswept_bytes_ = unswept_frames_ = 0;
  std::uint64_t left = 0;  // bytes that readers still hold: they may let go of them at any time
  const bool freed = options_.endpoint != 0 ? sweep_lanes_locked(left) : sweep_frames_locked(left);
  sweep_is_due_.store(left >= sweep_bytes, std::memory_order_relaxed);
  return freed;
}

bool Publisher::sweep_frames_locked(std::uint64_t& left) {
  retire_up_to_locked(floor_locked());
  if (!frames_.has_retired()) return false;
  SINEW_POINT("publisher.retired");
  claims_.clear();
  for (const auto& end : connections_) end->gather_claims(claims_);
  std::sort(claims_.begin(), claims_.end());
  bool freed = false;
  shm::Window::Freeing blocks(*window_);
  left = frames_.sweep(claims_, [&](const KeptFrame& frame) {
    release(frame, blocks);
    freed = true;
  });
  return freed;
}

bool Publisher::is_closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

NewFrame Publisher::copy_in(const void* object) noexcept {
  reclaim();
  return storage_->copy_in(object, *window_);
}

void Publisher::reclaim() noexcept {
  if (!sweep_is_due_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  try {
    sweep_locked();
  } catch (const std::bad_alloc&) {
    return;  // another time: nothing is lost by keeping frames longer
  }
}

// --- memory that was needed once --------------------------------------------------------------------------------------------------

void Publisher::start_trimming(IoLoop& loop) {
  trimmer_ = LoopTimer::create(loop, [weak = weak_from_this()] {
    const auto self = weak.lock();
    return self ? self->trim() : LoopTimer::never;
  });
}

// Unmapping takes long, so it is not for a thread that publishes, and no such waits for it. It is called at intervals, and when readers have unmapped what was given back last.
std::int64_t Publisher::trim() {
  std::unique_lock lock(mutex_);
  std::int64_t next = LoopTimer::never;
  const std::int64_t now = os::now_ns();
  if (!closed_ && now >= next_look_) {
    sweep_locked();  // it may have published its last message for long
    if (window_->look_for_idle()) next = now + trim_interval;
    next_look_ = now + trim_interval;
  } else {
    next = next_look_;
  }
  while (!closed_) {
    announce_changes_locked();  // where no reader has it, it has gone then
    lock.unlock();
    const bool some = window_->trim_next();
    lock.lock();
    if (!some) return next;
  }
  return LoopTimer::never;
}

// --- memory is short (TZC III-E) ---------------------------------------------------------------------------------------------------

bool Publisher::make_room(const shm::Window::Refusal& refusal) noexcept {
  try {
    std::unique_lock lock(mutex_);
    if (closed_) return false;
    if (free_some(lock)) return true;
    if (closed_) return false;
    if (refusal.unreleased > 0 && await_unmapped(lock, refusal.unreleased)) return true;
    // Nothing that others wait for is thrown away in vain.
    while (!closed_ && refusal.may_fit && withdraw_from_observers_locked()) {
      if (free_some(lock)) return true;
    }
    if (filling_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return false;
    while (refusal.may_fit && withdrawn_for_next_.load(std::memory_order_relaxed) < options_.withdraw_at_most && withdraw_oldest_locked()) {
      if (free_some(lock)) return true;
    }
    return options_.wait_for_room && wait_for_room(lock, refusal.unreleased);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// True when readers have unmapped some of what they had yet to when there was no room.
bool Publisher::await_unmapped(std::unique_lock<std::mutex>& lock, std::size_t unreleased) {
  announce_changes_locked();
  const auto has_come = [&] { return window_->usage().unreleased < unreleased; };
  if (has_come()) return true;
  if (options_.wait_for_room) return false;               // wait_for_room() waits for this, too
  if (session_->loop().is_inside()) return false;         // where nobody else reads the answers
  if (unreleased == not_unmapped_in_time_) return false;  // else a reader that is stopped would hold up each message
  const std::chrono::nanoseconds patience =
      options_.endpoint != 0 ? unmapping_patience : std::min(unmapping_patience, options_.max_blocking);
  for (const std::int64_t deadline = os::now_ns() + patience.count(); os::now_ns() < deadline;) {
    lock.unlock();
    os::sleep_for(look_again);
    lock.lock();
    if (closed_) return false;
    if (has_come()) return true;
  }
  not_unmapped_in_time_ = unreleased;
  return false;
}

// True when it may have freed something.
bool Publisher::free_some(std::unique_lock<std::mutex>& lock) {
  const bool swept = sweep_locked();
  return let_go_of_history(lock) ? !closed_ : swept;
}

// A reader that has yet to take it misses it, and counts that. One that somebody holds would make no room, and others may still take it. Who claims it after we have looked keeps it: that is seen by the sweep, which looks again
// when it is retired.
bool Publisher::withdraw_oldest_locked() {
  claims_.clear();
  for (const auto& reader : connections_) reader->gather_claims(claims_);
  std::sort(claims_.begin(), claims_.end());
  std::uint64_t last = std::min(frames_.head(), slowest_reliable_locked());
  if (exporting_ != 0) last = std::min(last, exporting_ - 1);
  for (std::uint64_t sequence = frames_.oldest(); sequence <= last; ++sequence) {
    const KeptFrame& frame = *frames_.waiting(sequence);
    if (frame.is_nothing() || frame.pins > 0 || std::ranges::binary_search(claims_, sequence)) continue;
    frames_.withdraw(sequence, [this](KeptFrame& leaving) { leave_history_locked(leaving); });
    withdrawn_for_next_.fetch_add(1, std::memory_order_relaxed);
    shm::add(counts().withdrawn, 1);
    return true;
  }
  return false;
}

// `unreleased`: as for await_unmapped().
bool Publisher::wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t unreleased) {
  const std::int64_t deadline = os::later(os::now_ns(), options_.max_blocking.count());
  while (!waited_in_vain_.load(std::memory_order_relaxed) && os::now_ns() < deadline) {
    lock.unlock();
    os::sleep_for(look_again);
    lock.lock();
    if (closed_) return false;
    if (sweep_locked() || window_->usage().unreleased < unreleased) return true;
  }
  waited_in_vain_.store(true, std::memory_order_relaxed);  // a message of many parts waits once, not for each
  return false;
}

}  // namespace sinew::session
