// The manager's hands: carries bytes and descriptors between sockets and the domain, in one thread.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "manager/server/entrance.hpp"
#include "manager/state/domain.hpp"
#include "os/event.hpp"
#include "os/fd.hpp"
#include "os/socket.hpp"
#include "wire/messages.hpp"

namespace sinew::manager {

class Server {
 public:
  /// `stop` is an eventfd; ringing it ends run().
  Server(Entrance entrance, Domain domain, const os::Fd& stop);

  /// Serves until stopped or, when the domain lingers, until nobody was connected for that long; then removes the socket's file. Waits in epoll without a
  /// time limit while nothing is due. No error of one session ends it or touches another session.
  /// False when it has ended since the file was not its own any more: nodes that come find none here, or another manager, and those that are here go there.
  bool run();

 private:
  /// A file of counters, which may be on its way to many, or an end of a pair.
  using Descriptor = std::shared_ptr<os::Fd>;
  /// Whoever has the other end may have sent there already what closes slowly: that holds nobody up.
  static Descriptor end_of_pair(os::Fd end);
  struct Outgoing {
    std::vector<std::byte> bytes;
    Descriptor descriptor;  // or none
    std::size_t weight() const noexcept;
  };
  struct Connection {
    Connection() = default;
    /// What a node sent to be closed slowly holds nobody up.
    ~Connection() { os::close_connection(std::move(socket)); }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    os::Fd socket;
    std::vector<Descriptor> counters;  // the node's files, for those who want to see them
    std::deque<Outgoing> queue;        // what the socket would not take yet
    std::size_t queued = 0;            // weight of it
    bool watches_writable = false;
  };

  void serve_events();
  void watch_name();
  void leave_if_lost();
  void accept_waiting();
  void turn_one_away(const std::string& why);
  void refuse(os::Fd socket, const std::string& why);
  void log_shortage(const Error& error);
  void read(Session session);
  void handle(Session session, os::Received& received);
  void flush(Session session);
  void retry();
  void perform(const Actions& actions);
  void perform(const Send& send);
  void perform(const Introduce& meet);
  void introduce();
  void perform(const Show& show);
  void perform(const Drop& drop);
  void perform(const Finish& finish);
  /// False when somebody is about to start a manager here. `lock` is not had either where nobody can find us any more.
  bool may_leave(std::optional<os::Fd>& lock) const;
  std::optional<Time> time_to_leave() const;
  void send(Session session, const wire::Message& message, Descriptor descriptor = nullptr);
  void lose(Session session, const std::string& why);
  void lose_most_deaf();
  void shrink();
  void disconnect(Session session, const std::string& why);
  void watch_writable(Session session, Connection& connection, bool on);

  Entrance entrance_;
  Domain domain_;
  const os::Fd& stop_;
  os::Poller poller_;
  os::Fd name_;     // readable when the entrance may have lost its name
  os::Fd reserve_;  // given up to accept, and refuse, a connection when descriptors have run out
  std::unordered_map<Session, Connection> connections_;
  std::size_t queued_ = 0;  // of all of them
  bool has_grown_ = false;
  std::deque<Introduce> introductions_;  // yet to be made; of each session at most as many as it may have unanswered
  Session last_session_;
  Time stays_until_ = 0;          // since somebody else had locked the entrance
  std::optional<Time> retry_at_;  // set while the kernel refuses for want of something that gives no event when it is there again
  bool accepts_ = true;
  bool is_short_ = false;  // of what it takes to accept somebody, which was said
  bool introduces_ = true;
  bool done_ = false, lost_ = false;
  std::array<os::Poller::Event, 64> events_;
  std::array<std::byte, os::max_packet> buffer_;
};

}  // namespace sinew::manager
