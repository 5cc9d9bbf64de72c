#include "os/socket.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "os/call.hpp"
#include "os/clock.hpp"
#include "os/failure.hpp"
#include "os/file.hpp"
#include "os/reaper.hpp"

namespace sinew::os {
namespace {

// As many descriptors as the kernel lets one packet carry (SCM_MAX_FD): it closes those that find no room, here and now, whatever they are.
constexpr std::size_t most_sent = 253;
// Rights and credentials come in control messages of their own; the room of absent credentials lets a few more descriptors through.
constexpr std::size_t control_room = CMSG_SPACE(most_sent * sizeof(int)) + CMSG_SPACE(sizeof(ucred));
constexpr std::size_t most_received = control_room / sizeof(int);

struct alignas(cmsghdr) Control {
  std::array<std::byte, control_room> bytes{};
};

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    throw Error(ErrorKind::invalid_argument, "sinew cannot use the socket path '" + path + "': it has " + std::to_string(path.size()) +
                                                 " bytes, and the kernel takes 1 to " + std::to_string(sizeof address.sun_path - 1) + ".");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Fd new_socket(int more_flags) {
  Fd fd(call(fault::Call::socket, [&] { return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | more_flags, 0); }));
  if (!fd) fail(errno, "cannot make a socket");
  return fd;
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

int option_of(const Fd& socket, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return call(fault::Call::getsockopt, [&] { return ::getsockopt(socket.get(), SOL_SOCKET, name, &value, &size); }) == 0 ? value : -1;
}

/// Empty when it has none in the file system.
std::string path_of(const Fd& socket) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  const int result =
      call(fault::Call::getsockname, [&] { return ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size); });
  if (result != 0 || address.sun_family != AF_UNIX || size <= offsetof(sockaddr_un, sun_path)) return "";
  // Where a name fills the whole field, the kernel counts the zero behind it that there is no room for.
  const std::size_t room = std::min<std::size_t>(size, sizeof address) - offsetof(sockaddr_un, sun_path);
  return {address.sun_path, ::strnlen(address.sun_path, room)};
}

}  // namespace

Fd listen_at(const std::string& path, int backlog) {
  const sockaddr_un address = address_of(path);
  const std::string what = "cannot listen at '" + path + "'";
  Fd fd = new_socket(SOCK_NONBLOCK);
  // The mode of an unbound socket is the mode its file will be made with; a umask would be the whole process's.
  if (call(fault::Call::chmod, [&] { return ::fchmod(fd.get(), S_IRUSR | S_IWUSR); }) != 0) fail(errno, what, ErrorKind::unavailable);
  if (call(fault::Call::bind, [&] { return ::bind(fd.get(), generic(address), sizeof address); }) != 0)
    fail(errno, what, ErrorKind::unavailable);
  if (call(fault::Call::listen, [&] { return ::listen(fd.get(), backlog); }) != 0) {
    const int error = errno;
    remove_file(path);
    fail(error, what, ErrorKind::unavailable);
  }
  return fd;
}

std::string adopt_listener(const Fd& socket) {
  const auto refuse = [&](const std::string& lack) {
    throw Error(ErrorKind::invalid_argument, "sinew cannot listen at descriptor " + std::to_string(socket.get()) + ": " + lack +
                                                 ". It must be a listening unix socket of type SOCK_SEQPACKET with a path; in a socket "
                                                 "unit of systemd, ListenSequentialPacket=/path/of/the/socket.");
  };
  if (option_of(socket, SO_TYPE) != SOCK_SEQPACKET) refuse("it is not a socket of this type");
  if (option_of(socket, SO_ACCEPTCONN) != 1) refuse("this socket does not listen");
  std::string path = path_of(socket);
  if (path.empty()) refuse("this socket has no path");
  const auto set = [&](int what, int flag) {
    if (call(fault::Call::fcntl, [&] { return ::fcntl(socket.get(), what, flag); }) != 0) fail(errno, "cannot prepare an inherited socket");
  };
  set(F_SETFD, FD_CLOEXEC);
  set(F_SETFL, O_NONBLOCK);
  return path;
}

