// A publisher without its message type: window, ring, the frames it still keeps, and the readers it serves.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "os/fd.hpp"
#include "session/counters.hpp"
#include "session/endpoint.hpp"
#include "session/in_process/local_delivery.hpp"
#include "session/in_process/objects.hpp"
#include "session/io/loop_timer.hpp"
#include "session/publisher/export.hpp"
#include "session/publisher/kept_frames.hpp"
#include "session/publisher/new_frame.hpp"
#include "session/publisher/publisher_status.hpp"
#include "session/qos/incompatible_peers.hpp"
#include "shm/ring.hpp"
#include "shm/window.hpp"
#include "sinew/message_info.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

class NodeSession;
class ForeignEnd;
class PublisherEnd;
class Subscription;

/// What the owner of the message type knows about the storage of a frame. Each `root` is of a frame that has one.
class FrameStorage {
 public:
  /// Gives every block of the frame back to the window, its root included, writing nothing to the message.
  virtual void release(const void* root, shm::Window::Freeing& blocks) const noexcept = 0;
  /// A copy of a message in the window, which may withdraw frames that are in the way; not in the window when there is no memory.
  virtual NewFrame copy_in(const void* object, shm::Window& window) const noexcept = 0;
  /// Makes the frame's shm::PieceTable, one block of the window. Null when it cannot be had. `make_room`: frames that are in the way may be withdrawn.
  virtual void* write_pieces(const void* root, shm::Window& window, bool make_room) const noexcept = 0;
  /// Bytes of the frame's CDR stream; 0 when it has none.
  virtual std::uint64_t stream_size(const void* root) const noexcept = 0;
  virtual void write_stream(const void* root, std::byte* into) const noexcept = 0;
  /// Appends the address of every block of the frame, its root included.
  virtual void list(const void* root, std::vector<const void*>& into) const = 0;

 protected:
  ~FrameStorage() = default;
};

/// Thread-safe. publish() calls of several threads follow one another.
///
/// Invariants:
/// * Every connection whose reader may claim is in `connections_` before its ring is sent (S3), until the reader's process has let go of its socket (F2).
/// * A frame's storage is released only after it was retired in the ring and then found in no connection's claims.
/// * Chunks are announced to a connection in order of their ids, and a frame is published after the announcement of every chunk it can lie in was queued.
///   Pieces that are made for it later may lie in a newer one, whose announcement follows.
class Publisher final : public std::enable_shared_from_this<Publisher>, private shm::Window::Observer {
 public:
  struct Options {
    std::size_t budget = 0;                   ///< bytes of shared memory
    bool lock_memory = false;                 ///< keep them in memory
    std::uint64_t withdraw_at_most = 0;       ///< frames that may be taken back from slow readers to make room for one message
    bool wait_for_room = false;               ///< or else wait, at most max_blocking, until readers let go
    std::chrono::nanoseconds max_blocking{};  ///< how long publish() waits for reliable keep-all readers, and for readers to unmap chunks
    wire::Qos qos;
    std::uint64_t endpoint =
        0;  ///< of a service's client or provider: messages are sent to one reader each, by send(); 0: by publish(), to all
    std::weak_ptr<EndpointWatcher> watcher{};  ///< of the endpoint
    wire::Ghost ghost = wire::Ghost::no;       ///< is only there as long as others are
    bool waits_for_readers = true;             ///< for those that keep all, if it is reliable; else they lose what they are too slow for
  };
  /// As the manager knows it.
  struct Registered {
    std::uint64_t id = 0, identity = 0;
    wire::Window window;
  };
  /// Without `storage` and `objects`, both, there are no objects: publish() is given frames without root, and an empty GivenMessage. With `storage` alone messages are what that makes frames without root of, for send().
  Publisher(std::shared_ptr<NodeSession> session, const Registered& as, const std::string& topic,
            std::shared_ptr<const FrameStorage> storage, std::shared_ptr<const Objects> objects, const Options& options);
  ~Publisher() override;

