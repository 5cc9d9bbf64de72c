// The publisher's end of a pair: one reader, what it was told, and what its pages say.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/point.hpp"
#include "os/fd.hpp"
#include "session/io/channel.hpp"
#include "session/io/io_loop.hpp"
#include "session/mappings.hpp"
#include "shm/bell.hpp"
#include "shm/ring.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

class Publisher;

/// Handshake (spec/wire.md): Doorbell in, Space (reliable keep-all pairs, but of endpoints) and DoorbellTaken out, Attach in, listed, Ring out, Chunks out one at a time.
/// on_event() runs on the loop's thread; the rest, but for stop(), under the publisher's mutex.
class PublisherEnd final : public IoLoop::Handler, public std::enable_shared_from_this<PublisherEnd> {
 public:
  struct Chunk {
    std::uint64_t id = 0, address = 0, size = 0;
    const os::Fd* memfd = nullptr;  ///< null: the chunk is gone, only its id matters
  };

  PublisherEnd(std::weak_ptr<Publisher> publisher, IoLoop& loop, os::Fd socket, wire::ConnectPublisher introduction, bool holds_back);
  ~PublisherEnd();

  /// Watches the socket. REQUIRES: the publisher knows this end. On the loop's thread.
  void start();
  /// Closes the socket. On the loop's thread.
  void stop();

  Channel& channel() noexcept { return channel_; }
  const std::string& peer() const noexcept { return introduction_.peer; }
  const wire::Qos& asked() const noexcept { return introduction_.qos; }
  std::uint64_t endpoint() const noexcept { return introduction_.endpoint; }
  bool holds_back() const noexcept { return holds_back_ && !left_; }
  bool reads_pieces() const noexcept { return reads_pieces_ && !left_; }
  /// It has changed its mind: frames without pieces are no use to it any more.
  void set_reads_pieces() noexcept { reads_pieces_ = true; }
  void set_start(std::uint64_t sequence) noexcept { start_ = sequence; }
  /// Another number of each connection that is served. Under the publisher's mutex.
  void set_connection(std::uint64_t number) noexcept { connection_ = number; }
  std::uint64_t connection() const noexcept { return connection_; }
  /// The newest sequence up to `head` that this reader will not claim any more, or may not insist on.
  std::uint64_t decided(std::uint64_t head) const noexcept;
  void gather_claims(std::vector<std::uint64_t>& into) const {
    ack_->gather_claims(into);
    SINEW_POINT("publisher.claims_gathered");
  }
  /// REQUIRES: its socket has ended, in whatever way. Before frames are given back that only this reader may have read.
  void part() const noexcept { ack_->part(); }
  const shm::AckView& ack() const noexcept { return *ack_; }
  void ring_if_asleep() noexcept;

  /// Queues an announcement, unless this reader had it already. When it throws std::bad_alloc, it can be tried again.
  void announce(const Chunk& chunk);
  /// True when the reader has, or may get, the chunk mapped: it will answer, or vanish. When it throws std::bad_alloc, it can be tried again.
  bool withdraw(std::uint64_t chunk);
  /// The reader answered the announcement in flight. Throws Violation when there is none of this id.
  void on_mapped(std::uint64_t chunk);
  /// The reader answered a withdrawal. Throws Violation when none was unanswered.
  void on_unmapped(std::uint64_t chunk);
  bool knows_all() const noexcept { return left_ || (in_flight_ == 0 && waiting_.empty() && !is_behind_); }
  /// There were chunks that could not be announced while another one was in flight. True once: then all are to be announced anew.
  bool take_is_behind() noexcept { return in_flight_ == 0 && std::exchange(is_behind_, false); }
  void leave() noexcept { left_ = true; }
  bool is_served() const noexcept { return !left_; }
  /// It has said that it takes nothing more.
  bool has_unsubscribed() const noexcept { return unsubscribed_; }
  /// What it wants, or what was to be done for it, does not go: it broke the protocol, or, where that is no Violation, this process lacks something, and meets it again after a while. Serves this reader no more, and tells it why. On the loop's thread, without the mutex.
  void fail(const std::exception& why);
  /// Serves this reader no more, and tells it so that it lets go. Its claims go on to count.
  void give_up(const char* why) noexcept;

 private:
  struct Waiting {
    Chunk chunk;
    os::Fd memfd;
  };
  struct ProcessWatch;

  void on_event(const os::Poller::Event& event) override;
  void handle(Channel::Input& input);
  void on_doorbell(const wire::Doorbell& message, Channel::Input& input);
  void on_attach(const wire::Attach& message, Channel::Input& input);
  void on_reads_pieces(Publisher& publisher);
  bool queue(const Chunk& chunk);
  void send(const Chunk& chunk, const os::Fd& memfd);
  void send_waiting();
  void tell_withdrawn(std::uint64_t chunk);
  void ended();

  // What publish() looks at stands together, under the publisher's mutex.
  alignas(64) bool left_ = false;
  std::uint64_t start_ = 1;
  std::uint64_t connection_ = 0;
  const bool holds_back_;
  bool reads_pieces_ = false;
  std::optional<shm::Ringer> ringer_;
  std::optional<shm::AckView> ack_;
  os::Fd bell_fd_;

  // Under the publisher's mutex, too.
  std::uint64_t last_announced_ = 0;
  std::uint64_t in_flight_ = 0;
  bool is_behind_ = false;
  std::deque<Waiting> waiting_;
  std::vector<std::uint64_t> told_, withdrawn_;  // what it has, and what it is to let go of

  const std::weak_ptr<Publisher> publisher_;
  IoLoop& loop_;
  const wire::ConnectPublisher introduction_;
  Channel channel_;
  enum class Stage { waits_for_doorbell, waits_for_attach, serving, deaf } stage_ = Stage::waits_for_doorbell;
  bool unsubscribed_ = false;  // the loop's
  SharedMapping bell_mapping_, ack_mapping_;
  std::mutex watching_;  // guards what follows: another thread may stop this while the loop's sets it up
  std::shared_ptr<ProcessWatch> process_;
  bool stopped_ = false;
};

}  // namespace sinew::session
