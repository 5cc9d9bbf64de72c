// The real sinewd, and a node reduced to its socket.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "manager/server/tests/talk.hpp"
#include "os/fd.hpp"
#include "os/tests/support.hpp"
#include "wire/messages.hpp"

namespace sinew::manager {

class Folder : public os::test::TempFolder {
 public:
  std::string socket() const { return path() + "/domain.sock"; }
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

/// What a node has to the manager, or to another node.
class Client : public Talk {
 public:
  /// Connects to the manager, which must be listening.
  explicit Client(const std::string& path);
  using Talk::Talk;

  void send(const wire::Message& message) { EXPECT_TRUE(try_send(message)); }
  /// False when the other end is closed.
  bool try_send(const wire::Message& message) { return Talk::send(message); }
  void expect_end() {
    if (const auto message = receive()) ADD_FAILURE() << wire::name_of(*message) << " came instead of the end of the connection";
  }
  wire::NodeRegistered enter(const std::string& name) {
    send(wire::RegisterNode{wire::protocol_version, name});
    return expect<wire::NodeRegistered>();
  }
};

wire::TypeDescription some_type();

}  // namespace sinew::manager