std::optional<Fd> connect_to(const std::string& path, std::chrono::milliseconds patience) {
  const sockaddr_un address = address_of(path);
  const std::string what = "cannot connect to '" + path + "'";
  // Blocking until connected: a full backlog is waited for by the kernel, and there is no event to wait for it otherwise.
  Fd fd = new_socket(0);
  const std::int64_t deadline = patience.count() > 0 ? later(now_ns(), std::chrono::nanoseconds(patience).count()) : never;
  // The kernel begins to count anew when it is asked again after a signal.
  const auto limit_to_the_rest = [&] {
    const std::int64_t left = deadline - now_ns();
    if (left <= 0) {
      errno = EAGAIN;
      return -1;
    }
    const timeval limit{.tv_sec = left / 1'000'000'000, .tv_usec = std::max<std::int64_t>(left % 1'000'000'000 / 1000, 1)};
    return call(fault::Call::setsockopt, [&] { return ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); });
  };
  const auto connect = [&] {
    if (deadline != never && limit_to_the_rest() != 0) return -1;
    return ::connect(fd.get(), generic(address), sizeof address);
  };
  if (call(fault::Call::connect, connect) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) return std::nullopt;
    if (errno == EAGAIN) {
      throw Error(ErrorKind::unavailable, "sinew " + what + ": as many as can wait there do, and none was taken within " +
                                              std::to_string(patience.count()) + " ms. Who listens there may be stopped.");
    }
    fail(errno, what, errno == EACCES || errno == EPERM ? ErrorKind::denied : ErrorKind::unavailable);
  }
  if (call(fault::Call::fcntl, [&] { return ::fcntl(fd.get(), F_SETFL, O_NONBLOCK); }) != 0) fail(errno, what);
  return fd;
}

Fd accept_from(const Fd& listener) {
  Fd fd(call(fault::Call::accept, [&] { return ::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC); }));
  if (!fd && errno != EAGAIN && errno != ECONNABORTED) fail(errno, "cannot accept a connection");
  return fd;
}

std::pair<Fd, Fd> socket_pair() {
  std::array<int, 2> ends{};
  const int type = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
  if (call(fault::Call::socketpair, [&] { return ::socketpair(AF_UNIX, type, 0, ends.data()); }) != 0)
    fail(errno, "cannot make a socket pair");
  return {Fd(ends[0]), Fd(ends[1])};
}

Credentials peer_credentials(const Fd& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (call(fault::Call::getsockopt, [&] { return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size); }) != 0) {
    fail(errno, "cannot tell who is at the other end of a socket");
  }
  return {.pid = peer.pid, .uid = peer.uid, .gid = peer.gid};
}

void receive_credentials(const Fd& socket) {
  const int on = 1;
  if (call(fault::Call::setsockopt, [&] { return ::setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on); }) != 0) {
    fail(errno, "cannot ask for credentials on a socket");
  }
}

namespace {

/// One more control message, for which there is room.
void append(msghdr& message, Control& control, int type, std::span<const std::byte> what) {
  auto* const part = reinterpret_cast<cmsghdr*>(control.bytes.data() + message.msg_controllen);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = type;
  part->cmsg_len = CMSG_LEN(what.size());
  std::memcpy(CMSG_DATA(part), what.data(), what.size());
  message.msg_control = control.bytes.data();
  message.msg_controllen += CMSG_SPACE(what.size());
}

}  // namespace

SendResult send_packet(const Fd& socket, std::span<const std::byte> bytes, std::span<const int> descriptors) {
  // An empty packet would look like the end of the connection.
  if (bytes.empty() || bytes.size() > max_packet || descriptors.size() > max_descriptors) {
    throw Error(ErrorKind::invalid_argument, "sinew cannot send a packet of " + std::to_string(bytes.size()) + " bytes and " +
                                                 std::to_string(descriptors.size()) + " descriptors: 1 to " + std::to_string(max_packet) +
                                                 " bytes and at most " + std::to_string(max_descriptors) + " descriptors fit.");
  }
  iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};
  Control control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) append(message, control, SCM_RIGHTS, std::as_bytes(descriptors));
  const std::size_t without_credentials = message.msg_controllen;
  if (const uid_t user = ::geteuid(); user != ::getuid()) {
    // SO_PEERCRED names the effective user; of who says nothing, the kernel puts the real one on a packet.
    const ucred sender{.pid = ::getpid(), .uid = user, .gid = ::getegid()};
    append(message, control, SCM_CREDENTIALS, std::as_bytes(std::span(&sender, 1)));
  }
  const auto send = [&] { return ::sendmsg(socket.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL); };
  auto sent = call(fault::Call::send, send);
  if (sent < 0 && (errno == EPERM || errno == EINVAL) && message.msg_controllen > without_credentials) {
    message.msg_controllen = without_credentials;  // a number that this user namespace does not have
    sent = call(fault::Call::send, send);
  }
  if (sent >= 0) return SendResult::sent;
  switch (errno) {
    case EAGAIN:
      return SendResult::would_block;
    case ETOOMANYREFS:  // all sockets of this user together have too many descriptors under way
    case ENOBUFS:
    case ENOMEM:
      return SendResult::shortage;
    case EPIPE:
    case ECONNRESET:
    case ECONNREFUSED:
    case ENOTCONN:
      return SendResult::closed;
    default:
      fail(errno, "cannot send a packet");
  }
}

