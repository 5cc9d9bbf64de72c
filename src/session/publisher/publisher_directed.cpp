// Messages that go to one reader each, as the requests and the responses of services do.
//
// Every reader has a lane: a ring of its own with the frames that it was sent, so that it sees nothing of the others' messages, and one that is stopped or slow keeps nobody else waiting. A reader
// of another user has an export of its own, likewise. The window, its chunks and what readers are told of them are as for messages to all.
#include <algorithm>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "base/point.hpp"
#include "os/clock.hpp"
#include "session/fork.hpp"
#include "session/publisher/foreign_end.hpp"
#include "session/publisher/publisher.hpp"
#include "session/publisher/publisher_end.hpp"
#include "session/subscriber/subscription.hpp"
#include "shm/chunk_size.hpp"

namespace sinew::session {
namespace {

constexpr int turns_until_empty = 16;  // of the loop, for all that fits into a socket

// Where there is no memory for a reason, there is none.
template <class Reason>
void say_why(std::string& why, Reason reason) noexcept {
  try {
    why = reason();
  } catch (const std::bad_alloc&) {
    why.clear();
  }
}

// Of a message that has no room in an export as ForeignEnd::export_alone() makes it.
std::string why_not_exported(std::uint64_t stream, std::uint64_t budget) {
  if (stream == 0)
    return "Processes of other users are sent streams, and this message is too large for one, or there is no memory to make it.";
  const std::uint64_t needed = shm::in_units(stream_behind_table(1) + stream);
  static_assert(shm::export_depth == 8);  // as it is said
  if (needed > std::max<std::uint64_t>(budget / shm::export_depth, shm::chunk_unit)) {
    return "It needs " + shm::in_mib(needed) + ", more than an eighth of the memory_budget of " + shm::in_mib(budget) +
           ", which is what one message to another user may take: raise memory_budget, or make the message smaller.";
  }
  if (budget < shm::export_depth * shm::chunk_unit)
    return "Readers of another user take eight pieces of 64 KiB, which is more than the memory_budget: raise that to 0.5 MiB or more.";
  return "It needs " + shm::in_mib(needed) +
         " more shared memory for a reader of another user, and that is not to be had (the log may say why): end something, or raise the "
         "limits of the machine, or of this process.";
}

}  // namespace

// --- readers -------------------------------------------------------------------------------------------------------------------------

std::vector<Peer> Publisher::peers() const {
  std::vector<Peer> peers;
  const std::lock_guard lock(mutex_);
  for (const auto& queue : locals_) {
    if (queue->is_open()) peers.push_back({queue->options().subscriber_endpoint, Reach::this_process});
  }
  for (const auto& end : connections_) {
    if (end->is_served()) peers.push_back({end->endpoint(), Reach::same_user});
  }
  for (const auto& end : foreign_) {
    if (end->is_attached()) peers.push_back({end->endpoint(), Reach::other_user});
  }
  std::erase_if(peers, [](const Peer& peer) { return peer.endpoint == 0; });
  return peers;
}

// The first one, should two have the same.
Publisher::Addressee Publisher::find_locked_reader(std::uint64_t endpoint) const {
  if (endpoint == 0) return {};
  for (const auto& queue : locals_) {
    if (queue->is_open() && queue->options().subscriber_endpoint == endpoint) return {queue, nullptr, nullptr};
  }
  for (const auto& end : connections_) {
    if (end->is_served() && end->endpoint() == endpoint) return {nullptr, end, nullptr};
  }
  for (const auto& end : foreign_) {
    if (end->is_attached() && end->endpoint() == endpoint) return {nullptr, nullptr, end};
  }
  return {};
}

// What the manager sees to within its own time (W69) holds for connections that are older: they outlive it.
bool Publisher::serves(std::uint64_t endpoint) const {
  if (options_.endpoint == 0) return false;
  const std::lock_guard lock(mutex_);
  return static_cast<bool>(find_locked_reader(endpoint));
}

void Publisher::hear(std::uint64_t endpoint) {
  for (int turn = 0; turn < turns_until_empty && serves(endpoint); ++turn) {
    std::unique_lock lock(mutex_);
    const Addressee standing = find_locked_reader(endpoint);
    lock.unlock();
    if (standing.end) static_cast<IoLoop::Handler&>(*standing.end).on_event({});
    if (standing.foreign) static_cast<IoLoop::Handler&>(*standing.foreign).on_event({});
  }
}

Reach Publisher::reach(std::uint64_t endpoint) const {
  const std::lock_guard lock(mutex_);
  const Addressee to = find_locked_reader(endpoint);
  return to.queue ? Reach::this_process : to.end ? Reach::same_user : to.foreign ? Reach::other_user : Reach::nobody;
}

bool Publisher::is_kept_by_readers() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(lanes_, [](const auto& lane) { return lane.first->endpoint() != 0 && !lane.second.empty(); });
}

