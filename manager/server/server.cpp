#include "manager/server/server.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "base/log.hpp"
#include "base/point.hpp"
#include "os/clock.hpp"
#include "os/container.hpp"
#include "os/memory.hpp"
#include "sinew/error.hpp"

namespace sinew::manager {
namespace {

// Keys of the poller; all others are sessions.
constexpr std::uint64_t stop_key = 0, entrance_key = 1, name_key = 2, last_key = name_key;

// A node that does not read is dropped beyond this. Keeping a packet costs more than its bytes, and a descriptor weighs more than it has, since there are fewer of them.
constexpr std::size_t max_queued = 4 * 1024 * 1024;
constexpr std::size_t packet_weight = 64;
constexpr std::size_t descriptor_weight = 16 * 1024;
// Of pairs that do not fit whoever asks for what a node has not can have it told without end, which is to cost that node nothing: where so much waits for it, it is not told.
constexpr std::size_t most_before_incompatible = max_queued / 4;
// Nor may many that do not read have us keep as much for each.
constexpr std::size_t max_queued_by_all = 16 * max_queued;

// One busy session must not keep the others waiting, with however many packets or however much that each of them asks for.
constexpr int turns_per_event = 64;
constexpr Time longest_turn = 1'000'000;

constexpr Time retry_pause = 100'000'000;

std::uint32_t number(ErrorKind kind) {
  return static_cast<std::uint32_t>(kind);
}

void log_session(base::LogLevel level, Session session, const std::string& text) {
  if (base::log_level() >= level) base::log(level, "sinewd: session " + std::to_string(session) + ": " + text);
}

}  // namespace

std::size_t Server::Outgoing::weight() const noexcept {
  return packet_weight + bytes.size() + (descriptor ? descriptor_weight : 0);
}

Server::Server(Entrance entrance, Domain domain, const os::Fd& stop)
    : entrance_(std::move(entrance)), domain_(std::move(domain)), stop_(stop), reserve_(os::create_eventfd()), last_session_(last_key) {
  poller_.add(stop_, stop_key);
  poller_.add(entrance_.socket(), entrance_key);
}

bool Server::run() {
  watch_name();
  while (!done_) {
    serve_events();
    const Time now = os::now_ns();
    if (retry_at_ && now >= *retry_at_) retry();
    if (const auto due = time_to_leave(); due && now >= *due) perform(domain_.tick(now));
    shrink();
  }
  return !lost_;
}

// Without it we serve as long as anybody is here.
void Server::watch_name() {
  try {
    name_ = entrance_.watch_name();
    poller_.add(name_, name_key);
  } catch (const Error& error) {
    base::log(base::LogLevel::warn, error.what());
  }
  leave_if_lost();  // before it was watched
}

// A second manager there would not know those who are here, nor they those who come there. All of them find that one, or start it.
void Server::leave_if_lost() {
  if (!entrance_.has_lost_name()) return;
  base::log(base::LogLevel::error, "sinewd ends: its socket '" + entrance_.path() + "' was removed or replaced, so no node would find it");
  lost_ = done_ = true;
  connections_.clear();
  try {
    // Who was on the way here is sent away, and not left to the next one that systemd starts at this socket.
    while (os::Fd socket = os::accept_from(entrance_.socket())) os::close_connection(std::move(socket));
  } catch (const Error& error) {
    base::log(base::LogLevel::warn, error.what());
  }
}

void Server::serve_events() {
  const std::optional<Time> due = time_to_leave();
  const std::optional<Time> deadline = due && retry_at_ ? std::min(due, retry_at_) : (due ? due : retry_at_);
  std::size_t count = 0;
  try {
    count = poller_.wait(events_, deadline);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::exhausted) throw;
    base::log(base::LogLevel::error, error.what());  // a shortage, which passes
    os::sleep_for(std::chrono::nanoseconds(retry_pause));
  }
  bool somebody_waits = false;
  for (const os::Poller::Event& event : std::span(events_).first(count)) {
    if (event.key == stop_key) {
      std::optional<os::Fd> lock;
      if (may_leave(lock)) entrance_.remove_file();  // else whoever is about to start a manager replaces it
      done_ = true;
    } else if (event.key == entrance_key) {
      somebody_waits = true;
    } else if (event.key == name_key) {
      os::drain_watch(name_);
      leave_if_lost();
    } else {
      // Either may end the session; both look it up.
      if (event.writable) flush(event.key);
      if (event.readable || event.hung_up) read(event.key);
    }
  }
  // Last, so that newcomers find the names and descriptors of those who left.
  if (somebody_waits && !done_) accept_waiting();
}

