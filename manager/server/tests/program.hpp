// The real sinewd, and a node reduced to its socket.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "os/fd.hpp"
#include "os/socket.hpp"
#include "wire/messages.hpp"

namespace sinew::manager {

/// An empty folder; removed with everything in it at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  std::string socket() const { return path_ + "/domain.sock"; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A running sinewd; killed at the end of the test if it has not ended.
class Program {
 public:
  struct Start {
    std::vector<std::string> arguments;
    int descriptor_3 = -1;          ///< becomes descriptor 3
    bool as_systemd = false;        ///< with LISTEN_FDS=1 and LISTEN_PID
    unsigned descriptor_limit = 0;  ///< RLIMIT_NOFILE, both limits; 0: as it is
  };
  explicit Program(const Start& start);
  Program(const Program&) = delete;
  ~Program();

  /// Waits for a line of its standard output or error; empty at their end.
  std::string next_line();
  /// Everything it prints from here until its end.
  std::string rest();
  /// Waits until it has ended and gives its exit status, or -signal.
  int wait();
  void signal(int number) const { ::kill(pid_, number); }
  pid_t pid() const { return pid_; }

 private:
  bool read_more();

  pid_t pid_ = -1;
  os::Fd output_;
  std::string buffered_;
};

/// One end of a control connection. Everything that waits gives up, as a failure, after 30 seconds.
class Client {
 public:
  /// Connects to the manager, which must be listening.
  explicit Client(const std::string& path);
  explicit Client(os::Fd socket) : socket_(socket.release()) {}  // what the manager sent is closed as one of our own

  void send(const wire::Message& message) { EXPECT_TRUE(try_send(message)); }
  /// False when the other end is closed.
  bool try_send(const wire::Message& message);
  bool try_send(std::span<const std::byte> bytes, std::span<const int> descriptors = {});
  /// The next message; nothing when the other end is closed.
  std::optional<wire::Message> receive();
  /// The next message, which must be of this kind.
  template <class M>
  M expect() {
    const auto message = receive();
    if (message && std::holds_alternative<M>(*message)) return std::get<M>(*message);
    ADD_FAILURE() << (message ? wire::name_of(*message) : "the end of the connection") << " came instead";
    return {};
  }
  void expect_end() {
    if (const auto message = receive()) ADD_FAILURE() << wire::name_of(*message) << " came instead of the end of the connection";
  }
  wire::NodeRegistered enter(const std::string& name) {
    send(wire::RegisterNode{wire::protocol_version, name});
    return expect<wire::NodeRegistered>();
  }
  /// The descriptors that came with the last message.
  std::vector<os::Fd> descriptors;
  std::optional<os::Credentials> credentials;
  const os::Fd& socket() const { return socket_; }
  void close() { socket_.reset(); }

 private:
  void wait(bool writable);

  os::Fd socket_;
};

wire::TypeDescription some_type();

}  // namespace sinew::manager
