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
#include <optional>
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
class TypedInlet : public Inlet {
 public:
  TypedInlet(Descriptor socket, Tally& tally) : Inlet(std::move(socket)), tally_(tally) {}

 protected:
  virtual void called_back(const std::shared_ptr<T>& message) { take_down(*message, tally_); }

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
    called_back(message);
  }

  const msg::cdr::Reader reader_{*msg::message_of<T>().type};
  msg::HeapMemory heap_;
  Tally& tally_;
};

template <class T>
class UdpOutlet final : public Outlet {
 public:
  /// REQUIRES: the subscriptions have their ports.
  UdpOutlet(const Publication& publication, const Board& board) : publication_(publication) {
    sockets_.reserve(publication.subscriptions.size());
    for (const unsigned index : publication.subscriptions) sockets_.push_back(connect_socket(board.subscription(index).port));
  }

  std::int64_t publish(std::uint32_t number) override {
    const auto message = std::make_unique_for_overwrite<T>();
    const std::int64_t stamp = fill(*message, publication_, number);
    send(*message);
    return stamp;
  }

  void send(const T& message) {
    stream_.resize(codec_.measure(&message).value().stream);
    codec_.write(&message, stream_.data());
    for (const Descriptor& socket : sockets_) {
      take_apart(message.header.tracking_number, stream_,
                 [&socket](DatagramHead head, std::span<const std::byte> bytes) { send_datagram(socket.get(), head, bytes); });
    }
  }

 private:
  // What is not sent, since a buffer is full or the other side has ended, is lost, and is counted as that.
  static void send_datagram(int socket, DatagramHead head, std::span<const std::byte> bytes) {
    std::array<iovec, 2> parts{{{&head, sizeof head}, {const_cast<std::byte*>(bytes.data()), bytes.size()}}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    while (sendmsg(socket, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
    }
  }

  std::vector<Descriptor> sockets_;
  const Publication& publication_;
  const msg::cdr::Codec codec_{*msg::message_of<T>().type};
  std::vector<std::byte> stream_;  // serialized once for all subscriptions; its memory is used again
};

/// Changes the images that it has put together, which are its own.
class Relay final : public TypedInlet<Image> {
 public:
  Relay(Descriptor socket, Tally& tally, const Publication& publication, const Board& board)
      : TypedInlet(std::move(socket), tally), publication_(publication), board_(board) {}

 private:
  void called_back(const std::shared_ptr<Image>& image) override {
    TypedInlet::called_back(image);
    draw_mark(*image);
    if (!outlet_) outlet_.emplace(publication_, board_);
    outlet_->send(*image);
  }

  const Publication& publication_;
  const Board& board_;
  std::optional<UdpOutlet<Image>> outlet_;  // made when all ports are there
};

class UdpMember final : public Member {
 public:
  UdpMember(Reactor& reactor, const Board& board) : reactor_(reactor), board_(board) {}

  void subscribe(const Subscription& subscription, Tally& tally) override {
    with_type(subscription.type, [&]<class T>() { watch(std::make_unique<TypedInlet<T>>(bind_socket(port_of(subscription)), tally)); });
  }

  void relay(const Subscription& subscription, const Publication& publication, Tally& tally) override {
    watch(std::make_unique<Relay>(bind_socket(port_of(subscription)), tally, publication, board_));
  }

  std::unique_ptr<Outlet> advertise(const Publication& publication) override {
    std::unique_ptr<Outlet> outlet;
    with_type(publication.type, [&]<class T>() { outlet = std::make_unique<UdpOutlet<T>>(publication, board_); });
    return outlet;
  }

  bool connected() const override { return true; }

  void every(std::int64_t period, std::function<void()> tick) override { reactor_.every(now_ns() + period, period, std::move(tick)); }

 private:
  std::atomic<std::uint32_t>& port_of(const Subscription& subscription) const { return board_.subscription(subscription.index).port; }
  void watch(std::unique_ptr<Inlet> inlet) {
    const auto& watched = inlets_.emplace_back(std::move(inlet));
    reactor_.watch(watched->socket(), [inlet = watched.get()] { inlet->receive(); });
  }

  Reactor& reactor_;
  const Board& board_;
  std::vector<std::unique_ptr<Inlet>> inlets_;
};

class UdpEngine final : public Engine {
 public:
  explicit UdpEngine(Nodes nodes) : threads_(nodes == Nodes::on_threads) {}
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
  return run_worker(argc, argv, [](Nodes nodes) -> std::unique_ptr<Engine> { return std::make_unique<UdpEngine>(nodes); });
}
