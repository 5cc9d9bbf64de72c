// The subscriber's end of a pair: one publisher, its ring and chunks as mapped here, and the claims on its frames.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "os/fd.hpp"
#include "session/counters.hpp"
#include "session/io/channel.hpp"
#include "session/io/io_loop.hpp"
#include "session/mappings.hpp"
#include "session/qos/liveliness.hpp"
#include "session/qos/thinning.hpp"
#include "session/reading.hpp"
#include "shm/bell.hpp"
#include "shm/ring.hpp"
#include "sinew/message_info.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

class Doorbell;
class Listener;
class NodeSession;
class SubscriberEnd;
class Subscription;

/// The chunks of a publisher that are mapped here. Immutable: a change makes a new table, so that a reader keeps what it looks at.
struct ChunkTable {
  struct Entry {
    std::uint64_t id = 0;
    std::uintptr_t address = 0;  ///< the publisher's; here it may lie elsewhere
    std::size_t size = 0;
    SharedMapping mapping;
  };
  std::vector<Entry> entries;  // by address
  std::uint64_t bytes = 0;     // of all of them

  /// The chunk around its publisher's address, or null.
  const Entry* around(std::uintptr_t address) const noexcept;
  /// Where the publisher's range lies here; null when it is not in one chunk as a whole.
  const std::byte* find(std::uint64_t address, std::uint64_t size) const noexcept;
  /// The pieces that the table at the publisher's address names, as they lie here: 1 to `most`, each in one chunk, of no more bytes than there are. False when they do not make
  /// sense. Throws std::bad_alloc when there is no memory to list them.
  bool gather(std::uint64_t table, std::uint64_t most, std::vector<std::span<const std::byte>>& into) const;
};

/// A claimed frame. Whoever owns it calls end->release(slot), once, from any thread.
struct Arrival {
  SubscriberEnd* end = nullptr;        ///< kept alive by its subscription during the call; who keeps the frame longer takes a reference
  const ChunkTable* chunks = nullptr;  ///< valid during the call
  shm::Frame frame;
  std::uint32_t slot = 0;
  bool must_copy = false;    ///< copy the message and release the claim before taking the next
  bool in_pieces = false;    ///< root() is not for this process: gather_pieces()
  std::uint64_t missed = 0;  ///< frames of this publisher lost since the one before

  const void* root() const noexcept { return reinterpret_cast<const void*>(frame.root); }
  /// The pieces of the message as they lie here, checked to be in the publisher's memory. False when they do not make sense, or there is no memory to list them. The list is the caller's own, the bytes may
  /// change, if the publisher's process runs wild.
  bool gather_pieces(std::vector<std::span<const std::byte>>& into) const;
};

/// Lives as long as the subscription serves it or a handle holds one of its frames; the socket closes, and the window is reported unmapped, with the last of them (F2).
class SubscriberEnd final : public IoLoop::Handler, public std::enable_shared_from_this<SubscriberEnd> {
 public:
  /// `manager`: whose introduction it is (ManagerLink::manager).
  SubscriberEnd(std::weak_ptr<Subscription> subscription, std::shared_ptr<NodeSession> session, os::Fd socket,
                wire::ConnectSubscriber introduction, std::uint64_t manager, Counters::Slot counts, Thinning::Options thinning,
                Reading reading, bool in_place);
  ~SubscriberEnd();

  /// Who is told of losses; may be null. Before start().
  void tell_losses_to(std::shared_ptr<Listener> listener) noexcept { loss_listener_ = std::move(listener); }
  /// What this publisher has published up to here was decided about by connections before this one. Before start().
  void follow(std::uint64_t decided) noexcept { follows_ = decided; }
  /// Watches the socket and starts the handshake. On the loop's thread.
  void start(const Doorbell& doorbell);

  const std::string& peer() const noexcept { return introduction_.peer; }
  std::uint64_t endpoint() const noexcept { return introduction_.endpoint; }
  /// The publisher is another user's.
  bool is_foreign() const noexcept { return !introduction_.same_user; }
  /// Of the publisher, as RegisterPublisher says.
  std::uint64_t identity() const noexcept { return introduction_.identity; }
  /// As the manager names it that introduced the pair last. Not used again for another pair of this node.
  std::uint64_t connection() const noexcept { return connection_.load(std::memory_order_relaxed); }

  // --- when there is another manager, on the loop's thread ---
  /// Whether this connection is with the publisher that is introduced, and stands. Reads first what the publisher has said, which may be that it ends.
  bool is_with(const wire::ConnectSubscriber& introduction);
  /// Whether this connection stands. Reads first what the publisher has said.
  bool stands();
  /// The manager introduces the two that are connected already: it hears how. False when that one had introduced them before, and so counts the window once too often.
  bool introduced_again(std::uint64_t connection, std::uint64_t manager);

