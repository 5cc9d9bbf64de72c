// Nodes reduced to their sockets: they register and delete interfaces as fast as the manager goes, and answer whatever it says as nodes do. So what is measured of the
// manager is not bounded by what an interface costs in a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "os/event.hpp"
#include "os/fd.hpp"
#include "os/socket.hpp"
#include "wire/messages.hpp"

namespace sinew::bench {

/// Everything that waits gives up after some seconds. Throws std::runtime_error when the manager says or does what it should not.
class Crowd {
 public:
  /// Whose nodes connect to the manager that listens at `socket`.
  explicit Crowd(std::string socket) : path_(std::move(socket)), buffer_(os::max_packet) {}

  /// Returns when it is registered. Nodes are numbered in the order in which they come.
  std::size_t add_node();
  /// Of the one that came last. The manager sees it some time later.
  void remove_last_node();

  /// Both go on at once: only settle() waits.
  void publish(std::size_t node, const std::string& topic, std::uint64_t endpoint = 0) { add(node, true, topic, endpoint); }
  void subscribe(std::size_t node, const std::string& topic, std::uint64_t endpoint = 0) { add(node, false, topic, endpoint); }
  /// The interface that came last of those that are there. REQUIRES: settle() since it came.
  void remove_last();

  /// Returns when this many introductions have been made since the beginning, and the manager has read all that was sent to it.
  void settle(std::uint64_t introductions);

 private:
  struct Node {
    os::Fd socket;
    std::uint64_t last_publisher = 0, last_subscriber = 0;
    std::uint64_t asked = 0;  // the id of a question that tells how far the manager has read; 0: it is answered
    std::unordered_map<std::uint64_t, wire::Window> windows;  // of its publishers
    bool registered = false;
  };
  struct Interface {
    std::size_t node = 0;
    std::uint64_t id = 0;
    bool publishes = false;
  };

  void add(std::size_t node, bool publishes, const std::string& topic, std::uint64_t endpoint);
  template <class Done>
  void work_until(Done done, const char* otherwise);
  void send(std::size_t node, const wire::Message& message);
  void read_all();
  void handle(std::size_t node, os::Received& received);
  void meet(std::size_t node, std::uint64_t connection, os::Received& received);

  const std::string path_;
  std::vector<std::byte> buffer_;
  std::vector<Node> nodes_;
  std::vector<Interface> interfaces_;
  std::deque<std::pair<std::size_t, wire::Message>> answers_;  // that have yet to be sent, by which node
  std::uint64_t ends_met_ = 0;                                 // two for each introduction
  os::Poller poller_;
};

}  // namespace sinew::bench
