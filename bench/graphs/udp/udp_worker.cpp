// sinew-bench-graph-udp: nodes of a graph whose messages go over the loopback as UDP, serialized, as they would between nodes that share no memory.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "descriptor.hpp"
#include "graphs/messages.hpp"
#include "graphs/reactor.hpp"
#include "graphs/udp/assembly.hpp"
#include "graphs/worker.hpp"
#include "msg/cdr/cdr.hpp"
#include "msg/heap_memory.hpp"
#include "sinew/msg/reflect.hpp"

namespace sinew::bench::graphs {

namespace {

// Most of a second of the largest topic's. Beyond what the system allows an ordinary user (net.core.rmem_max) only root gets it.
constexpr int receive_buffer = 8 << 20;

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

sockaddr_in loopback(std::uint32_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

Descriptor open_socket() {
  return {socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"};
}

Descriptor bind_socket(std::atomic<std::uint32_t>& port) {
  Descriptor descriptor = open_socket();
  const int wanted = receive_buffer;
  if (setsockopt(descriptor.get(), SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof wanted) != 0 &&
      setsockopt(descriptor.get(), SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted) != 0) {
    fail("setting the size of a receive buffer");
  }
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(descriptor.get(), generic, length) != 0 || getsockname(descriptor.get(), generic, &length) != 0) fail("bind");
  port.store(ntohs(address.sin_port), std::memory_order_release);
  return descriptor;
}

Descriptor connect_socket(std::uint32_t port) {
  Descriptor descriptor = open_socket();
  const sockaddr_in address = loopback(port);
  if (connect(descriptor.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail("connect");
  return descriptor;
}

/// Receives the messages of one subscription.
class Inlet {
 public:
  explicit Inlet(Descriptor socket) : socket_(std::move(socket)) {}
  virtual ~Inlet() = default;
  int socket() const { return socket_.get(); }

  /// Takes one message, or what there is of it. Called when there is something.
  void receive() {
    do {
      DatagramHead head{};
      const std::span<std::byte> place = assembly_.place();
      std::array<iovec, 2> parts{{{&head, sizeof head}, {place.data(), place.size()}}};
      msghdr message{};
      message.msg_iov = parts.data();
      message.msg_iovlen = parts.size();
      const ssize_t got = recvmsg(socket_.get(), &message, MSG_DONTWAIT);
      if (got < static_cast<ssize_t>(sizeof head)) return;
      if (const auto stream = assembly_.add(head, static_cast<std::size_t>(got) - sizeof head)) take(*stream);
    } while (assembly_.is_amid());
  }

 private:
  virtual void take(std::span<const std::byte> stream) = 0;

  const Descriptor socket_;
  Assembly assembly_;
};

template <class T>
class TypedInlet final : public Inlet {
 public:
  TypedInlet(Descriptor socket, Tally& tally) : Inlet(std::move(socket)), tally_(tally) {}

 private:
  void take(std::span<const std::byte> stream) override {
    auto message = std::make_shared_for_overwrite<T>();
    std::destroy_at(message.get());  // the reader makes it anew, in the same place
    const msg::cdr::Read read = reader_.read({&stream, 1}, message.get(), heap_, reader_.usual_budget(stream.size()));
    if (!read.complaint.empty()) {
      std::construct_at(message.get());
      std::fprintf(stderr, "sinew-bench-graph-udp: %s\n", read.complaint.c_str());
      std::abort();
    }
    called_back(std::move(message));
  }
  void called_back(const std::shared_ptr<const T>& message) {
    const std::int64_t now = now_ns();
    tally_.add(now, stamp_of(message->header), is_whole(*message));
  }

  const msg::cdr::Reader reader_{*msg::message_of<T>().type};
  msg::HeapMemory heap_;
  Tally& tally_;
};

template <class T>
class UdpOutlet final : public Outlet {
 public:
  UdpOutlet(std::vector<Descriptor> sockets, const Publication& publication) : sockets_(std::move(sockets)), publication_(publication) {}

  std::int64_t publish(std::uint32_t number) override {
    const auto message = std::make_unique_for_overwrite<T>();
    const std::int64_t stamp = fill(*message, publication_, number);
    stream_.resize(codec_.measure(message.get()).value().stream);
    codec_.write(message.get(), stream_.data());
    for (const Descriptor& socket : sockets_) {
      take_apart(number, stream_, [&socket](DatagramHead head, std::span<const std::byte> bytes) { send(socket.get(), head, bytes); });
    }
    return stamp;
  }

 private:
  // What is not sent, since a buffer is full or the other side has ended, is lost, and is counted as that.
  static void send(int socket, DatagramHead head, std::span<const std::byte> bytes) {
    std::array<iovec, 2> parts{{{&head, sizeof head}, {const_cast<std::byte*>(bytes.data()), bytes.size()}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
  }

  const std::vector<Descriptor> sockets_;
  const Publication& publication_;
  const msg::cdr::Codec codec_{*msg::message_of<T>().type};
  std::vector<std::byte> stream_;  // serialized once for all subscriptions; its memory is used again
};

class UdpMember final : public Member {
 public:
  UdpMember(Reactor& reactor, const Board& board) : reactor_(reactor), board_(board) {}

  void subscribe(const Subscription& subscription, Tally& tally) override {
    with_type(subscription.type, [&]<class T>() {
      inlets_.push_back(std::make_unique<TypedInlet<T>>(bind_socket(board_.subscription(subscription.index).port), tally));
    });
    reactor_.watch(inlets_.back()->socket(), [inlet = inlets_.back().get()] { inlet->receive(); });
  }

  std::unique_ptr<Outlet> advertise(const Publication& publication) override {
    std::vector<Descriptor> sockets;
    sockets.reserve(publication.subscriptions.size());
    for (const unsigned index : publication.subscriptions) sockets.push_back(connect_socket(board_.subscription(index).port));
    std::unique_ptr<Outlet> outlet;
    with_type(publication.type, [&]<class T>() { outlet = std::make_unique<UdpOutlet<T>>(std::move(sockets), publication); });
    return outlet;
  }

  bool connected() const override { return true; }

  void every(std::int64_t period, std::function<void()> tick) override { reactor_.every(now_ns() + period, period, std::move(tick)); }

 private:
  Reactor& reactor_;
  const Board& board_;
  std::vector<std::unique_ptr<Inlet>> inlets_;
};

class UdpEngine final : public Engine {
 public:
  explicit UdpEngine(bool threads) : threads_(threads) {}
  std::unique_ptr<Member> add(const GraphNode&, const Board& board) override {
    if (threads_ || reactors_.empty()) reactors_.emplace_back();
    return std::make_unique<UdpMember>(reactors_.back(), board);
  }

 private:
  const bool threads_;
  std::deque<Reactor> reactors_;
};

}  // namespace
}  // namespace sinew::bench::graphs

int main(int argc, char** argv) {
  using namespace sinew::bench::graphs;
  return run_worker(argc, argv, [](bool threads) -> std::unique_ptr<Engine> { return std::make_unique<UdpEngine>(threads); });
}
