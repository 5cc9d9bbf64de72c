// One end of a control connection: wire messages over a socket, with a queue for when the socket is full.
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "os/fd.hpp"
#include "os/socket.hpp"
#include "session/io/io_loop.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

/// The peer sent what it may not send. Whoever catches it ends that connection and nothing else.
class Violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The peer has said that it ends the connection, and why.
class Farewell final : public Violation {
 public:
  using Violation::Violation;
};

/// This process has no room, no descriptor or no memory for what the peer sent: the connection ends, and is worth another try when there may be some again, as after any exception that is no Violation.
class Shortage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Why an exception ends a connection, for the log: whose fault it is.
std::string reason_of(const std::exception& why);

/// send() may be called from any thread; receive() from one at a time.
class Channel {
 public:
  /// So much may wait for one end of a pair to read it (W66).
  static constexpr std::size_t most_queued = 4 * 1024 * 1024;
  static constexpr std::size_t unlimited = ~std::size_t{0};
  /// At most so many packets are read in one turn: one connection must not keep the others waiting.
  static constexpr int turns_per_event = 64;

  explicit Channel(os::Fd socket, std::size_t limit = most_queued);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const os::Fd& socket() const noexcept { return socket_; }

  /// Sends or queues a message; never blocks. Descriptors stay the caller's. Messages to a peer that is gone vanish: its hang-up is seen by the reading side.
  /// Throws Violation when the peer lets too much wait, std::bad_alloc and Error; the message is not sent then.
  void send(const wire::Message& message, std::span<const int> descriptors = {});
  /// The same, where nothing can be done about it at once when it fails but to log that. True when it was sent.
  bool try_send(const wire::Message& message) noexcept;
  /// The last that the peer hears from this end: an ErrorText, which says so where there is no memory for the text and needs none then, for the peer must not take this end for one that goes on.
  void complain(const char* why) noexcept;
  /// Sends what is queued, as far as it goes. True when nothing is left.
  bool flush();

  /// From now on `loop` tells `handler` of what comes, and that it is time to flush(). Once.
  void watch(IoLoop& loop, std::weak_ptr<IoLoop::Handler> handler);
  /// Idempotent. Also when watch() was never called.
  void unwatch() noexcept;

  struct Input {
    wire::Message message;
    std::vector<os::Fd> descriptors;
    std::optional<os::Credentials> credentials;
    bool lost_descriptors = false;  ///< This process had no room for them, and has none of them.
  };
  enum class State { open, closed };
  /// The next message, or nothing: then state() tells whether more may come. Throws Violation on bytes that are no message, or the wrong number of descriptors; and, unless the caller bears that they are lost,
  /// Shortage when this process has no room for them.
  std::optional<Input> receive(bool bears_loss = false);
  State state() const noexcept { return state_; }

 private:
  struct Packet {
    std::vector<std::byte> bytes;
    std::vector<os::Fd> descriptors;
    std::size_t weight() const noexcept;
  };

  os::Fd socket_;
  const std::size_t limit_;
  State state_ = State::open;
  void wake_when_locked(os::SendResult result);

  mutable std::mutex mutex_;  // guards what follows; taken before the loop's
  std::deque<Packet> queue_;
  std::size_t queued_ = 0;  // weight of it
  IoLoop* loop_ = nullptr;
  IoLoop::WatchId watch_ = 0;
};

}  // namespace sinew::session