  // --- the data path: one thread at a time, the subscription's ---
  /// True when take() would find something to do. Wait-free; may be called while another thread is in take().
  bool has_news() const noexcept;
  /// Brings what take() will need into this core's cache, all at once and without waiting for it.
  void prefetch() const noexcept;
  /// Looks at the chunks that are mapped now. What was looked at before, which ends what is mapped no more when the caller lets go of it; null when nothing has changed.
  std::shared_ptr<const ChunkTable> refresh_chunks();
  /// Nothing is taken any more: what was looked at keeps nothing mapped from now on, see refresh_chunks().
  std::shared_ptr<const ChunkTable> forget_chunks() noexcept;
  /// Claims the next frame, or nothing when there is none, or its chunk is not mapped yet. `depth` 0: keep all.
  std::optional<Arrival> take(std::uint32_t depth);
  /// When the next message was published, if the publisher kept it for those who come late.
  std::optional<std::int64_t> next_from_history() const noexcept;
  /// What the publisher has kept, if it keeps anything, is known from now on.
  bool has_told_history() const noexcept { return serving_.load(std::memory_order_acquire) || hung_up(); }  // sync: SERVING (with on_ring)
  bool keeps_history() const noexcept { return introduction_.qos.durability == wire::Durability::transient_local; }
  /// The publisher is gone and everything it published has been decided about.
  bool finished() const noexcept;

  /// For frames of another user's publisher, which stay only as long as it likes: what was read of it is of this frame.
  bool is_still_there(const shm::Frame& frame) const noexcept { return introduction_.same_user || claims_->is_still_there(frame.sequence); }
  /// So many pieces may a message have.
  std::uint64_t most_pieces() const noexcept;
  /// A frame that was taken turned out to be gone.
  void lose_taken() noexcept;
  /// A frame that was taken is not delivered: what was missed before it, as its Arrival says, is told with the next one.
  void not_delivered(std::uint64_t missed) noexcept { missed_.fetch_add(missed, std::memory_order_relaxed); }

  // --- any thread ---
  /// Nothing while it does not serve yet.
  std::optional<Sighting> sighting() const;
  /// When it published its newest message for us; 0: none yet.
  std::int64_t newest() const noexcept;
  void release(std::uint32_t slot) noexcept;
  /// Nothing is claimed any more; what handles hold stays.
  void unsubscribe() noexcept;
  /// False when there was no memory for it.
  bool cancel_call(std::uint64_t call) noexcept;
  std::uint64_t held() const noexcept;
  /// Adds up what was missed, withdrawn, skipped, expired, or beyond the quota.
  void count_losses(SubscriberStatistics& into) const noexcept;
  /// All of this one was taken, for which the connection behind it had to wait.
  void make_way(const Subscription& subscription) const noexcept;
  bool is_awaited = false;  // it has to; guarded by the subscription's mutex
  /// It ended though the publisher goes on, which may be introduced again.
  bool is_cut_off() const noexcept { return hung_up() && is_cut_off_.load(std::memory_order_relaxed); }
  /// Of one that is cut off, when it is finished or forgotten: what follow() says of the next one.
  std::uint64_t decided() const noexcept;
  /// Losses that no message has told of yet; once.
  std::uint64_t take_untold() noexcept {
    return missed_.load(std::memory_order_relaxed) > 0 ? missed_.exchange(0, std::memory_order_relaxed) : 0;
  }
  /// What is published from now on is for this subscriber.
  bool is_served() const noexcept { return serving_.load(std::memory_order_acquire) && !hung_up(); }  // sync: SERVING (with on_ring)
  bool hung_up() const noexcept { return hung_up_.load(std::memory_order_acquire); }                  // sync: HUNG_UP (with hang_up)
  MatchedPublisher matched() const;
  /// A frame that was taken is about to be handed out; so many bytes of it were copied. The subscription's thread.
  void count_received(std::int64_t published, std::uint64_t copied) noexcept;
  /// Published, but not decided about by this reader.
  std::uint64_t waiting() const noexcept;
  /// Of how many one is wanted.
  std::uint32_t every() const noexcept { return thinning_.every(); }

 private:
  void on_event(const os::Poller::Event& event) override { read(event, longest_turn); }
  static constexpr std::int64_t longest_turn = 1'000'000;
  /// What is in the socket, no more than one connection may have read in one turn of the loop; so much time, in nanoseconds, has what takes long.
  void read(const os::Poller::Event& event, std::int64_t longest);
  void handle(Channel::Input& input);
  void fail(const std::exception& why);
  void hang_up(const char* why) noexcept;
  /// In the place that this one leaves.
  void meet_who_waited(Subscription& subscription) const noexcept;
  /// There is nothing behind it for this connection. REQUIRES: it serves.
  std::uint64_t head() const noexcept;
  /// How its messages are read; one that is beyond the quota is copied, whatever this says.
  wire::Path path() const noexcept { return path_of(must_copy_, reads_pieces_.load(std::memory_order_relaxed)); }
  /// Why messages are not read in place; empty when they are.
  std::string why_not_in_place() const;
  void tell_path();
  void on_ring(const wire::Ring& message, const os::Fd& memfd);
  void on_chunk(const wire::Chunk& message, const os::Fd& memfd);
  void on_withdrawn(const wire::ChunkWithdrawn& message);
  SharedMapping map_chunk(const wire::Chunk& message, const os::Fd& memfd);
  void answer_chunk();
  void tell_unmapped();
  os::Access access() const noexcept;
  void read_pieces(const std::string& why);
  void tell_blocked_publisher(std::uint64_t head) noexcept;
  bool exceeds_quota(const shm::Claims::Claim& claim) noexcept;
  void lost(std::uint64_t count) noexcept;
  void tell_lost(std::uint64_t count) const noexcept;
  void skipped(std::uint64_t count) noexcept;
  std::shared_ptr<const ChunkTable> chunks() const;
  shm::PairCounts& counts() const noexcept { return counts_.taken(); }
  SharedMapping answered_when_unmapped(SharedMapping mapping, std::uint64_t chunk);
  bool is_yet_to_come(std::uint64_t pieces) const noexcept;

