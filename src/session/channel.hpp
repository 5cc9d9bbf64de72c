// One end of a control connection: wire messages over a socket, with a queue for when the socket is full.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "os/fd.hpp"
#include "os/socket.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

/// The peer sent what it may not send. Whoever catches it ends that connection and nothing else.
class Violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// send() may be called from any thread; receive() from one at a time.
class Channel {
 public:
  explicit Channel(os::Fd socket);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  const os::Fd& socket() const noexcept { return socket_; }

  /// Sends or queues a message; never blocks. Descriptors stay the caller's. Messages to a peer that is gone vanish: its hang-up is seen by the reading side.
  void send(const wire::Message& message, std::span<const int> descriptors = {});
  /// Called, from the sending thread, when the queue becomes non-empty (true: watch for writability) and from flush() when it is empty again (false).
  void when_blocked(std::function<void(bool)> callback);
  /// Sends what is queued, as far as the socket takes it.
  void flush();

  struct Input {
    wire::Message message;
    std::vector<os::Fd> descriptors;
    std::optional<os::Credentials> credentials;
  };
  enum class State { open, closed };
  /// The next message, or nothing: then state() tells whether more may come. Throws Violation on bytes that are no message, or the wrong number of descriptors.
  std::optional<Input> receive();
  State state() const noexcept { return state_; }

 private:
  struct Packet {
    std::vector<std::byte> bytes;
    std::vector<os::Fd> descriptors;
  };

  os::SendResult try_send(std::span<const std::byte> bytes, std::span<const int> descriptors) const;

  os::Fd socket_;
  State state_ = State::open;
  std::mutex mutex_;  // guards queue_ and when_blocked_
  std::deque<Packet> queue_;
  std::function<void(bool)> when_blocked_;
};

}  // namespace sinew::session
