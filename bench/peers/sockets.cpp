// Plain sockets: a header and the payload, written to each subscriber and read into a buffer that is used again. By the way of a run: unix and tcp streams, udp datagrams.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "driver.hpp"

namespace {

using namespace sinew::bench;
using namespace sinew::bench::peers;

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes); }
};

void require(bool holds, const char* what) {
  if (!holds) throw std::system_error(errno, std::generic_category(), what);
}

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) { require(descriptor >= 0, "socket"); }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&&) = delete;
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

Address in_file_system(const std::string& path) {
  Address address;
  auto& name = reinterpret_cast<sockaddr_un&>(address.bytes);
  if (path.size() >= sizeof name.sun_path) throw std::runtime_error("the path is too long for a socket: " + path);
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, path.size());
  address.size = sizeof name;
  return address;
}

Address on_loopback(std::uint16_t port) {
  Address address;
  auto& name = reinterpret_cast<sockaddr_in&>(address.bytes);
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  name.sin_port = htons(port);
  address.size = sizeof name;
  return address;
}

/// How one end finds another: a socket in the file system, or a file with the port.
class Way {
 public:
  explicit Way(const Run& run) : folder_(run.folder), unix_(run.way == "unix"), udp_(run.way == "udp") {
    if (!unix_ && !udp_ && run.way != "tcp") throw std::runtime_error("sockets carry messages by unix, tcp or udp");
    if (udp_ && run.largest() + sizeof(Header) > 65'507) throw std::runtime_error("a datagram holds at most 65507 bytes");
  }
  bool datagrams() const { return udp_; }

  Socket open() const {
    Socket made(socket(unix_ ? AF_UNIX : AF_INET, udp_ ? SOCK_DGRAM : SOCK_STREAM, 0));
    const int on = 1;
    if (!unix_ && !udp_) require(setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "TCP_NODELAY");
    return made;
  }
  /// Others find it by `name` from here on.
  Socket bound(const std::string& name) const {
    Socket made = open();
    const std::string path = folder_ + "/" + name;
    Address address = unix_ ? in_file_system(path + ".coming") : on_loopback(0);
    require(bind(made.get(), address.get(), address.size) == 0, "bind");
    if (!udp_) require(listen(made.get(), 8) == 0, "listen");
    if (!unix_) {
      require(getsockname(made.get(), address.get(), &address.size) == 0, "getsockname");
      std::ofstream(path + ".coming") << ntohs(reinterpret_cast<sockaddr_in&>(address.bytes).sin_port);
    }
    std::filesystem::rename(path + ".coming", path);
    return made;
  }
  bool is_there(const std::string& name) const { return std::filesystem::exists(folder_ + "/" + name); }
  Socket connected(const std::string& name) const {
    Socket made = open();
    std::uint16_t port = 0;
    if (!unix_) std::ifstream(folder_ + "/" + name) >> port;
    Address address = unix_ ? in_file_system(folder_ + "/" + name) : on_loopback(port);
    require(::connect(made.get(), address.get(), address.size) == 0, "connect");
    return made;
  }

 private:
  const std::string folder_;
  const bool unix_, udp_;
};

std::string name_of(const char* role, unsigned index) {
  return role + std::to_string(index);
}

void send_all(int socket, const Header& header, std::span<const std::uint8_t> payload) {
  std::array<iovec, 2> parts{{{const_cast<Header*>(&header), sizeof header}, {const_cast<std::uint8_t*>(payload.data()), payload.size()}}};
  for (std::size_t left = sizeof header + payload.size(); left > 0;) {
    const ssize_t sent = writev(socket, parts.data(), parts.size());
    require(sent > 0 || errno == EINTR, "writev");
    left -= static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
    auto skipped = static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
    for (iovec& part : parts) {
      const std::size_t here = std::min(skipped, part.iov_len);
      part.iov_base = static_cast<std::byte*>(part.iov_base) + here;
      part.iov_len -= here;
      skipped -= here;
    }
  }
}

/// False when the other side has gone.
bool receive_all(int socket, void* into, std::size_t size) {
  for (std::size_t got = 0; got < size;) {
    const ssize_t more = recv(socket, static_cast<std::byte*>(into) + got, size - got, MSG_WAITALL);
    if (more == 0) return false;
    require(more > 0 || errno == EINTR, "recv");
    got += static_cast<std::size_t>(std::max<ssize_t>(more, 0));
  }
  return true;
}

void publish(const Run& run) {
  const Way way(run);
  std::vector<Socket> readers;
  if (way.datagrams()) {
    for (unsigned reader = 0; reader < run.subscribers; ++reader) {
      while (!way.is_there(name_of("reader", reader))) usleep(1000);
      readers.push_back(way.connected(name_of("reader", reader)));
    }
  } else {
    const Socket listener = way.bound(name_of("publisher", run.index));
    while (readers.size() < run.subscribers) readers.emplace_back(accept(listener.get(), nullptr, nullptr));
  }
  connect([] { return true; });
  std::vector<std::uint8_t> payload(run.largest());
  publish_all(run, [&](Header& header, Work& work) {
    work.fill(header, {payload.data(), header.size});
    header.sent = now_ns();
    for (const Socket& reader : readers) send_all(reader.get(), header, {payload.data(), header.size});
  });
}

void subscribe(const Run& run, Arrivals& arrivals) {
  const Way way(run);
  std::vector<Socket> sockets;
  if (way.datagrams()) {
    sockets.push_back(way.bound(name_of("reader", run.index)));
  } else {
    for (unsigned publisher = 0; publisher < run.publishers; ++publisher) {
      while (!way.is_there(name_of("publisher", publisher))) usleep(1000);
      sockets.push_back(way.connected(name_of("publisher", publisher)));
    }
  }
  connect([] { return true; });
  std::vector<std::uint8_t> message(sizeof(Header) + run.largest());
  std::vector<pollfd> waiting;
  waiting.reserve(sockets.size());
  for (const Socket& socket : sockets) waiting.push_back({.fd = socket.get(), .events = POLLIN, .revents = 0});
  while (arrivals.more()) {
    // One blocks in recv(), as anybody would who has one only.
    if (waiting.size() > 1) require(poll(waiting.data(), waiting.size(), -1) > 0 || errno == EINTR, "poll");
    for (const pollfd& each : waiting) {
      if (waiting.size() > 1 && each.revents == 0) continue;
      Header header;
      if (way.datagrams()) {
        const ssize_t got = recv(each.fd, message.data(), message.size(), 0);
        require(got >= static_cast<ssize_t>(sizeof header), "recv");
        std::memcpy(&header, message.data(), sizeof header);
      } else {
        if (!receive_all(each.fd, &header, sizeof header)) return arrivals.wait();
        if (header.size > run.largest()) throw std::runtime_error("a message of another cell came");
        if (!receive_all(each.fd, message.data() + sizeof header, header.size)) return arrivals.wait();
      }
      arrivals.add(header, {message.data() + sizeof header, header.size});
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, {publish, subscribe});
}
