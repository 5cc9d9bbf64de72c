#include "session/subscriber/subscriber_end.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "base/point.hpp"
#include "base/printable.hpp"
#include "os/clock.hpp"
#include "os/event.hpp"
#include "session/callbacks/execution_thread.hpp"
#include "session/callbacks/listener.hpp"
#include "session/fork.hpp"
#include "session/io/trust.hpp"
#include "session/node/node_session.hpp"
#include "session/subscriber/subscription.hpp"

namespace sinew::session {
namespace {

constexpr std::uint64_t last_sequence = std::uint64_t{1} << 56;  // M12: no publisher lives long enough for more
constexpr int turns_until_empty = 16;                            // of the loop, for all that fits into a socket

constexpr std::uint64_t most_local_pieces = std::uint64_t{1} << 32;  // so that their table has a size

std::size_t ack_file_size() {
  const std::size_t page = os::page_size();
  return (sizeof(shm::AckPage) + page - 1) / page * page;
}

}  // namespace

SubscriberEnd::SubscriberEnd(std::weak_ptr<Subscription> subscription, std::shared_ptr<NodeSession> session, os::Fd socket,
                             wire::ConnectSubscriber introduction, std::uint64_t manager, Counters::Slot counts, Thinning::Options thinning,
                             Reading reading, bool in_place)
    : counts_(std::move(counts)),
      thinning_(thinning),
      reads_pieces_(!introduction.same_user),
      must_copy_(reading == Reading::copy || !introduction.same_user),
      reach_limit_(introduction.same_user ? shm::ring_capacity : shm::export_depth),
      introduced_at_(os::now_ns()),
      subscription_(std::move(subscription)),
      session_(std::move(session)),
      introduction_(std::move(introduction)),
      connection_(introduction_.connection),
      manager_(manager),
      channel_(std::move(socket)),
      ack_fd_(os::create_memfd("sinew-ack", ack_file_size())),
      chunks_(std::make_shared<const ChunkTable>()),
      why_not_in_place_(!introduction_.same_user ? "its process belongs to another user"
                        : must_copy_             ? "the subscriber asks for it"
                                                 : ""),
      reading_(reading),
      in_place_(in_place) {
  auto mapping = std::make_shared<const os::Mapping>(os::Mapping::map(ack_fd_, ack_file_size(), os::Access::read_write));
  os::seal_for_readers(ack_fd_);
  offer_mapping(ack_fd_, mapping);
  ack_ = std::launder(reinterpret_cast<shm::AckPage*>(mapping->data()));
  shm::initialise(*ack_);
  ack_mapping_ = std::move(mapping);
  if (is_foreign()) ack_fd_.reset();  // which nobody is sent (W56)
}

SubscriberEnd::~SubscriberEnd() {
  channel_.unwatch();
  seen_chunks_.reset();
  chunks_.reset();
  session_->release_window(introduction_.window, manager_);
}

void SubscriberEnd::start(const Doorbell& doorbell) {
  channel_.watch(session_->loop(), weak_from_this());
  tell_path();
  if (!introduction_.same_user) return channel_.send(wire::AttachForeign{});
  const int descriptors[] = {doorbell.page().get(), doorbell.eventfd().get()};
  channel_.send(wire::Doorbell{static_cast<std::uint32_t>(doorbell.page_size()), 0}, descriptors);
}

// It is taken for read in place unless it is said otherwise.
void SubscriberEnd::tell_path() {
  if (path() != wire::Path::native) session_->tell_path(connection(), path(), why_not_in_place().c_str());
}

bool SubscriberEnd::is_with(const wire::ConnectSubscriber& introduction) {
  // Not by the identity alone, which others who were introduced have heard of; nor by its process, of which another manager may see another number.
  if (introduction.identity == 0 || introduction.identity != introduction_.identity || introduction.peer != introduction_.peer ||
      introduction.window != introduction_.window) {
    return false;
  }
  return stands();
}

bool SubscriberEnd::stands() {
  for (int turn = 0; turn < turns_until_empty && !hung_up(); ++turn) read({}, os::never);
  return !hung_up();
}

bool SubscriberEnd::introduced_again(std::uint64_t connection, std::uint64_t manager) {
  connection_.store(connection, std::memory_order_relaxed);
  tell_path();
  return std::exchange(manager_, manager) != manager;
}

// --- control -----------------------------------------------------------------------------------------------------------------------

void SubscriberEnd::read(const os::Poller::Event& event, std::int64_t longest) {
  const auto self = shared_from_this();
  const std::int64_t end = os::later(os::now_ns(), longest);
  try {
    if (event.writable) channel_.flush();
    for (int turn = 0; turn < Channel::turns_per_event; ++turn) {
      auto input = channel_.receive();
      if (!input) break;
      handle(*input);
      if (hung_up()) return;
      if (os::now_ns() >= end) break;
    }
    answer_chunk();
    tell_unmapped();
    if (channel_.state() != Channel::State::closed) return;
    hang_up("the publisher's process has ended the connection");
  } catch (const std::exception& error) {
    fail(error);
  }
}

// What is published from here on is none of this connection's, so that another one with the same publisher can begin behind it.
void SubscriberEnd::fail(const std::exception& why) {
  const auto subscription = subscription_.lock();
  // relaxed: set by this thread; and who misses it takes one more, which decided() knows
  if (serving_.load(std::memory_order_relaxed)) end_.store(claims_->head(), std::memory_order_relaxed);
  is_cut_off_.store(true, std::memory_order_relaxed);
  tell_lost(0);
  channel_.complain(why.what());
  hang_up(why.what());
  if (subscription && dynamic_cast<const Violation*>(&why) == nullptr) session_->introduce_again(*subscription);
  // Last: there may be no memory to say it.
  base::log(base::LogLevel::warn, "connection to publisher '" + peer() + "' ended: " + reason_of(why));
}

void SubscriberEnd::make_way(const Subscription& subscription) const noexcept {
  session_->introduce_now(subscription);
}

std::uint64_t SubscriberEnd::decided() const noexcept {
  if (!serving_.load(std::memory_order_acquire)) return follows_;  // sync: SERVING (with on_ring)
  const std::uint64_t decided = std::max(claims_->cursor(), end_.load(std::memory_order_relaxed));
  return decided <= last_sequence ? decided : 0;
}

void SubscriberEnd::hang_up(const char* why) noexcept {
  session_->tell_path(connection(), wire::Path::none, why);
  channel_.unwatch();
  hung_up_.store(true, std::memory_order_release);  // sync: HUNG_UP (with hung_up)
  if (const auto subscription = subscription_.lock()) {
    subscription->wake();  // to drain what was published before the end
    subscription->status().publishers_changed();
    meet_who_waited(*subscription);
  }
}

void SubscriberEnd::meet_who_waited(Subscription& subscription) const noexcept {
  if (is_foreign() && subscription.stranger_went()) session_->introduce_again(subscription);
}

void SubscriberEnd::handle(Channel::Input& input) {
  if (!authenticated_) {
    require_user(input.credentials, introduction_.same_user);
    authenticated_ = true;
  }
  const bool same_user = introduction_.same_user;
  if (same_user && std::holds_alternative<wire::DoorbellTaken>(input.message)) {
    if (std::exchange(attached_, true)) throw Violation("DoorbellTaken came twice");
    if (!in_place_) {
      read_pieces("their type has maps, which are made anew in each process");
    } else if (reading_ == Reading::view) {
      read_pieces("the subscriber asks for it");
    } else if (!introduction_.same_layout) {
      read_pieces("its process was built with another layout of the type (another standard library or compiler flags)");
    }
    const int fd = ack_fd_.get();
    channel_.send(wire::Attach{static_cast<std::uint32_t>(ack_file_size())}, {&fd, 1});
  } else if (const auto* ring = std::get_if<wire::Ring>(&input.message)) {
    on_ring(*ring, input.descriptors[0]);
  } else if (const auto* chunk = std::get_if<wire::Chunk>(&input.message)) {
    on_chunk(*chunk, input.descriptors[0]);
  } else if (const auto* withdrawn = std::get_if<wire::ChunkWithdrawn>(&input.message)) {
    on_withdrawn(*withdrawn);
  } else if (!same_user && std::holds_alternative<wire::News>(input.message)) {
    channel_.send(wire::NewsTaken{});  // before we look: what comes after is news again
    if (const auto subscription = subscription_.lock()) subscription->wake();
  } else if (same_user && std::holds_alternative<wire::Space>(input.message)) {
    if (space_ || ring_) throw Violation("Space came twice, or after Ring");
    if (!os::is_eventfd(input.descriptors[0])) throw Violation("Space carries no eventfd");
    space_ = std::move(input.descriptors[0]);
  } else if (const auto* error = std::get_if<wire::ErrorText>(&input.message)) {
    throw Farewell("the publisher says: " + base::printable(error->text));
  } else {
    throw Violation(std::string(wire::name_of(input.message)) + " is not for a subscriber");
  }
}

void SubscriberEnd::on_ring(const wire::Ring& message, const os::Fd& memfd) {
  if (ring_) throw Violation("Ring came twice");
  if (message.size < sizeof(shm::RingLayout)) throw Violation("the ring is too small");
  if (message.start == 0) throw Violation("sequences start at 1");
  if (message.start > last_sequence) throw Violation("no publisher has published so many messages");
  const auto subscription = subscription_.lock();
  if (is_foreign() && subscription && !subscription->has_room_for_stranger(this)) {
    const std::string why = subscription->turn_stranger_away(peer());
    channel_.complain(why.c_str());
    return hang_up(why.c_str());
  }
  Attached attached = attach_mapping(memfd, message.size, std::nullopt, access());
  if (attached.violation) throw Violation("the ring: " + attached.why);
  if (!attached.mapping) throw Shortage("the ring cannot be mapped: " + attached.why);
  ring_mapping_ = std::move(attached.mapping);
  ring_ = std::launder(reinterpret_cast<const shm::RingLayout*>(ring_mapping_->data()));
  if (!shm::is_understood(*ring_)) throw Violation("the ring has another layout version: use the same version of sinew in both processes");
  claims_.emplace(*ack_, *ring_, counts());
  blocked_publisher_.emplace(ring_->header.blocked);
  quota_ = message.quota;
  claims_->advance_cursor(message.start - 1);
  history_end_ = claims_->head();
  if (subscription && follows_ > 0) {
    // Anew: who takes may have been about to take one more of the connection before this.
    follows_ = std::max(follows_, subscription->decided_of(introduction_.identity));
    missed_.fetch_add(subscription->take_untold_of(introduction_.identity), std::memory_order_relaxed);
  }
  if (follows_ >= message.start) {
    claims_->advance_cursor(std::min(follows_, history_end_));
  } else if (follows_ > 0) {
    lost((message.start - 1 - follows_) / thinning_.every());
  }
  ack_fd_.reset();
  serving_.store(true, std::memory_order_release);  // sync: SERVING (with has_news)
  if (!subscription) return;
  subscription->wake();
  subscription->status().publishers_changed();
}

// Before newest_chunk_ says so: no frame of a chunk that lies elsewhere is read in place.
void SubscriberEnd::read_pieces(const std::string& why) {
  base::log(base::LogLevel::info, "messages of node '" + peer() + "' are not read in place: " + why);
  {
    const std::lock_guard lock(chunks_mutex_);
    why_not_in_place_ = why;
  }
  channel_.send(wire::ReadsPieces{});
  reads_pieces_.store(true, std::memory_order_release);  // sync: READS_PIECES (with take)
  if (!must_copy_) tell_path();
}

std::uint64_t SubscriberEnd::most_pieces() const noexcept {
  return introduction_.same_user ? most_local_pieces : 1;  // M40
}

// --- data --------------------------------------------------------------------------------------------------------------------------

bool SubscriberEnd::has_news() const noexcept {
  if (!serving_.load(std::memory_order_acquire)) return false;  // sync: SERVING (with on_ring)
  const std::uint64_t head = this->head();
  if (head <= claims_->cursor()) return false;  // less: the memory of the publisher is wrong, and nothing to run after
  if (hung_up_.load(std::memory_order_acquire)) return head <= last_sequence;  // sync: HUNG_UP (with hang_up)
  if (head >= stalled_until_.load(std::memory_order_relaxed)) return true;
  const std::uint64_t without_pieces = stalled_for_pieces_.load(std::memory_order_relaxed);
  if (without_pieces > claims_->cursor() && !claims_->has_pieces(without_pieces)) return false;
  // sync: TOLD_CHUNK (with on_chunk)
  return stalled_for_.load(std::memory_order_relaxed) <= newest_chunk_.load(std::memory_order_acquire);
}

void SubscriberEnd::prefetch() const noexcept {
  if (!serving_.load(std::memory_order_acquire)) return;  // sync: SERVING (with on_ring)
  claims_->prefetch_next();
  __builtin_prefetch(prefetched_chunks_.load(std::memory_order_relaxed));
}

// A frame that is gone is passed over by take().
std::optional<std::int64_t> SubscriberEnd::next_from_history() const noexcept {
  if (!serving_.load(std::memory_order_acquire)) return std::nullopt;  // sync: SERVING (with on_ring)
  const std::uint64_t end = std::min(history_end_, claims_->cursor() + shm::ring_capacity);
  for (std::uint64_t next = claims_->cursor() + 1; next <= end; ++next) {
    if (const auto time = claims_->source_time(next)) return time;
  }
  return std::nullopt;
}

std::uint64_t SubscriberEnd::head() const noexcept {
  return std::min(claims_->head(), end_.load(std::memory_order_relaxed));
}

bool SubscriberEnd::finished() const noexcept {
  return hung_up_.load(std::memory_order_acquire) && !has_news();  // sync: HUNG_UP (with hang_up)
}

std::uint64_t SubscriberEnd::waiting() const noexcept {
  if (!serving_.load(std::memory_order_acquire)) return 0;  // sync: SERVING (with on_ring)
  const std::uint64_t head = this->head(), cursor = claims_->cursor();
  return head > cursor && head <= last_sequence ? head - cursor : 0;
}

void SubscriberEnd::lost(std::uint64_t count) noexcept {
  missed_.fetch_add(count, std::memory_order_relaxed);
  shm::add(ack_->missed, count);
  shm::add(counts().missed, count);
  if (loss_listener_) loss_listener_->raise();
  if (!hung_up_.load(std::memory_order_relaxed)) tell_lost(count);  // relaxed: who ends it tells of it as well
}

void SubscriberEnd::tell_lost(std::uint64_t count) const noexcept {
  if (endpoint() == 0) return;
  const auto subscription = subscription_.lock();
  const auto watcher = subscription ? subscription->options().watcher.lock() : nullptr;
  if (watcher) watcher->messages_lost(endpoint(), count);
}

void SubscriberEnd::lose_taken() noexcept {
  ack_->received.store(ack_->received.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  lost(1);
}

void SubscriberEnd::skipped(std::uint64_t count) noexcept {
  if (count > 0) shm::add(counts().skipped, count);
}

void SubscriberEnd::count_received(std::int64_t published, std::uint64_t copied) noexcept {
  shm::add(counts().messages, 1);
  if (copied > 0) shm::add(counts().bytes_copied, copied);
  if (shm::wants_latency(counts(), published)) shm::count_latency(counts(), published, os::now_ns());
}

std::shared_ptr<const ChunkTable> SubscriberEnd::refresh_chunks() {
  const std::uint64_t version = chunks_version_.load(std::memory_order_acquire);  // sync: CHUNKS (with on_chunk)
  if (version == seen_version_) return nullptr;
  seen_version_ = version;
  std::shared_ptr<const ChunkTable> before = std::exchange(seen_chunks_, chunks());
  prefetched_chunks_.store(seen_chunks_.get(), std::memory_order_relaxed);
  return before;
}

// Made after their frame, in a chunk that came after it (M38).
bool SubscriberEnd::is_yet_to_come(std::uint64_t pieces) const noexcept {
  const wire::Window& window = introduction_.window;
  return introduction_.same_user && pieces >= window.base && pieces - window.base < window.size && !seen_chunks_->around(pieces);
}

std::optional<Arrival> SubscriberEnd::take(std::uint32_t depth) {
  refresh_chunks();
  // Who writes nonsense into a ring faster than we can pass over it must not keep us here.
  for (std::uint32_t passed = 0; passed < 2 * shm::ring_capacity && has_news(); ++passed) {
    // sync: HUNG_UP (with hang_up)
    const bool no_more_chunks = hung_up_.load(std::memory_order_acquire);  // before newest_chunk_: what came before the end counts
    const std::uint64_t head = this->head(), cursor = claims_->cursor();
    if (head <= cursor) return std::nullopt;
    if (head > last_sequence) {
      base::log(base::LogLevel::warn, "connection to publisher '" + peer() + "' ended: its ring has an impossible head");
      tell_lost(0);
      hung_up_.store(true, std::memory_order_release);  // sync: HUNG_UP (with hung_up)
      if (const auto subscription = subscription_.lock()) {
        subscription->status().publishers_changed();
        meet_who_waited(*subscription);
      }
      return std::nullopt;
    }
    const std::uint64_t reach = std::min<std::uint64_t>(depth == 0 ? shm::ring_capacity : depth, reach_limit_);
    const std::uint64_t oldest = head - cursor > reach ? head - reach + 1 : cursor + 1;
    std::uint64_t next = thinning_.next_from(cursor + 1);
    const std::uint64_t gone = next < oldest ? (oldest - next + thinning_.every() - 1) / thinning_.every() : 0;
    next += gone * thinning_.every();
    if (gone > 0) lost(gone);
    skipped(std::min(next - 1, head) - cursor - gone);
    if (next > head) {
      claims_->advance_cursor(head);
      tell_blocked_publisher(head);
      continue;
    }
    shm::Claims::Claim claim = claims_->claim_frame(next);
    const bool exhausted = claim.outcome == shm::Claims::Outcome::exhausted;
    if (exhausted) claim = claims_->claim_frame(next, true);
    const bool claimed = claim.outcome == shm::Claims::Outcome::claimed;
    const auto leave_pending = [&] {
      claims_->release(claim.slot);
      if (next > cursor + 1) claims_->advance_cursor(next - 1);
      stalled_until_.store(next + reach, std::memory_order_relaxed);
    };
    const auto leave_pending_for = [&](std::uint64_t chunk) {
      leave_pending();
      stalled_for_.store(chunk, std::memory_order_relaxed);
    };
    const std::uint64_t newest_chunk = newest_chunk_.load(std::memory_order_acquire);  // sync: TOLD_CHUNK (with on_chunk)
    if (claimed && claim.frame.newest_chunk > newest_chunk) {
      // Announced on the socket, published in the ring: the ring was faster (S7). The loop wakes us when the chunk is mapped.
      if (no_more_chunks) {
        leave_pending();
        claims_->advance_cursor(head);
        const std::uint64_t wanted = (head - next) / thinning_.every() + 1;
        lost(wanted);
        skipped(head - next + 1 - wanted);
        return std::nullopt;
      }
      leave_pending_for(claim.frame.newest_chunk);
      continue;
    }
    // sync: READS_PIECES (with read_pieces)
    const bool in_pieces = reads_pieces_.load(std::memory_order_acquire);  // after newest_chunk_, see read_pieces()
    if (in_pieces && claimed && claim.frame.pieces == shm::pieces_unknown && !no_more_chunks) {
      // Published before the publisher knew that we need them. It makes them now, and rings; but not those of a frame that newer ones have pushed out for it (PublisherEnd::decided).
      leave_pending();
      stalled_for_pieces_.store(next, std::memory_order_relaxed);
      continue;
    }
    refresh_chunks();  // after newest_chunk_
    const bool lacks_pieces_chunk = in_pieces && claimed && is_yet_to_come(claim.frame.pieces);
    if (lacks_pieces_chunk && !no_more_chunks) {
      leave_pending_for(newest_chunk + 1);
      continue;
    }
    SINEW_POINT("subscriber.claimed");
    claims_->advance_cursor(next);
    tell_blocked_publisher(head);
    if (claimed && !thinning_.wants(next, claim.frame.source_time)) {
      claims_->release(claim.slot);
      skipped(1);
      continue;
    }
    const std::int64_t lifespan = introduction_.qos.lifespan;
    // Not the age: of what a stranger says the source time is, that may be no number.
    if (lifespan > 0 && claimed && claim.frame.source_time < os::now_ns() - lifespan) {
      claims_->release(claim.slot);
      shm::add(counts().expired, 1);
      if (loss_listener_) loss_listener_->raise();
      continue;
    }
    if (lacks_pieces_chunk || (in_pieces && claimed && claim.frame.pieces <= shm::pieces_impossible)) {
      claims_->release(claim.slot);
      lost(1);
      continue;
    }
    if (!claimed) {
      // Still within our depth: no newer message has pushed it out. An export is written over a little before that, and nothing of it is withdrawn.
      if (introduction_.same_user && claims_->head() - next < reach) shm::add(counts().withdrawn, 1);
      lost(1);
      continue;
    }
    shm::add(ack_->received, 1);
    const bool over_quota = exceeds_quota(claim) || exhausted;
    if (over_quota) shm::add(counts().over_quota, 1);
    return Arrival{this, seen_chunks_.get(), claim.frame, claim.slot, over_quota || must_copy_, in_pieces, take_untold()};
  }
  return std::nullopt;
}

// What is held is counted up only when all that was taken since the last time could be too much: so letting go of a message need not count.
bool SubscriberEnd::exceeds_quota(const shm::Claims::Claim& claim) noexcept {
  const std::uint64_t size = claim.frame.size;
  const auto is_too_much = [&] { return size > quota_ || bytes_held_ > quota_ - size; };
  slot_bytes_[claim.slot] = 0;
  if (is_too_much()) {
    bytes_held_ = 0;
    claims_->for_each_held([&](std::uint32_t slot) { bytes_held_ += slot_bytes_[slot]; });
  }
  const bool exceeds = bytes_held_ > 0 && is_too_much();
  slot_bytes_[claim.slot] = size;
  bytes_held_ += size;
  return exceeds;
}

// Dekker with Publisher::wait_for_space(). Rings when half of the ring is free, so that the publisher goes on in bursts, not frame by frame.
void SubscriberEnd::tell_blocked_publisher(std::uint64_t head) noexcept {
  if (!space_ || head - claims_->cursor() > shm::ring_capacity / 2) return;
  if (blocked_publisher_->must_ring()) os::ring(space_.get());
}

void SubscriberEnd::release(std::uint32_t slot) noexcept {
  if (forked()) return;
  claims_->release(slot);
}

void SubscriberEnd::unsubscribe() noexcept {
  try {
    channel_.send(wire::Unsubscribe{});
  } catch (const std::exception& error) {
    channel_.complain(error.what());
  }
}

bool SubscriberEnd::cancel_call(std::uint64_t call) noexcept {
  if (!is_served()) return true;
  try {
    channel_.send(wire::CancelCall{call});
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::exception& error) {
    base::log(base::LogLevel::warn, error.what());
  }
  return true;
}

}  // namespace sinew::session