// --- sessions come and go --------------------------------------------------------------------------------------------------------

void Server::accept_waiting() {
  try {
    if (!reserve_) reserve_ = os::create_eventfd();  // before whoever comes takes what there is
  } catch (const Error&) {
    reserve_.reset();  // another time; it is said where somebody cannot be accepted
  }
  for (int turn = 0; turn < turns_per_event; ++turn) {
    os::Fd socket;
    try {
      socket = os::accept_from(entrance_.socket());
      if (!socket) return;
      const os::Credentials who = os::peer_credentials(socket);
      const Session session = ++last_session_;
      poller_.add(socket, session);
      connections_[session].socket = std::move(socket);
      perform(domain_.opened(os::now_ns(), session, {.pid = who.pid, .uid = who.uid, .gid = who.gid}, os::container_of(who.pid)));
      log_session(base::LogLevel::debug, session,
                  "process " + std::to_string(who.pid) + " of user " + std::to_string(who.uid) + " connected");
      is_short_ = false;
    } catch (const Error& error) {
      log_shortage(error);
      return socket ? refuse(std::move(socket), error.what()) : turn_one_away(error.what());
    }
  }
}

// Once, until somebody is accepted again: as long as one waits it is tried again and again.
void Server::log_shortage(const Error& error) {
  if (std::exchange(is_short_, true)) return;
  base::log(base::LogLevel::error, std::string("sinewd turns nodes away, or lets them wait, until it can take them: ") + error.what());
}

// A connection that nobody accepts would keep epoll awake for ever. One at a time: somebody may leave meanwhile.
void Server::turn_one_away(const std::string& why) {
  reserve_.reset();
  try {
    if (os::Fd socket = os::accept_from(entrance_.socket())) refuse(std::move(socket), why);
    reserve_ = os::create_eventfd();  // or, if that fails, when somebody is accepted again
  } catch (const Error& error) {
    log_shortage(error);
    if (accepts_) poller_.remove(entrance_.socket());
    accepts_ = false;
    retry_at_ = os::now_ns() + retry_pause;
  }
}

void Server::refuse(os::Fd socket, const std::string& why) {
  const std::string text = "the manager (sinewd) cannot take this node now, but may when others have ended: " + why;
  try {
    os::send_packet(socket, wire::encode(wire::NodeRefused{number(ErrorKind::exhausted), text}));
  } catch (const Error& error) {
    log_shortage(error);  // it finds the connection closed
  }
  os::close_connection(std::move(socket));
}

void Server::lose(Session session, const std::string& why) {
  disconnect(session, why);
  perform(domain_.closed(os::now_ns(), session));
}

void Server::disconnect(Session session, const std::string& why) {
  const auto connection = connections_.find(session);
  if (connection == connections_.end()) return;
  log_session(base::LogLevel::info, session, "ended: " + why);
  poller_.remove(connection->second.socket);
  queued_ -= connection->second.queued;
  connections_.erase(connection);
}

void Server::lose_most_deaf() {
  const auto by_queue = [](const auto& one, const auto& other) { return one.second.queued < other.second.queued; };
  lose(std::ranges::max_element(connections_, by_queue)->first, "it does not read what it is sent, and nobody has more that waits");
}

// Many small blocks lie between what was queued: the allocator would keep it for ever.
void Server::shrink() {
  if (queued_ > max_queued) has_grown_ = true;
  if (queued_ > max_queued / 4 || !std::exchange(has_grown_, false)) return;
  os::give_back_freed_memory();
}

// --- bytes in --------------------------------------------------------------------------------------------------------------------

