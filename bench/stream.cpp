#include "stream.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "descriptor.hpp"

namespace sinew::bench {

namespace {

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

struct Header {
  std::uint64_t size;
  std::int64_t stamp;
};

using Pair = std::pair<Descriptor, Descriptor>;  // the publisher's end and the subscriber's

Pair connect_tcp() {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener.get(), generic, length) != 0 || listen(listener.get(), 1) != 0 || getsockname(listener.get(), generic, &length) != 0) {
    fail("listening on the loopback");
  }
  Descriptor publisher(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
  const int on = 1;
  if (connect(publisher.get(), generic, length) != 0 || setsockopt(publisher.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
    fail("connecting on the loopback");
  }
  return {std::move(publisher), Descriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept")};
}

Pair connect_unix() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
  return {Descriptor(ends[0], "socketpair"), Descriptor(ends[1], "socketpair")};
}

void send_all(int socket, const std::byte* data, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = send(socket, data, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) fail("send");
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

class StreamSource final : public Source {
 public:
  StreamSource(std::vector<int> sockets, std::size_t size) : sockets_(std::move(sockets)), message_(sizeof(Header) + size) {}

  void fill(std::uint8_t value) override { std::memset(message_.data() + sizeof(Header), value, message_.size() - sizeof(Header)); }
  void send(std::int64_t stamp) override {
    const Header header{message_.size() - sizeof(Header), stamp};
    std::memcpy(message_.data(), &header, sizeof header);
    for (const int socket : sockets_) send_all(socket, message_.data(), message_.size());
    bytes_copied_ += sockets_.size() * header.size;
  }
  std::uint64_t bytes_copied() const override { return bytes_copied_; }

 private:
  const std::vector<int> sockets_;
  std::vector<std::byte> message_;
  std::uint64_t bytes_copied_ = 0;
};

class StreamSink final : public Sink {
 public:
  StreamSink(const std::vector<int>& sockets, bool spin, Arrivals& arrivals) : spin_(spin), arrivals_(arrivals) {
    for (const int socket : sockets) waiting_.push_back({socket, POLLIN, 0});
  }

  // A stream loses nothing, so this ends by itself.
  void receive(int /*stop*/) override {
    while (!arrivals_.complete()) {
      if (waiting_.size() == 1) {
        take(waiting_.front().fd);
        continue;
      }
      if (poll(waiting_.data(), waiting_.size(), spin_ ? 0 : -1) < 0 && errno != EINTR) fail("poll");
      for (const pollfd& each : waiting_) {
        if (each.revents != 0) take(each.fd);
      }
    }
  }
  std::uint64_t bytes_copied() const override { return bytes_copied_; }

 private:
  void take(int socket) {
    Header header;
    receive_all(socket, reinterpret_cast<std::byte*>(&header), sizeof header);
    payload_.resize(header.size);
    receive_all(socket, reinterpret_cast<std::byte*>(payload_.data()), payload_.size());
    bytes_copied_ += payload_.size();
    arrivals_.add(header.stamp, payload_);
  }

  void receive_all(int socket, std::byte* data, std::size_t size) const {
    while (size > 0) {
      const ssize_t got = recv(socket, data, size, spin_ ? MSG_DONTWAIT : MSG_WAITALL);
      if (got == 0) throw std::runtime_error("the publisher closed its connection");
      if (got < 0 && errno == EAGAIN) {
        spin_hint();
        continue;
      }
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("recv");
      data += got;
      size -= static_cast<std::size_t>(got);
    }
  }

  const bool spin_;
  Arrivals& arrivals_;
  std::vector<pollfd> waiting_;
  std::vector<std::uint8_t> payload_;
  std::uint64_t bytes_copied_ = 0;
};

class StreamTransport final : public Transport {
 public:
  StreamTransport(const Cell& cell, Stream kind) : cell_(cell) {
    for (unsigned i = 0; i < cell.publishers * cell.subscribers; ++i) {
      pairs_.push_back(kind == Stream::tcp ? connect_tcp() : connect_unix());
    }
  }
  std::unique_ptr<Source> open_source(unsigned publisher) override {
    std::vector<int> sockets;
    sockets.reserve(cell_.subscribers);
    for (unsigned subscriber = 0; subscriber < cell_.subscribers; ++subscriber) sockets.push_back(pair(publisher, subscriber).first.get());
    return std::make_unique<StreamSource>(std::move(sockets), cell_.size);
  }
  std::unique_ptr<Sink> open_sink(unsigned subscriber, Arrivals& arrivals) override {
    std::vector<int> sockets;
    sockets.reserve(cell_.publishers);
    for (unsigned publisher = 0; publisher < cell_.publishers; ++publisher) sockets.push_back(pair(publisher, subscriber).second.get());
    return std::make_unique<StreamSink>(sockets, cell_.spin, arrivals);
  }

 private:
  const Pair& pair(unsigned publisher, unsigned subscriber) const { return pairs_[publisher * cell_.subscribers + subscriber]; }

  const Cell cell_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::unique_ptr<Transport> make_stream(const Cell& cell, Stream kind) {
  return std::make_unique<StreamTransport>(cell, kind);
}

}  // namespace sinew::bench
