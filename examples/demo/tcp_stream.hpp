// The baseline's transport: length-prefixed frames over loopback TCP, one connection per publisher and subscriber.
//
// A publisher listens on a port the kernel chooses and leaves its number in a file of the run's folder, named for the topic.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace demo {

/// Before every frame on the wire.
struct FrameHeader {
  std::uint64_t size = 0;      ///< of what follows
  std::uint64_t sequence = 0;  ///< from 1, for counting what a subscriber missed
};

using Frame = std::shared_ptr<const std::vector<std::byte>>;  ///< FrameHeader and message, ready to send.

/// An open socket, closed by the destructor.
class Socket {
 public:
  explicit Socket(int fd = -1) noexcept : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Socket& operator=(Socket&&) = delete;
  ~Socket();
  int fd() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Makes every call that blocks on this socket return. Callable from another thread.
  void hang_up() const noexcept;

 private:
  int fd_;
};

/// Sends each frame to every subscriber, from one thread per subscriber, which keeps the newest `depth` frames while the subscriber is slow.
class TcpPublisher {
 public:
  /// Throws std::system_error when loopback TCP does not work here.
  TcpPublisher(const std::filesystem::path& folder, const std::string& topic, std::size_t depth);
  ~TcpPublisher();

  /// Never blocks on a subscriber.
  void publish(const Frame& frame);
  /// Bytes handed to the kernel so far, all subscribers together.
  std::uint64_t bytes_sent() const noexcept { return bytes_sent_; }

 private:
  struct Subscriber {
    explicit Subscriber(Socket connected) : socket(std::move(connected)) {}
    Socket socket;
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<Frame> waiting;  // guarded by mutex
    bool closing = false;       // guarded by mutex
    std::thread sender;
  };

  void accept_subscribers();
  void send_to(Subscriber& subscriber);

  const std::size_t depth_;
  const Socket listener_;
  std::atomic<std::uint64_t> bytes_sent_{0};
  std::mutex mutex_;
  std::list<Subscriber> subscribers_;  // guarded by mutex_
  std::thread acceptor_;
};

/// Receives the frames of a topic in a thread of its own.
class TcpSubscriber {
 public:
  /// Called with each message, without its FrameHeader; the bytes are valid during the call.
  using Receiver = std::function<void(std::span<const std::byte> message, std::uint64_t sequence)>;

  /// Waits for the publisher in the background, for as long as it takes.
  TcpSubscriber(std::filesystem::path folder, std::string topic, Receiver receiver);
  /// Returns when the receiver is not running and will not be called again.
  ~TcpSubscriber();

 private:
  void receive();
  bool connect_when_published();

  const std::filesystem::path folder_;
  const std::string topic_;
  const Receiver receiver_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;  // guarded by mutex_
  const Socket socket_;
  std::thread thread_;
};

}  // namespace demo