void Server::read(Session session) {
  // Of the processor: where only the machine stands still, the end of a node is to be seen before the next one of its name comes, as both happened.
  const Time until = os::thread_time_ns() + longest_turn;
  for (int turn = 0; turn < turns_per_event && (turn == 0 || os::thread_time_ns() < until); ++turn) {
    const auto connection = connections_.find(session);
    if (connection == connections_.end()) return;
    try {
      os::Received received = os::receive_packet(connection->second.socket, buffer_);
      if (received.kind == os::Received::Kind::would_block) return;
      handle(session, received);
    } catch (const Error& error) {
      return lose(session, error.what());
    }
  }
}

void Server::handle(Session session, os::Received& received) {
  const Time now = os::now_ns();
  if (received.kind == os::Received::Kind::closed) return lose(session, "the node closed the connection or died");
  const bool lost_descriptors = received.kind == os::Received::Kind::no_room;
  if (received.kind != os::Received::Kind::packet && !lost_descriptors) {
    return perform(domain_.violated(now, session, "a packet is too long, or carries too many descriptors."));
  }
  const auto decoded = wire::decode(std::span(buffer_).first(received.size));
  if (const auto* complaint = std::get_if<wire::Complaint>(&decoded)) return perform(domain_.violated(now, session, complaint->text));
  const auto& message = std::get<wire::Message>(decoded);
  if (std::holds_alternative<wire::Counters>(message) && (lost_descriptors || received.descriptors.size() == 1)) {
    // Looked at by those who see it. For want of a descriptor nobody does, which is no fault of the node's.
    std::vector<Descriptor>& kept = connections_.at(session).counters;
    if (kept.size() < Domain::max_counters)
      kept.push_back(lost_descriptors ? nullptr : std::make_shared<os::Fd>(std::move(received.descriptors[0])));
  } else if (received.descriptors.size() != wire::descriptors_of(message)) {
    return perform(domain_.violated(now, session,
                                    std::string(wire::name_of(message)) + " came with " + std::to_string(received.descriptors.size()) +
                                        " descriptors instead of " + std::to_string(wire::descriptors_of(message)) + "."));
  }
  perform(domain_.message(now, session, message));
  SINEW_POINT("manager.answered");
}

// --- actions out -----------------------------------------------------------------------------------------------------------------

void Server::perform(const Actions& actions) {
  for (const Action& action : actions) {
    std::visit([this](const auto& one) { perform(one); }, action);
  }
}

void Server::perform(const Send& one) {
  send(one.session, one.message);
}

// One of the two may have been lost a moment ago, by what was to be done before this.
void Server::perform(const Show& show) {
  const auto from = connections_.find(show.from);
  if (from == connections_.end()) return;
  if (const Descriptor& file = from->second.counters.at(show.index)) send(show.session, show.message, file);
}

Server::Descriptor Server::end_of_pair(os::Fd end) {
  return {new os::Fd(std::move(end)), [](os::Fd* last) {
            os::close_connection(std::move(*last));
            delete last;
          }};
}

void Server::perform(const Introduce& meet) {
  introductions_.push_back(meet);
  introduce();
}

// In their order. What cannot be made now is kept: those two have their sessions and their names, and lack nothing but each other.
void Server::introduce() {
  while (!introductions_.empty()) {
    std::pair<os::Fd, os::Fd> ends;
    try {
      ends = os::socket_pair();
      os::receive_credentials(ends.first);
      os::receive_credentials(ends.second);
    } catch (const Error& error) {
      if (std::exchange(introduces_, false)) {
        base::log(base::LogLevel::error,
                  std::string("sinewd lets publishers and subscribers wait for each other until it can introduce them: ") + error.what());
      }
      retry_at_ = os::now_ns() + retry_pause;
      // Whoever comes and goes would leave some behind this one each time.
      std::erase_if(introductions_, [&](const Introduce& each) {
        return !connections_.contains(each.publisher) && !connections_.contains(each.subscriber);
      });
      return;
    }
    introduces_ = true;
    const Introduce meet = std::move(introductions_.front());
    introductions_.pop_front();  // before anything is sent: who is lost by it may bring further ones
    SINEW_POINT("manager.pair_made");
    Descriptor to_publisher = end_of_pair(std::move(ends.first)), to_subscriber = end_of_pair(std::move(ends.second));
    // If one of them was lost meanwhile, the other still gets its end, sees that it is closed, and lets go of the window.
    send(meet.publisher, meet.to_publisher, std::move(to_publisher));
    SINEW_POINT("manager.publisher_introduced");
    send(meet.subscriber, meet.to_subscriber, std::move(to_subscriber));
  }
}