Export* Publisher::export_for(const ForeignEnd& end) const noexcept {
  return options_.endpoint != 0 ? end.alone() : export_.get();
}

void Publisher::call_cancelled(std::uint64_t endpoint, std::uint64_t call) const noexcept {
  if (const auto watcher = options_.watcher.lock()) watcher->call_cancelled(endpoint, call);
}

void Publisher::tell_left_locked(std::uint64_t endpoint, std::uint64_t taken) const noexcept {
  if (endpoint == 0) return;
  if (const auto watcher = options_.watcher.lock()) watcher->peer_left(endpoint, taken, static_cast<bool>(find_locked_reader(endpoint)));
}

// --- messages that are sent more than once -----------------------------------------------------------------------------------------------

namespace {

class SharedStorage {
 public:
  SharedStorage(std::shared_ptr<shm::Window> window, std::shared_ptr<const FrameStorage> storage, const void* root) noexcept
      : window_(std::move(window)), storage_(std::move(storage)), root_(root) {}
  ~SharedStorage() {
    if (forked()) return;  // in a child it is not there
    shm::Window::Freeing blocks(*window_);
    storage_->release(root_, blocks);
  }
  SharedStorage(const SharedStorage&) = delete;
  SharedStorage& operator=(const SharedStorage&) = delete;

 private:
  const std::shared_ptr<shm::Window> window_;
  const std::shared_ptr<const FrameStorage> storage_;
  const void* const root_;
};

}  // namespace

std::shared_ptr<const void> Publisher::share(NewFrame frame) {
  try {
    return {std::make_shared<SharedStorage>(window_, storage_, frame.root), frame.root};
  } catch (const std::bad_alloc&) {
    shm::Window::Freeing blocks(*window_);
    storage_->release(frame.root, blocks);
    throw;
  }
}

// --- lanes ---------------------------------------------------------------------------------------------------------------------------

std::uint64_t Publisher::taken_locked(const PublisherEnd& end) const {
  const auto lane = lanes_.find(&end);
  return number_of(end.connection(), lane != lanes_.end() ? std::min(end.ack().cursor(), lane->second.head()) : 0);
}

// Cursors are read before claims (S14), as in floor_locked().
bool Publisher::sweep_lanes_locked(std::uint64_t& left) {
  bool freed = false;
  for (auto& [end, lane] : lanes_) {
    if (lane.empty()) continue;
    lane.retire_up_to(end->decided(lane.head()), nothing_beside);
    SINEW_POINT("publisher.lane_retired");
    claims_.clear();
    end->gather_claims(claims_);
    std::ranges::sort(claims_);
    lane.sweep(claims_, [&](const KeptFrame& frame) {
      release(frame);
      freed = true;
    });
    lane.for_each([&](const KeptFrame& frame) { left += frame.size; });
  }
  return freed;
}

// Its reader is dead, or has let go of its socket: nobody holds anything of it (F2).
void Publisher::let_go_of_lane_locked(const PublisherEnd& end) {
  const auto lane = lanes_.find(&end);
  if (lane == lanes_.end()) return;
  lane->second.for_each([&](const KeptFrame& frame) { release(frame); });
  lanes_.erase(lane);
}

// --- sending -------------------------------------------------------------------------------------------------------------------------

Publisher::Outcome Publisher::send(std::uint64_t endpoint, GivenMessage message, NewFrame given, std::uint64_t& sequence,
                                   std::string& why) {
  LocalDelivery::Leftovers leftovers;  // behind all locks, as in publish()
  const std::lock_guard one_at_a_time(publishing_);
  struct End {
    Publisher& publisher;
    LocalDelivery::Leftovers& into;
    ~End() {
      publisher.local_delivery_.end(into);
      publisher.addressed_.clear();
    }
  } const end{*this, leftovers};
  sequence = 0;
  why.clear();
  KeptFrame frame{.root = given.root, .size = given.size, .pieces = given.pieces};
  std::unique_lock lock(mutex_);
  if (closed_) return refuse(lock, frame, Outcome::closed);
  start_over();
  if (observers_.load(std::memory_order_relaxed) > 0) {
    copy_for_observers(lock, message.look());
    const Outcome outcome =
        closed_ ? refuse(lock, frame, Outcome::closed) : send_to_addressee(lock, endpoint, message, frame, sequence, why);
    if (!lock.owns_lock()) lock.lock();
    show_observers_locked(outcome == Outcome::published);
    return outcome;
  }
  return send_to_addressee(lock, endpoint, message, frame, sequence, why);
}