  shm::Window& window() noexcept { return *window_; }
  const Objects& objects() const noexcept { return *objects_; }
  bool is_closed() const;

  /// A copy of a message in the window, for publish(), which makes one itself where there is none. Before it, callers copy side by side; behind it nothing is copied, and no frame withdrawn for it, that is held back.
  NewFrame copy_in(const void* object) noexcept;

  /// Frees the frames that nobody needs any more, so that their memory, still in the caches, serves the next message. Call before building one.
  void reclaim() noexcept;

  /// Someone outside of this process, or who wants to be treated like that, reads what is published: messages go into the window.
  bool is_read_elsewhere() const noexcept { return read_elsewhere_.load(std::memory_order_relaxed) > 0; }

  /// Someone reads it who must not lose anything.
  bool may_be_held_back() const noexcept { return reliable_readers_.load(std::memory_order_relaxed) > 0; }

  enum class Outcome { published, held_back, no_memory, closed, nobody };
  /// Publishes a message. `frame`, if it is in the window, is the same message and lies there with all its storage: the publisher owns it from now on, also when it was
  /// not published. Else one is made when it is needed, of the message that is given. Waits at most max_blocking, and only when a reliable keep-all reader is a whole ring behind.
  Outcome publish(GivenMessage message, NewFrame frame);

  // --- for endpoints, see publisher_directed.cpp ---
  std::uint64_t endpoint() const noexcept { return options_.endpoint; }
  std::vector<Peer> peers() const;
  Reach reach(std::uint64_t endpoint) const;
  /// Makes of a message that lies in the window with all its storage, as for publish(), one that may be sent more than once, as GivenMessage::in_window. Its storage is given back when nobody shares it any more.
  /// Throws std::bad_alloc, having given it back.
  std::shared_ptr<const void> share(NewFrame frame);
  /// Sends a message to the reader with this endpoint and to nobody else, in the order of the calls. `given` is as in publish(), and only for Reach::same_user. Never waits:
  /// `held_back` when the reader is a whole ring behind. `sequence` is that of the message for this reader; 0: unknown. `why` says what there was `no_memory` for, as sentences; empty: there was none for these either.
  Outcome send(std::uint64_t endpoint, GivenMessage message, NewFrame given, std::uint64_t& sequence, std::string& why);
  /// Addressees have something that was sent, or have yet to take it: memory that comes back.
  bool is_kept_by_readers() const;
  /// A reader has said so.
  void call_cancelled(std::uint64_t endpoint, std::uint64_t call) const noexcept;

  void count_copied(std::uint64_t bytes) noexcept { counts().bytes_copied.fetch_add(bytes, std::memory_order_relaxed); }
  void count_refused() noexcept;
  /// What memory is made room for from now on is for another message: that before was published, refused or discarded.
  void start_over() noexcept;

  /// But for messages that were repaired, which whoever makes them counts.
  PublisherStatistics statistics() const;
  /// Every reader that is served, or holds something though it is not.
  std::vector<MatchedSubscriber> subscribers() const;

  /// Ends all connections. Messages that readers hold stay readable for them; the memory is theirs. Idempotent; publish() gives `closed` from now on.
  void close();

  /// This subscriber asks for more than is offered, and does not come. On the loop's thread.
  void incompatible(const wire::Incompatible& peer);
  const std::string& topic() const noexcept { return incompatible_.topic(); }
  /// What keeps others from being connected is said there. On the loop's thread.
  IncompatiblePeers& peers_away() noexcept { return incompatible_; }
  IncompatibleQosEvent last_incompatible() const { return incompatible_.last(); }

  /// From now on the loop gives memory back that has not been used for a while.
  void start_trimming(IoLoop& loop);