namespace {

/// One packet as the kernel gives it.
struct Arrived {
  std::size_t size = 0;
  bool cut_off = false;
  bool lost_descriptors = false;  // there is room for as many as can be sent, so the kernel found none in this process
  std::size_t count = 0;
  std::array<Fd, most_received> descriptors;
  std::optional<Credentials> credentials;
};

/// Nothing when there is none.
std::optional<Arrived> take_packet(const Fd& socket, std::span<std::byte> buffer) {
  iovec piece{buffer.data(), buffer.size()};
  Control control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  ssize_t size = 0;
  do {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
    size = call(fault::Call::receive, [&] { return ::recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC); });
    // A peer that left something unread is reported once as a reset, ahead of what it had sent before.
  } while (size < 0 && errno == ECONNRESET);
  if (size < 0) {
    if (errno != EAGAIN) fail(errno, "cannot receive a packet");
    return std::nullopt;
  }

  // Every descriptor gets an owner before anything is judged or can throw: also those that came in the padding of a truncated list.
  std::optional<Arrived> arrived(std::in_place);
  arrived->size = static_cast<std::size_t>(size);
  arrived->cut_off = (message.msg_flags & MSG_TRUNC) != 0;
  arrived->lost_descriptors = (message.msg_flags & MSG_CTRUNC) != 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    const std::size_t length = part->cmsg_len - CMSG_LEN(0);
    if (part->cmsg_type == SCM_RIGHTS) {
      for (std::size_t at = 0; at + sizeof(int) <= length; at += sizeof(int)) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(part) + at, sizeof fd);
        arrived->descriptors[arrived->count++] = Fd::of_peer(fd);
      }
    } else if (part->cmsg_type == SCM_CREDENTIALS && length >= sizeof(ucred)) {
      ucred sender{};
      std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
      arrived->credentials = Credentials{.pid = sender.pid, .uid = sender.uid, .gid = sender.gid};
    }
  }
  return arrived;
}

}  // namespace

Received receive_packet(const Fd& socket, std::span<std::byte> buffer) {
  std::optional<Arrived> arrived;
  try {
    arrived = take_packet(socket, buffer);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::exhausted) throw;  // else it passes, and the packet stays where it is
  }
  if (!arrived) return {};
  Received received;
  received.credentials = arrived->credentials;
  if (arrived->size == 0) {
    received.kind = Received::Kind::closed;
  } else if (arrived->cut_off || arrived->count > max_descriptors) {
    received.kind = Received::Kind::malformed;
  } else if (arrived->lost_descriptors) {
    received.kind = Received::Kind::no_room;
    received.size = arrived->size;
  } else {
    received.kind = Received::Kind::packet;
    received.size = arrived->size;
    received.descriptors.reserve(arrived->count);
    for (Fd& fd : std::span(arrived->descriptors).first(arrived->count)) received.descriptors.push_back(std::move(fd));
  }
  return received;
}

void shut_down(const Fd& socket) noexcept {
  ::shutdown(socket.get(), SHUT_RDWR);
}

bool has_unread(const Fd& socket) noexcept {
  int size = 0;
  return ::ioctl(socket.get(), SIOCOUTQ, &size) == 0 && size > 0;
}

namespace {

// Who keeps to the protocol rarely leaves as many packets unread. To take them all, and judge what is in them, would hold up whoever closes.
constexpr int most_taken = 64;

bool close_if_at_once(Fd& fd) noexcept {
  if (!closes_at_once(fd.get())) return false;
  close_once(fd.release());
  return true;
}

}  // namespace

void close_connection(Fd socket) noexcept {
  if (!socket) return;
  shut_down(socket);  // nothing more comes
  try {
    receive_credentials(socket);  // by them an empty packet differs from the end
    std::array<std::byte, 1> byte;
    bool harmless = true;
    for (int taken = 0; harmless && taken < most_taken; ++taken) {
      auto arrived = take_packet(socket, byte);
      if (!arrived || !arrived->credentials) {
        close_once(socket.release());
        return;
      }
      const auto descriptors = std::span(arrived->descriptors).first(arrived->count);
      harmless = descriptors.size() <= max_descriptors && std::ranges::all_of(descriptors, close_if_at_once);
    }
  } catch (const Error&) {
    return close_aside(socket.release());  // nobody knows what is left there
  }
  close_aside(socket.release());
}

// What is unread may be for another process, so it is not looked at; and a peer may send something at any moment.
void leave_connection(Fd socket) noexcept {
  if (socket) close_aside(socket.release());
}

}  // namespace sinew::os