  // What take() reads and writes for every frame stands together, so that a thread that has just woken waits for few cache lines.
  // pair SERVING: who sees it finds ring, claims and cursor.
  alignas(64) std::atomic<bool> serving_{false};  // set last, when the ring is mapped and the cursor stands
  // pair HUNG_UP: who sees the end sees the last chunk that came before it, and what the ring says then is the last.
  std::atomic<bool> hung_up_{false};
  // pair TOLD_CHUNK: who sees a chunk's id finds it mapped, and knows whether pieces are read.
  std::atomic<std::uint64_t> newest_chunk_{0};
  // relaxed, both of them: written and read by who takes; others may take it for awake or asleep a moment too long
  std::atomic<std::uint64_t> stalled_for_{0};  // the chunk that the next frame waits for
  std::atomic<std::uint64_t> stalled_until_{
      0};  // or, for that chunk or its pieces never come, the head at which newer frames have pushed it out
  // pair CHUNKS: who sees the version finds the table, or a newer one, under chunks_mutex_.
  std::atomic<std::uint64_t> chunks_version_{1};
  std::uint64_t quota_ = 0;
  std::uint64_t bytes_held_ = 0;  // by the sizes in their entries; of what was let go some may still be counted, see exceeds_quota()
  const Counters::Slot counts_;
  std::uint64_t history_end_ = 0;
  Thinning thinning_;
  std::atomic<std::uint64_t> end_{~std::uint64_t{0}};  // relaxed: see fail()
  std::atomic<std::uint64_t> stalled_for_pieces_{0};   // relaxed: as stalled_for_; the frame that has none yet
  // pair READS_PIECES: who takes knows it before the first chunk that lies elsewhere. relaxed: the loop's thread, which writes it; and who only tells it
  std::atomic<bool> reads_pieces_{false};
  const bool must_copy_;
  const std::uint32_t reach_limit_;       // so many of the newest frames can be had at all
  std::atomic<std::uint64_t> missed_{0};  // relaxed: of who takes; and, when it has ended, of the connection behind it
  std::uint64_t seen_version_ = 0;
  std::shared_ptr<const ChunkTable> seen_chunks_;
  std::atomic<const ChunkTable*> prefetched_chunks_{nullptr};  // relaxed: the same, for prefetch(), which looks at nothing of it
  std::optional<shm::Claims> claims_;
  shm::AckPage* ack_ = nullptr;
  const shm::RingLayout* ring_ = nullptr;
  os::Fd space_;
  std::optional<shm::Ringer> blocked_publisher_;
  std::array<std::uint64_t, shm::max_claims> slot_bytes_{};  // the size of the frame that was claimed last in each
  std::shared_ptr<Listener> loss_listener_;
  const std::int64_t introduced_at_;

  const std::weak_ptr<Subscription> subscription_;
  const std::shared_ptr<NodeSession> session_;
  const wire::ConnectSubscriber introduction_;
  std::atomic<std::uint64_t> connection_;  // relaxed: only what is told of the path follows from it
  std::uint64_t manager_;                  // the loop's, and of who ends it
  Channel channel_;
  std::uint64_t follows_ = 0;            // 0: there was none before, or it is not known
  std::atomic<bool> is_cut_off_{false};  // relaxed: written before hung_up_, but for a publisher whose memory is wrong
  bool authenticated_ = false;
  bool attached_ = false;
  os::Fd ack_fd_;
  SharedMapping ack_mapping_, ring_mapping_;
  mutable std::mutex chunks_mutex_;
  std::shared_ptr<const ChunkTable> chunks_;  // guarded by chunks_mutex_
  std::string why_not_in_place_;              // likewise
  std::list<std::uint64_t> unmapped_untold_;  // likewise: chunks of which the publisher could not be told, for want of memory
  const Reading reading_;
  const bool in_place_;                 // its type is one that can be read so
  std::uint64_t chunk_bytes_ = 0;       // the loop's
  std::uint64_t chunk_unanswered_ = 0;  // likewise
};

}  // namespace sinew::session
