#include "tcp_stream.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

namespace demo {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Socket new_socket() {
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) fail("opening a TCP socket");
  return socket;
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

void send_without_delay(const Socket& socket) {
  const int on = 1;
  ::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

std::filesystem::path port_file(const std::filesystem::path& folder, std::string topic) {
  std::replace(topic.begin(), topic.end(), '/', '.');
  return folder / (topic + ".port");
}

Socket listen_for(const std::filesystem::path& folder, const std::string& topic) {
  Socket socket = new_socket();
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(socket.fd(), reinterpret_cast<const sockaddr*>(&address), size) != 0) fail("binding to loopback");
  if (::listen(socket.fd(), 16) != 0) fail("listening on loopback");
  if (::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("asking for the port");
  const auto path = port_file(folder, topic);
  auto unfinished = path;
  unfinished += ".new";
  std::ofstream(unfinished) << ntohs(address.sin_port) << '\n';
  std::filesystem::rename(unfinished, path);  // so that nobody reads half a number
  return socket;
}

bool receive_all(const Socket& socket, void* to, std::size_t size) {
  auto* at = static_cast<std::byte*>(to);
  while (size > 0) {
    const ssize_t got = ::recv(socket.fd(), at, size, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

Socket::~Socket() {
  if (fd_ >= 0) ::close(fd_);
}

void Socket::hang_up() const noexcept {
  ::shutdown(fd_, SHUT_RDWR);
}

TcpPublisher::TcpPublisher(const std::filesystem::path& folder, const std::string& topic, std::size_t depth)
    : depth_(depth), listener_(listen_for(folder, topic)), acceptor_([this] { accept_subscribers(); }) {}

TcpPublisher::~TcpPublisher() {
  listener_.hang_up();
  acceptor_.join();
  for (Subscriber& subscriber : subscribers_) {
    {
      const std::lock_guard lock(subscriber.mutex);
      subscriber.closing = true;
    }
    subscriber.changed.notify_one();
    subscriber.socket.hang_up();
    subscriber.sender.join();
  }
}

void TcpPublisher::accept_subscribers() {
  for (;;) {
    Socket connected(::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connected) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    send_without_delay(connected);
    const std::lock_guard lock(mutex_);
    Subscriber& subscriber = subscribers_.emplace_back(std::move(connected));
    subscriber.sender = std::thread([this, &subscriber] { send_to(subscriber); });
  }
}

void TcpPublisher::publish(const Frame& frame) {
  const std::lock_guard lock(mutex_);
  for (Subscriber& subscriber : subscribers_) {
    {
      const std::lock_guard queue_lock(subscriber.mutex);
      if (subscriber.closing) continue;
      subscriber.waiting.push_back(frame);
      if (subscriber.waiting.size() > depth_) subscriber.waiting.pop_front();
    }
    subscriber.changed.notify_one();
  }
}

void TcpPublisher::send_to(Subscriber& subscriber) {
  for (;;) {
    Frame frame;
    {
      std::unique_lock lock(subscriber.mutex);
      subscriber.changed.wait(lock, [&] { return subscriber.closing || !subscriber.waiting.empty(); });
      if (subscriber.closing) return;
      frame = std::move(subscriber.waiting.front());
      subscriber.waiting.pop_front();
    }
    for (std::span<const std::byte> rest = *frame; !rest.empty();) {
      const ssize_t sent = ::send(subscriber.socket.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) {  // the subscriber is gone: keep nothing for it
        const std::lock_guard lock(subscriber.mutex);
        subscriber.closing = true;
        subscriber.waiting.clear();
        return;
      }
      bytes_sent_ += static_cast<std::uint64_t>(sent);
      rest = rest.subspan(static_cast<std::size_t>(sent));
    }
  }
}

TcpSubscriber::TcpSubscriber(std::filesystem::path folder, std::string topic, Receiver receiver)
    : folder_(std::move(folder)), topic_(std::move(topic)), receiver_(std::move(receiver)), socket_(new_socket()), thread_([this] {
        receive();
      }) {}

TcpSubscriber::~TcpSubscriber() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    socket_.hang_up();
  }
  changed_.notify_one();
  thread_.join();
}

bool TcpSubscriber::connect_when_published() {
  const auto path = port_file(folder_, topic_);
  int port = 0;
  std::unique_lock lock(mutex_);
  while (!(std::ifstream(path) >> port)) {
    if (changed_.wait_for(lock, std::chrono::milliseconds(10), [&] { return closing_; })) return false;
  }
  // Under the lock, so that the destructor hangs up either before, or after, but not between; loopback connects at once.
  const sockaddr_in address = loopback(port);
  return !closing_ && ::connect(socket_.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

void TcpSubscriber::receive() {
  if (!connect_when_published()) return;
  send_without_delay(socket_);
  std::vector<std::byte> message;
  FrameHeader header;
  while (receive_all(socket_, &header, sizeof header)) {
    message.resize(header.size);
    if (!receive_all(socket_, message.data(), message.size())) return;
    receiver_(message, header.sequence);
  }
}

}  // namespace demo
