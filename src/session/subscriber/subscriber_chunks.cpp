// The publisher's chunks, as a SubscriberEnd maps them and lets go of them.
#include <algorithm>
#include <list>
#include <mutex>
#include <string>
#include <utility>

#include "base/point.hpp"
#include "session/node/node_session.hpp"
#include "session/subscriber/subscriber_end.hpp"
#include "session/subscriber/subscription.hpp"

namespace sinew::session {
namespace {

constexpr std::size_t max_chunks = 4096;
constexpr std::uint64_t most_exported = std::uint64_t{16} << 30;  // what a publisher of another user may have us map; it pays for it

}  // namespace

// The answer goes out when all that is in the socket was read (answer_chunk): so another chunk that is found there was sent before it.
void SubscriberEnd::on_chunk(const wire::Chunk& message, const os::Fd& memfd) {
  if (chunk_unanswered_ != 0) throw Violation("a chunk came before the one before it was answered");
  const wire::Window& window = introduction_.window;
  // relaxed: only this thread writes it
  if (message.id <= newest_chunk_.load(std::memory_order_relaxed)) throw Violation("chunk ids must ascend");
  const bool lies_in_window = message.address >= window.base && message.size <= window.size &&
                              message.address - window.base <= window.size - message.size && message.address % os::page_size() == 0;
  if (message.size == 0 || (introduction_.same_user && !lies_in_window)) throw Violation("a chunk does not lie in its publisher's window");
  const auto before = chunks();
  const bool too_many =
      introduction_.same_user
          ? before->entries.size() >= max_chunks || message.size > window.size - std::min(chunk_bytes_, window.size)
          : before->entries.size() > shm::export_depth || message.size > most_exported - std::min(chunk_bytes_, most_exported);
  if (too_many) throw Violation("too many chunks");
  SharedMapping mapping = map_chunk(message, memfd);
  SINEW_POINT("subscriber.chunk_mapped");
  auto after = std::make_shared<ChunkTable>(*before);
  after->entries.push_back({message.id, message.address, message.size, answered_when_unmapped(std::move(mapping), message.id)});
  std::sort(after->entries.begin(), after->entries.end(), [](const auto& a, const auto& b) { return a.address < b.address; });
  chunk_bytes_ += message.size;
  after->bytes = chunk_bytes_;
  {
    const std::lock_guard lock(chunks_mutex_);
    chunks_ = std::move(after);
  }
  chunks_version_.fetch_add(1, std::memory_order_release);     // sync: CHUNKS (with refresh_chunks)
  newest_chunk_.store(message.id, std::memory_order_release);  // sync: TOLD_CHUNK (with take)
  chunk_unanswered_ = message.id;
  if (const auto subscription = subscription_.lock()) subscription->wake();
}

void SubscriberEnd::answer_chunk() {
  if (chunk_unanswered_ == 0) return;
  channel_.send(wire::ChunkMapped{chunk_unanswered_});
  chunk_unanswered_ = 0;
}

// What strangers send, however much that is, must not keep this thread: its pages come when they are read. They cannot fail to, for the file is sealed, and all of it was there when it was looked at.
os::Access SubscriberEnd::access() const noexcept {
  return introduction_.same_user ? os::Access::read : os::Access::read_when_touched;
}

SharedMapping SubscriberEnd::map_chunk(const wire::Chunk& message, const os::Fd& memfd) {
  if (!reads_pieces_.load(std::memory_order_relaxed)) {
    Attached in_place = attach_mapping(memfd, message.size, message.address);
    if (in_place.violation) throw Violation("a chunk: " + in_place.why);
    if (in_place.mapping) return std::move(in_place.mapping);
    const std::string why = "the publisher's memory cannot be mapped in this process at its address: " + in_place.why;
    if (reading_ == Reading::native) throw Violation(why);
    read_pieces(why);
  }
  Attached anywhere = attach_mapping(memfd, message.size, std::nullopt, access());
  if (anywhere.violation) throw Violation("a chunk: " + anywhere.why);
  if (!anywhere.mapping) throw Shortage("the publisher's memory cannot be mapped in this process at any address: " + anywhere.why);
  return std::move(anywhere.mapping);
}

// The publisher uses the addresses again, and gives other chunks back, only after this answer, so it is sent when the last table that held the mapping is gone, on whatever thread (F3); if it cannot be, with what is read next.
SharedMapping SubscriberEnd::answered_when_unmapped(SharedMapping mapping, std::uint64_t chunk) {
  const os::Mapping* const plain = mapping.get();
  std::list<std::uint64_t> note{chunk};  // made now: there may be no memory then
  return {plain, [mapping = std::move(mapping), end = weak_from_this(), note = std::move(note)](const os::Mapping*) mutable {
            mapping.reset();
            const auto alive = end.lock();
            if (!alive || alive->channel_.try_send(wire::ChunkUnmapped{note.front()})) return;
            const std::lock_guard lock(alive->chunks_mutex_);
            alive->unmapped_untold_.splice(alive->unmapped_untold_.end(), note);
          }};
}

void SubscriberEnd::tell_unmapped() {
  const std::lock_guard lock(chunks_mutex_);
  for (; !unmapped_untold_.empty(); unmapped_untold_.pop_front()) channel_.send(wire::ChunkUnmapped{unmapped_untold_.front()});
}

void SubscriberEnd::on_withdrawn(const wire::ChunkWithdrawn& message) {
  const auto before = chunks();
  auto after = std::make_shared<ChunkTable>(*before);
  const auto found = std::find_if(after->entries.begin(), after->entries.end(), [&](const auto& entry) { return entry.id == message.id; });
  if (found == after->entries.end()) {
    channel_.send(wire::ChunkUnmapped{message.id});
  } else {
    chunk_bytes_ -= found->size;
    after->bytes = chunk_bytes_;
    after->entries.erase(found);
    const std::lock_guard lock(chunks_mutex_);
    chunks_ = std::move(after);
    chunks_version_.fetch_add(1, std::memory_order_release);  // sync: CHUNKS (with refresh_chunks)
  }
  // sync: TOLD_CHUNK (with take); relaxed: only this thread writes it
  if (message.id > newest_chunk_.load(std::memory_order_relaxed)) newest_chunk_.store(message.id, std::memory_order_release);
  if (const auto subscription = subscription_.lock()) {
    subscription->let_go_of_chunks(*this);
    subscription->wake();  // a frame may have waited for this id
  }
}

std::shared_ptr<const ChunkTable> SubscriberEnd::forget_chunks() noexcept {
  prefetched_chunks_.store(nullptr, std::memory_order_relaxed);
  return std::exchange(seen_chunks_, nullptr);
}

std::shared_ptr<const ChunkTable> SubscriberEnd::chunks() const {
  const std::lock_guard lock(chunks_mutex_);
  return chunks_;
}

}  // namespace sinew::session