Publisher::Outcome Publisher::send_to_addressee(std::unique_lock<std::mutex>& lock, std::uint64_t endpoint, GivenMessage& message,
                                                KeptFrame frame, std::uint64_t& sequence, std::string& why) {
  const Addressee to = find_locked_reader(endpoint);
  if (to.end && message.in_window > 0)
    frame = {.root = const_cast<void*>(message.shared.get()), .size = message.in_window, .shared = message.shared};
  if (!to.end && frame.is_in_window()) {
    // It was there a moment ago: an endpoint does not move.
    return refuse(lock, frame, Outcome::nobody);
  }
  try {
    if (to.queue) return send_here(lock, to.queue, message, sequence);
    if (to.end) return send_to_window(lock, to, message, frame, sequence, why);
    if (to.foreign) return send_to_stranger(lock, to, message.look(), why);
  } catch (const std::bad_alloc&) {
    return refuse(lock, {}, Outcome::no_memory);
  }
  return Outcome::nobody;
}

Publisher::Outcome Publisher::send_here(std::unique_lock<std::mutex>& lock, const std::shared_ptr<LocalQueue>& queue, GivenMessage& message,
                                        std::uint64_t& sequence) {
  if (queue->is_full()) return refuse(lock, {}, Outcome::held_back);
  addressed_.push_back(queue);
  const std::int64_t now = os::now_ns();
  local_delivery_.begin(addressed_, ++sent_here_, now);
  local_delivery_.keep(false);
  count_copied(local_delivery_.prepare(message, nullptr));
  sequence = queue->put_so_far() + 1;
  local_delivery_.put(now);
  count_published(0, now);
  return Outcome::published;
}

// What is made for the reader is made without the mutex, after which it may be gone, or need more.
Publisher::Outcome Publisher::send_to_window(std::unique_lock<std::mutex>& lock, const Addressee& to, GivenMessage& message,
                                             KeptFrame frame, std::uint64_t& sequence, std::string& why) {
  PublisherEnd& end = *to.end;
  const auto lane = lanes_.find(&end);
  const auto has_room = [&] { return lane->second.has_room(end.decided(lane->second.head())); };
  const auto refused_by_window = [&] {
    say_why(why, [&] { return window_->why_refused(); });
    return refuse(lock, frame, Outcome::no_memory);
  };
  if (lane == lanes_.end()) return refuse(lock, frame, Outcome::nobody);
  if (!has_room()) return refuse(lock, frame, Outcome::held_back);
  const auto needs_pieces = [&] { return end.reads_pieces() && frame.root && !frame.tells_pieces; };
  while (!frame.is_in_window() || needs_pieces()) {
    const bool in_pieces = end.reads_pieces();
    lock.unlock();
    if (!frame.is_in_window()) {
      const NewFrame copy = copy_in(message.look());
      if (!copy.is_in_window()) return refused_by_window();
      frame.root = copy.root;
      frame.size = copy.size;
      frame.pieces = copy.pieces;
      count_copied(copy.size);
    }
    if (in_pieces && frame.root) {
      frame.pieces = storage_->write_pieces(frame.root, *window_, true);
      frame.tells_pieces = true;
      if (!frame.pieces) return refused_by_window();  // it could not be read
    }
    SINEW_POINT("publisher.lane_prepared");
    lock.lock();
    if (closed_) return refuse(lock, frame, Outcome::closed);
    if (!lanes_.contains(&end) || !end.is_served()) return refuse(lock, frame, Outcome::nobody);
  }
  try {
    // Read before announcing, as in publish_frame_locked().
    const std::uint64_t newest_chunk = notes_.newest.load(std::memory_order_acquire);  // sync: NEWEST (with chunk_added)
    announce_changes_locked();
    lane->second.prepare(nothing_beside);
    SINEW_POINT("publisher.before_publish");
    frame.source_time = os::now_ns();
    frame.tells_pieces |= !frame.root;
    sequence = number_of(end.connection(), lane->second.head() + 1);
    lane->second.publish(frame, newest_chunk);
  } catch (const std::bad_alloc&) {
    return refuse(lock, frame, Outcome::no_memory);
  }
  count_unswept_locked(frame.size);
  SINEW_POINT("publisher.before_doorbell");
  end.ring_if_asleep();
  count_published(frame.size, frame.source_time);
  return Outcome::published;
}

Publisher::Outcome Publisher::send_to_stranger(std::unique_lock<std::mutex>& lock, const Addressee& to, const void* object,
                                               std::string& why) {
  Export& exported = *to.foreign->alone();
  const std::uint64_t stream = storage_->stream_size(object);
  exported.prepare(stream);
  if (!exported.has_room_for(stream)) {
    say_why(why, [&] { return why_not_exported(stream, options_.budget); });
    return refuse(lock, {}, Outcome::no_memory);
  }
  lock.unlock();
  const std::int64_t now = os::now_ns();
  const std::uint64_t copied = exported.publish(stream, now, [&](std::byte* into) { storage_->write_stream(object, into); });
  lock.lock();
  shm::add(counts().bytes_exported, copied);
  tell_exported(*to.foreign, exported);
  count_published(0, now);
  return Outcome::published;
}

}  // namespace sinew::session