  /// Deadline, liveliness and events.
  PublisherStatus& status() noexcept { return status_; }
  MatchedEvent matched() const;
  /// Whoever looks at a ring of this publisher sees that it is alive at this time.
  void show_alive(std::int64_t now);

  // --- for PublisherEnd, on the loop's thread ---
  const wire::Qos& qos() const noexcept { return options_.qos; }
  std::uint64_t id() const noexcept { return as_.id; }
  /// Whether a reader that asks for this must not lose anything.
  bool is_held_back_by(const wire::Qos& asked) const noexcept;
  /// What readers that hold this publisher back ring; open as long as this object lives. None for an endpoint, which waits for nobody.
  const os::Fd& space() const noexcept { return space_; }
  /// False when the publisher is closed: the connection is not wanted.
  bool add_connecting(const std::shared_ptr<PublisherEnd>& end);
  /// Lists the connection, then sends it ring and chunks; some turns of the loop later, when there is a history to be put into the window.
  void start_serving(const std::shared_ptr<PublisherEnd>& end);
  void on_chunk_mapped(PublisherEnd& end, std::uint64_t chunk);
  void on_chunk_unmapped(PublisherEnd& end, std::uint64_t chunk);
  void on_unsubscribed(PublisherEnd& end);
  /// From now on frames have pieces, and so have those that this reader has yet to take.
  void start_writing_pieces(PublisherEnd& end);
  void forget(const std::shared_ptr<PublisherEnd>& end);
  /// A connection stands whose reader has this endpoint: who comes now with the same one is not whom the endpoint belongs to. Without an endpoint of its own a publisher does not ask. On the loop's thread.
  bool serves(std::uint64_t endpoint) const;
  /// A reader could not be served for want of something that may be there again: it is met once more after a while. Any thread.
  void meet_readers_again() noexcept;
  /// Before serves(): hears what that reader has said, which may be that it ends.
  void hear(std::uint64_t endpoint);

  // --- for LocalTopics ---
  /// From now on messages are for this subscription of the same process, too. Null when the publisher is closed. Afterwards let_go_of_history() is due.
  std::shared_ptr<LocalQueue> add_local(Subscription& subscription, const std::string& own_node, const std::string& its_node);
  void forget_closed_locals() noexcept;
  /// Users' deleters run with what it lets go of. REQUIRES: the caller holds no lock.
  void let_go_of_history() noexcept;
  /// A local queue that held this publisher back has room again.
  void made_space() noexcept;

  // --- for ForeignEnd, on the loop's thread ---
  /// False also when there are most_strangers_met.
  bool add_connecting(const std::shared_ptr<ForeignEnd>& end);
  /// Whether this one, which has asked, is not more than most_strangers that have.
  bool has_place_for(const ForeignEnd& end);
  /// Sends it the export's ring and chunks; some turns of the loop later, when there is a history to be exported. From then on frames are exported.
  void start_exporting(const std::shared_ptr<ForeignEnd>& end);
  /// Calls use(export, newest frame in it) with what is exported to this reader, under the mutex.
  template <class Use>
  void with_export(const ForeignEnd& end, Use use) {
    const std::lock_guard lock(mutex_);
    if (const Export* const exported = export_for(end)) use(*exported, exported->head());
  }
  void forget(const std::shared_ptr<ForeignEnd>& end);

 private:
  /// Keeps a frame for those of this process that share it.
  class Pin {
   public:
    explicit Pin(std::shared_ptr<Publisher> publisher) noexcept : publisher_(std::move(publisher)) {}
    ~Pin();
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;
    void hold(std::uint64_t sequence) noexcept { sequence_ = sequence; }

   private:
    std::shared_ptr<Publisher> publisher_;
    std::uint64_t sequence_ = 0;  // 0: nothing yet
  };
  struct Withdrawal {
    std::uint64_t chunk = 0;
    std::vector<const PublisherEnd*> waits_for;
  };
  struct Notes {
    std::mutex mutex;
    std::vector<std::uint64_t> dropped;  // with room for every chunk there is
    std::size_t chunks = 0;
    // pair CHANGED: who finds it set finds what was dropped.
    std::atomic<bool> changed{false};
    std::atomic<std::uint64_t> newest{0};
  };

