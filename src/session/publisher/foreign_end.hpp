// The publisher's end of a pair with a subscriber of another user.
#pragma once

#include <array>
#include <exception>
#include <memory>
#include <string>

#include "os/fd.hpp"
#include "session/io/channel.hpp"
#include "session/io/io_loop.hpp"
#include "session/publisher/export.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

class Publisher;

/// Handshake (spec/wire.md): AttachForeign in, Ring out, Chunks out one at a time; then News out and NewsTaken in. Nothing of the peer's is mapped, no descriptor of
/// the peer's is taken, and none of this process goes to it but for reading (F6, F7).
/// on_event() runs on the loop's thread; the rest, but for stop(), under the publisher's mutex.
class ForeignEnd final : public IoLoop::Handler, public std::enable_shared_from_this<ForeignEnd> {
 public:
  ForeignEnd(std::weak_ptr<Publisher> publisher, IoLoop& loop, os::Fd socket, wire::ConnectPublisher introduction);

  /// Watches the socket. REQUIRES: the publisher knows this end. On the loop's thread.
  void start() { channel_.watch(loop_, weak_from_this()); }
  /// Closes the socket. On the loop's thread.
  void stop() { channel_.unwatch(); }

  /// It wants to be served, as one that is a second connection with the same reader never does. On the loop's thread.
  bool has_asked() const noexcept { return asked_; }
  bool is_attached() const noexcept { return attached_; }
  /// Something of what it was sent is still on its way, where descriptors count for who sends them.
  bool is_unread() const noexcept { return os::has_unread(channel_.socket()); }
  /// It finds the connection closed, and can read what it was sent.
  void shut_down() const noexcept { os::shut_down(channel_.socket()); }
  const std::string& peer() const noexcept { return introduction_.peer; }
  const wire::Qos& asked() const noexcept { return introduction_.qos; }
  std::uint64_t endpoint() const noexcept { return introduction_.endpoint; }
  /// Ends it: it broke the protocol, or, where that is no Violation, this process lacks something, and meets it again after a while. On the loop's thread, without the mutex.
  void fail(const std::exception& why);
  /// What is sent to this reader alone is exported to it alone. Throws Error(exhausted).
  Export& export_alone(const std::string& topic, std::uint64_t budget);
  /// Null when it has what all get.
  Export* alone() const noexcept { return alone_.get(); }
  void send_ring(const Export& exported, std::uint64_t start);
  /// There are frames up to `head`, in the chunks that `exported` has now.
  void tell(const Export& exported, std::uint64_t head);
  void on_chunk_mapped(const Export& exported, std::uint64_t chunk);
  void on_chunk_unmapped();
  void news_taken(const Export& exported, std::uint64_t head);

 private:
  void on_event(const os::Poller::Event& event) override;
  void handle(Channel::Input& input);
  void ended();
  void tell_chunks(const Export& exported);

  const std::weak_ptr<Publisher> publisher_;
  IoLoop& loop_;
  const wire::ConnectPublisher introduction_;
  Channel channel_;

  std::unique_ptr<Export> alone_;
  bool asked_ = false;     // it has said AttachForeign, which it says once. The loop's
  bool attached_ = false;  // and was sent the ring
  bool over_ = false;      // what it has sent behind its end means nothing: nobody would forget what was noted of it
  std::array<std::uint64_t, shm::export_depth> told_{};  // by slot, the chunk that it knows
  std::uint64_t newest_told_ = 0;                        // chunks are told in the order of their ids
  std::uint64_t chunk_unanswered_ = 0;
  std::uint64_t withdrawals_unanswered_ = 0;
  bool news_unanswered_ = false;
  std::uint64_t told_head_ = 0;
};

}  // namespace sinew::session
