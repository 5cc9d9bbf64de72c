// SOCK_SEQPACKET unix sockets that carry descriptors and credentials.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "os/fd.hpp"

namespace sinew::os {

/// The largest packet sinew sends, and the size of the buffer that receive() needs.
inline constexpr std::size_t max_packet = 64 * 1024;
/// The most descriptors in one packet.
inline constexpr std::size_t max_descriptors = 2;

struct Credentials {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

enum class SendResult {
  sent,
  would_block,  ///< the socket is full: it becomes writable
  shortage,     ///< the kernel has no memory, or this user too many descriptors under way: no event tells when that is over
  closed,
};

struct Received {
  enum class Kind {
    packet,       ///< `size` bytes are in the buffer, `descriptors` hold what came along.
    would_block,  ///< Nothing there.
    closed,       ///< The peer is gone and everything it sent has been read.
    malformed,    ///< Truncated packet, or more descriptors than max_descriptors; whatever came is closed.
    no_room,      ///< `size` bytes are in the buffer, but this process had no room for the descriptors; those that found some are closed.
  };
  Kind kind = Kind::would_block;
  std::size_t size = 0;
  std::vector<Fd> descriptors;
  std::optional<Credentials> credentials;  ///< Present when receive_credentials() was called on this end before the packet was sent.
};

/// A non-blocking listening socket bound to `path` (mode 0600). The path must not exist. Throws Error(unavailable), with the path, when it
/// cannot be bound.
Fd listen_at(const std::string& path, int backlog = 128);
/// Makes a listening socket that this process was started with as listen_at() makes them: non-blocking, closed on exec. Gives the path it is bound
/// to. Throws Error(invalid_argument), with what it lacks, when the descriptor is not a listening SOCK_SEQPACKET unix socket with a path.
std::string adopt_listener(const Fd& socket);
/// A non-blocking socket connected to `path`. Nothing when nobody listens there (ENOENT, ECONNREFUSED); waits while the backlog is full, for `patience`, or for ever when that is zero.
/// Throws Error(denied) on EACCES and Error(unavailable) else.
std::optional<Fd> connect_to(const std::string& path, std::chrono::milliseconds patience = std::chrono::milliseconds(0));
/// The next waiting connection, non-blocking; empty Fd when there is none or it vanished. Throws Error(exhausted) when descriptors are
/// short.
Fd accept_from(const Fd& listener);
/// Two connected non-blocking ends.
std::pair<Fd, Fd> socket_pair();

/// Credentials of the process that connected, or listened (SO_PEERCRED). Right only on a *named* connection; on a socket pair it names who
/// made the pair (F8).
Credentials peer_credentials(const Fd& socket);
/// From now on every packet received on this end carries its sender's credentials, vouched for by the kernel (SO_PASSCRED).
void receive_credentials(const Fd& socket);

/// Sends one packet, as this process's effective user. Never blocks, never raises SIGPIPE. Descriptors are not consumed. Throws Error(system) on any fault that
/// SendResult does not name.
SendResult send_packet(const Fd& socket, std::span<const std::byte> bytes, std::span<const int> descriptors = {});
/// Receives one packet into `buffer` (at least max_packet bytes). Never blocks. When the kernel has no memory for it, it is as if nothing was there yet: the packet stays, and waiting for the socket ends at once.
Received receive_packet(const Fd& socket, std::span<std::byte> buffer);

/// Ends a connection for both sides, also where another process still has this end, and closes it. Never blocks: the kernel would close the descriptors that were sent
/// here and not received, whatever they are. What the peer has not read yet it can still read.
void close_connection(Fd socket) noexcept;
/// Closes this process's descriptor of a connection that goes on for whoever else has this end. Never blocks, either: nobody else may have it any more, and then it is as above.
void leave_connection(Fd socket) noexcept;
/// Both sides find the connection closed, while the descriptor stays.
void shut_down(const Fd& socket) noexcept;
/// Whether the other end has yet to read something that was sent here (SIOCOUTQ), and is not closed.
bool has_unread(const Fd& socket) noexcept;

}  // namespace sinew::os
