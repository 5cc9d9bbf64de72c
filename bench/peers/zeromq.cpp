// ZeroMQ: one socket binds for each publisher, all subscribers connect to it; by ipc (Unix domain sockets) or tcp (loopback, without
// Nagle's delay by default). The header is in front of the payload in one zmq_msg of the message's size, eight of which wait at either end.
// A publisher drops what finds its end full: that is the newest, since ZeroMQ has no such queue that keeps it.
#include <unistd.h>
#include <zmq.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>

#include "clock.hpp"
#include "driver.hpp"

namespace {

using namespace sinew::bench;
using namespace sinew::bench::peers;

constexpr int depth = 8;

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string(what) + ": " + zmq_strerror(errno));
}

class Context {
 public:
  Context() : context_(zmq_ctx_new()) { require(context_ != nullptr, "zmq_ctx_new"); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { zmq_ctx_term(context_); }
  void* get() const { return context_; }

 private:
  void* const context_;
};

class Socket {
 public:
  Socket(const Context& context, int type) : socket_(zmq_socket(context.get(), type)) {
    require(socket_ != nullptr, "zmq_socket");
    set(ZMQ_SNDHWM, depth);
    set(ZMQ_RCVHWM, depth);
    set(ZMQ_LINGER, 0);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { zmq_close(socket_); }
  void* get() const { return socket_; }
  void set(int option, int value) const { require(zmq_setsockopt(socket_, option, &value, sizeof value) == 0, "zmq_setsockopt"); }

 private:
  void* const socket_;
};

/// The header, and the payload behind it.
class Message {
 public:
  Message() { zmq_msg_init(&message_); }
  explicit Message(std::size_t payload) { require(zmq_msg_init_size(&message_, sizeof(Header) + payload) == 0, "zmq_msg_init_size"); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  ~Message() { zmq_msg_close(&message_); }

  void put(const Header& header) { std::memcpy(zmq_msg_data(&message_), &header, sizeof header); }
  Header header() {
    Header header;
    if (zmq_msg_size(&message_) < sizeof header) throw std::runtime_error("a message of another cell came");
    std::memcpy(&header, zmq_msg_data(&message_), sizeof header);
    return header;
  }
  std::span<std::uint8_t> payload() {
    return {static_cast<std::uint8_t*>(zmq_msg_data(&message_)) + sizeof(Header), zmq_msg_size(&message_) - sizeof(Header)};
  }
  void send(const Socket& socket) { require(zmq_msg_send(&message_, socket.get(), 0) >= 0, "zmq_msg_send"); }
  /// False when nothing has come.
  bool receive(const Socket& socket, bool blocks) {
    const bool received = zmq_msg_recv(&message_, socket.get(), blocks ? 0 : ZMQ_DONTWAIT) >= 0;
    require(received || errno == EAGAIN || errno == EINTR, "zmq_msg_recv");
    return received;
  }

 private:
  zmq_msg_t message_;
};

/// Where the address of a publisher is found.
std::string file_of(const Run& run, unsigned publisher) {
  return run.folder + "/publisher" + std::to_string(publisher);
}

void require_way(const Run& run) {
  if (run.way != "ipc" && run.way != "tcp") throw std::runtime_error("ZeroMQ carries messages by ipc or tcp");
}

void bind_in(const Run& run, const Socket& socket) {
  const std::string file = file_of(run, run.index);
  require(zmq_bind(socket.get(), (run.way == "ipc" ? "ipc://" + file + ".socket" : "tcp://127.0.0.1:*").c_str()) == 0, "zmq_bind");
  std::array<char, 256> address{};
  std::size_t size = address.size();
  require(zmq_getsockopt(socket.get(), ZMQ_LAST_ENDPOINT, address.data(), &size) == 0, "ZMQ_LAST_ENDPOINT");
  std::ofstream(file + ".coming") << address.data();
  std::filesystem::rename(file + ".coming", file);
}

void publish(const Run& run) {
  require_way(run);
  const Context context;
  // XPUB is PUB that also tells of each subscription.
  const Socket socket(context, ZMQ_XPUB);
  socket.set(ZMQ_XPUB_VERBOSE, 1);
  bind_in(run, socket);
  unsigned subscriptions = 0;
  connect([&] {
    for (Message told; told.receive(socket, false);) ++subscriptions;
    return subscriptions == run.subscribers;
  });
  publish_all(run, [&](Header& header, Work& work) {
    Message message(header.size);
    work.fill(header, message.payload());
    header.sent = now_ns();
    message.put(header);
    message.send(socket);
  });
}

void subscribe(const Run& run, Arrivals& arrivals) {
  require_way(run);
  const Context context;
  const Socket socket(context, ZMQ_SUB);
  // A publisher's socket carries one topic, so that all of it is wanted.
  require(zmq_setsockopt(socket.get(), ZMQ_SUBSCRIBE, "", 0) == 0, "ZMQ_SUBSCRIBE");
  for (unsigned publisher = 0; publisher < run.publishers; ++publisher) {
    const std::string file = file_of(run, publisher);
    while (!std::filesystem::exists(file)) usleep(1000);
    std::string address;
    std::ifstream(file) >> address;
    require(zmq_connect(socket.get(), address.c_str()) == 0, "zmq_connect");
  }
  connect([] { return true; });  // publishers know when that has come to them
  // ZeroMQ's thread that reads the socket sleeps, even where this one spins.
  while (arrivals.more()) {
    Message message;
    if (!message.receive(socket, !run.spins)) {
      spin_hint();
      continue;
    }
    arrivals.add(message.header(), message.payload());
  }
}

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, {publish, subscribe});
}