  void chunk_added(const shm::Chunk& chunk) override;
  void chunk_dropped(std::uint64_t id) override;
  bool make_room(const shm::Window::Refusal& refusal) noexcept override;
  bool await_unmapped(std::unique_lock<std::mutex>& lock, std::size_t unreleased);
  void withdraw_chunk_locked(std::uint64_t chunk);
  static constexpr std::int64_t trim_interval = 1'000'000'000;  // longer than a reader is late at times
  std::int64_t trim();

  std::uint64_t floor_locked() const;
  /// The frame, as it lies in the window, until the last copy of the pointer is gone. Not yet published, or under the mutex.
  static std::shared_ptr<const void> pinned(KeptFrame& frame, std::shared_ptr<Pin> pin) noexcept;
  void unpin(std::uint64_t sequence) noexcept;
  void release(const KeptFrame& frame) noexcept;
  void release(const KeptFrame& frame, shm::Window::Freeing& blocks) noexcept;
  void list(const KeptFrame& frame, std::vector<const void*>& into) const;
  void count_unswept_locked(std::uint64_t bytes) noexcept;
  /// True when it freed something.
  bool sweep_locked();
  bool sweep_frames_locked(std::uint64_t& left);
  // For frames that readers of such a depth (0: all) and those who have yet to be swept keep.
  static std::size_t room_for(std::uint32_t depth) noexcept;
  bool free_some(std::unique_lock<std::mutex>& lock);
  bool withdraw_oldest_locked();
  bool wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t unreleased);
  void retire_up_to_locked(std::uint64_t sequence);
  std::uint64_t slowest_reliable_locked() const;
  bool wait_for_space(std::unique_lock<std::mutex>& lock);
  void wake_who_waits_for_space() const noexcept;
  struct Made {
    bool local = false, pieces = false, failed = false;
    std::weak_ptr<Pin> pin{};  // of what the queues of this process are to get
  };
  void count_missed_deadlines() noexcept;
  bool make_more(std::unique_lock<std::mutex>& lock, GivenMessage& message, const void* object, KeptFrame& frame, Made& made);
  void publish_frame_locked(KeptFrame& frame);
  Outcome refuse(std::unique_lock<std::mutex>& lock, const KeptFrame& frame, Outcome outcome);

  // The history of a transient-local publisher, see publisher_history.cpp.
  std::uint64_t first_for_locked(const wire::Qos& asked) const noexcept;
  KeptFrame* in_history_locked(std::uint64_t sequence) noexcept;
  void leave_history_locked(KeptFrame& frame);
  bool let_go_of_history(std::unique_lock<std::mutex>& lock) noexcept;
  void hand_over_locked(KeptFrame& frame, LocalQueue& queue) noexcept;
  void hand_over_history_locked(const wire::Qos& asked, LocalQueue& queue);
  void put_history_into_window(const std::shared_ptr<PublisherEnd>& end, std::uint64_t newest, std::uint64_t first);
  bool awaits_history_locked(const std::shared_ptr<PublisherEnd>& end) const noexcept;
  bool put_next_into_window(const std::shared_ptr<PublisherEnd>& end, std::uint64_t& newest, std::uint64_t first);
  void put_into_window(std::unique_lock<std::mutex>& lock, std::uint64_t sequence, bool in_pieces);
  void export_history(const std::shared_ptr<ForeignEnd>& end, std::size_t turn);
  bool export_next(const std::shared_ptr<ForeignEnd>& end, bool holds_mutex);
  void export_from_history(std::unique_lock<std::mutex>& lock, bool holds_mutex);
  void export_frame(std::unique_lock<std::mutex>& lock, const KeptFrame& frame);
  void tell_exported(ForeignEnd& end, const Export& exported) noexcept;
  Export* export_for(const ForeignEnd& end) const noexcept;

  struct Addressee {
    std::shared_ptr<LocalQueue> queue;
    std::shared_ptr<PublisherEnd> end;
    std::shared_ptr<ForeignEnd> foreign;
    explicit operator bool() const noexcept { return queue || end || foreign; }
  };
  Addressee find_locked_reader(std::uint64_t endpoint) const;
  Outcome send_to_addressee(std::unique_lock<std::mutex>& lock, std::uint64_t endpoint, GivenMessage& message, KeptFrame frame,
                            std::uint64_t& sequence, std::string& why);
  Outcome send_here(std::unique_lock<std::mutex>& lock, const std::shared_ptr<LocalQueue>& queue, GivenMessage& message,
                    std::uint64_t& sequence);
  Outcome send_to_window(std::unique_lock<std::mutex>& lock, const Addressee& to, GivenMessage& message, KeptFrame frame,
                         std::uint64_t& sequence, std::string& why);
  Outcome send_to_stranger(std::unique_lock<std::mutex>& lock, const Addressee& to, const void* object, std::string& why);
  bool sweep_lanes_locked(std::uint64_t& left);
  // Who looks on, see publisher_observed.cpp.
  static bool looks_on(const PublisherEnd& end) noexcept;
  /// Makes a copy for each, without the mutex.
  void copy_for_observers(std::unique_lock<std::mutex>& lock, const void* message);
  /// `sent`: the message, to its addressee; else nobody is shown it.
  void show_observers_locked(bool sent) noexcept;
  void show_locked(PublisherEnd& end, KeptFrames& lane, KeptFrame frame) noexcept;
  bool withdraw_from_observers_locked();
  void let_go_of_lane_locked(const PublisherEnd& end);
  std::uint64_t taken_locked(const PublisherEnd& end) const;
  void tell_left_locked(std::uint64_t endpoint, std::uint64_t taken) const noexcept;
  /// False when there is none.
  bool forget_closed_local() noexcept;
  bool has_foreigners_locked() const;
  std::uint64_t subscribers_locked() const;
  void enlist(const std::shared_ptr<PublisherEnd>& end);
  void came_locked();
  /// After a connection has left, or was taken out.
  void left_locked();
  std::size_t strangers_locked() const noexcept;
  void meet_strangers_again_locked();
  std::vector<std::shared_ptr<ForeignEnd>> take_who_has_read_locked() noexcept;
  /// When to look again.
  std::int64_t look_at_unread();
  void turn_away(const ForeignEnd& end, const char* goes_on);
  void count_readers_locked() noexcept;
  void write_missing_pieces_locked(KeptFrames& frames, std::uint64_t from);
  void announce_changes_locked();
  void announce_all_locked(PublisherEnd& end);
  void announce_to_all_locked(const shm::Chunk& chunk);
  void give_up_locked(PublisherEnd& end, const std::exception& why) noexcept;
  void stop_waiting_locked(const PublisherEnd& end, std::optional<std::uint64_t> chunk);
  shm::RingLayout& ring() const noexcept;
  shm::PublisherCounts& counts() const noexcept { return counts_.published(); }
  /// A message of so many bytes was published. One at a time.
  void count_published(std::uint64_t bytes, std::int64_t source_time) noexcept;

  const std::shared_ptr<NodeSession> session_;
  const Registered as_;
  std::function<void()> when_unmapped_;  // made ahead: close() must not fail
  const std::shared_ptr<const FrameStorage> storage_;
  const std::shared_ptr<const Objects> objects_;
  const Options options_;
  const std::uint64_t history_;  // so many of the newest messages are kept for those who come late
  const Counters::Slot counts_;
  IncompatiblePeers incompatible_;
  PublisherStatus status_;
  const std::shared_ptr<shm::Window> window_;
  os::Fd space_;  // readers ring it while header.blocked is odd; none for an endpoint

  Notes notes_;
  std::shared_ptr<LoopTimer> trimmer_;  // set while there is more than one chunk
  std::mutex publishing_;               // one publish() at a time; taken before mutex_, held while waiting for space
  LocalDelivery local_delivery_;        // guarded by publishing_
  mutable std::mutex mutex_;
  // relaxed: counts and marks of one publish() and those who allocate for it; a number that is late costs one message more, or one wait
  std::atomic<std::uint64_t> withdrawn_for_next_{0};  // since the last start_over()
  std::atomic<bool> waited_in_vain_{false};           // likewise
  // relaxed: a thread finds its own id, or not; which other one is there it does not care
  std::atomic<std::thread::id> filling_{};  // this thread puts the history into the window, and must not push any of it out
  std::atomic<bool> sweep_is_due_{false};   // relaxed: changed under mutex_; who sees it late sweeps one message later
  // guarded by mutex_:
  KeptFrames frames_;  // those for all; of an endpoint, whose readers have lanes, only what is counted stands in its ring
  bool closed_ = false;
  bool is_abandoned_ = false;  // closed, and what is left of frames_ is only there for those of this process that hold it
  std::uint64_t unswept_bytes_ = 0, unswept_frames_ = 0;  // published since the last sweep
  std::vector<std::shared_ptr<const void>> gone_;         // has left the history; to be let go without the mutex
  std::vector<std::uint64_t> claims_;
  std::vector<std::shared_ptr<PublisherEnd>> connecting_, awaiting_history_, connections_;  // each end in one
  // What count_readers_locked() has counted. relaxed: changed under mutex_, and who reads them without it gives way to who was there before
  std::atomic<std::size_t> piece_readers_ = 0;     // of awaiting_history_ and connections_
  std::atomic<std::size_t> read_elsewhere_ = 0;    // of both those that are served, and all of foreign_
  std::atomic<std::size_t> reliable_readers_ = 0;  // of both and of locals_ those that hold the publisher back
  std::atomic<std::size_t> observers_ = 0;         // of both those that look on
  std::vector<std::shared_ptr<LocalQueue>> locals_;
  std::vector<std::shared_ptr<LocalQueue>> late_;  // of those that want the history, the ones that came after the last publish() had begun
  std::uint64_t ever_matched_ = 0;                 // readers of all kinds
  std::vector<Withdrawal> withdrawals_;
  std::int64_t next_look_ = 0;  // for chunks that may go
  // What readers had yet to unmap, in bytes, when they were waited for in vain; 0 when they have unmapped something since.
  std::size_t not_unmapped_in_time_ = 0;
  std::vector<std::shared_ptr<ForeignEnd>> foreign_;    // with those of unread_ no more than most_strangers_met
  std::vector<std::shared_ptr<ForeignEnd>> unread_;     // have ended, and what they were sent is still on its way
  std::shared_ptr<LoopTimer> unread_timer_;             // set while there are any
  bool turns_strangers_away_ = false;                   // some that would have been more, and are met again when one of these goes
  std::unique_ptr<Export> export_;                      // made for the first of them
  std::uint64_t connected_ = 0;                         // so many of them there were
  std::map<const PublisherEnd*, KeptFrames> lanes_;     // of those of connections_, when messages go to one reader each
  std::vector<std::shared_ptr<LocalQueue>> addressed_;  // guarded by publishing_
  struct Shown {
    std::shared_ptr<PublisherEnd> to;
    KeptFrame frame;
  };
  std::vector<Shown> shown_;  // likewise: of the message that is being sent
  std::uint64_t sent_here_ = 0;
  std::uint64_t exporting_ = 0;        // the frame that is being exported without the mutex, and must stay
  std::condition_variable announced_;  // a reader answered while close() waits for it
};

}  // namespace sinew::session