void Server::perform(const Drop& drop) {
  disconnect(drop.session, drop.why);
}

// Nobody is waited for: who holds the lock may be stopped, or mean harm.
void Server::perform(const Finish&) {
  std::optional<os::Fd> lock;
  if (!may_leave(lock)) {
    stays_until_ = os::now_ns() + retry_pause;
    return;
  }
  // Who connected before we had the lock relies on us.
  accept_waiting();
  if (!connections_.empty()) return;
  entrance_.remove_file();
  done_ = true;
}

bool Server::may_leave(std::optional<os::Fd>& lock) const {
  try {
    lock = entrance_.try_to_lock();
    return lock.has_value();
  } catch (const Error& error) {
    base::log(base::LogLevel::warn, error.what());  // without its folder nobody can find us, nor start another manager there
    return true;
  }
}

std::optional<Time> Server::time_to_leave() const {
  const std::optional<Time> due = domain_.deadline();
  return due ? std::optional(std::max(*due, stays_until_)) : std::nullopt;
}

void Server::send(Session session, const wire::Message& message, Descriptor descriptor) {
  const auto found = connections_.find(session);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  if (std::holds_alternative<wire::Incompatible>(message) && connection.queued > most_before_incompatible) return;
  Outgoing out{wire::encode(message), std::move(descriptor)};
  const std::size_t weight = out.weight();
  connection.queue.push_back(std::move(out));
  connection.queued += weight;
  queued_ += weight;
  if (connection.queued > max_queued) return lose(session, "it does not read what it is sent");
  if (connection.queue.size() == 1) flush(session);
  if (queued_ > max_queued_by_all) lose_most_deaf();
}

void Server::flush(Session session) {
  const auto found = connections_.find(session);
  if (found == connections_.end()) return;
  Connection& connection = found->second;
  auto result = os::SendResult::sent;
  try {
    while (!connection.queue.empty()) {
      const Outgoing& out = connection.queue.front();
      const int descriptor = out.descriptor ? out.descriptor->get() : -1;
      result = os::send_packet(connection.socket, out.bytes, out.descriptor ? std::span(&descriptor, 1) : std::span<const int>());
      if (result == os::SendResult::closed) {
        // Reading tells, after what the node said last. Of one that has shut down its reading side alone it does not: to that nothing can be sent any more, but there is always room for it.
        queued_ -= std::exchange(connection.queued, 0);
        connection.queue.clear();
        return watch_writable(session, connection, false);
      }
      if (result != os::SendResult::sent) break;
      connection.queued -= out.weight();
      queued_ -= out.weight();
      if (out.descriptor) {
        SINEW_POINT("manager.descriptor_sent");
        // Who got an end may have closed it already: ours is the last one then.
        if (out.descriptor.use_count() == 1) os::leave_connection(std::move(*out.descriptor));
      }
      connection.queue.pop_front();
    }
    watch_writable(session, connection, result == os::SendResult::would_block);
    if (result == os::SendResult::shortage) retry_at_ = os::now_ns() + retry_pause;
  } catch (const Error& error) {
    lose(session, error.what());
  }
}

void Server::watch_writable(Session session, Connection& connection, bool on) {
  if (connection.watches_writable == on) return;
  poller_.change(connection.socket, session, on);
  connection.watches_writable = on;
}

void Server::retry() {
  retry_at_.reset();
  if (!accepts_) {
    try {
      poller_.add(entrance_.socket(), entrance_key);
      accepts_ = true;
    } catch (const Error& error) {
      log_shortage(error);
      retry_at_ = os::now_ns() + retry_pause;
    }
  }
  std::vector<Session> waiting;
  for (const auto& [session, connection] : connections_) {
    if (!connection.queue.empty() && !connection.watches_writable) waiting.push_back(session);
  }
  for (const Session session : waiting) flush(session);
  introduce();
}

}  // namespace sinew::manager
