// The manager's mind: which nodes, topics, publishers and subscribers there are, and who must be told what.
//
// Pure: no system call, no clock, no descriptor. Each event comes with the time it happened at and gives the actions that follow from it, to be
// carried out in their order. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "manager/state/access.hpp"
#include "manager/state/id_set.hpp"
#include "manager/state/introductions.hpp"
#include "manager/state/watches.hpp"
#include "manager/state/windows.hpp"
#include "sinew/error.hpp"
#include "wire/messages.hpp"

namespace sinew::manager {

/// Who has connected, as the kernel says.
struct Who {
  std::int64_t pid = 0;
  User uid = 0;
  Group gid = 0;
};

/// Monotonic nanoseconds.
using Time = std::int64_t;

struct Send {
  Session session = 0;
  wire::Message message;
};
/// Make a socket pair whose ends receive credentials, send each session its message with one end, and close both at once: while the manager keeps
/// an end, nobody notices the death of the other side. Both may be the same session.
struct Introduce {
  Session publisher = 0, subscriber = 0;
  wire::ConnectPublisher to_publisher;
  wire::ConnectSubscriber to_subscriber;
};
/// As Send, with the file of counters that `from` has sent as its `index`-th (from 0).
struct Show {
  Session session = 0;
  wire::DomainCounters message;
  Session from = 0;
  std::size_t index = 0;
};
/// Close this session's connection once what was sent to it before is on its way. The domain has forgotten it already.
struct Drop {
  Session session = 0;
  std::string why;
};
/// Nobody has been here for the time that the manager lingers.
struct Finish {};
using Action = std::variant<Send, Introduce, Show, Drop, Finish>;
using Actions = std::vector<Action>;

class Domain {
 public:
  /// A session for whose answers more introductions wait is dropped.
  static constexpr std::size_t max_waiting = 65'536;
  /// Of the pairs that one event brings and whose qualities do not fit, a session is told of so many: more are not read by anybody, and would fill the queue
  /// of a session that did nothing wrong.
  static constexpr std::size_t max_incompatible = 256;
  /// So many files of counters may a node have.
  static constexpr std::size_t max_counters = 12;

  /// `range` is given out in windows. `user` is the manager's own; nobody else may take part (F8), and what those who do may publish and subscribe to is up to
  /// `access`. Without `linger` (nanoseconds) there is no Finish.
  Domain(const WindowRange& range, User user, AccessRules access, std::optional<Time> linger, Time now);

  /// Somebody connected. REQUIRES: `session` was never used before. `who` is what the kernel says about the process that connected, `container` in which it runs, if in any.
  Actions opened(Time now, Session session, const Who& who, const std::string& container = {});
  /// A packet that was decoded and came with as many descriptors as its kind has. Nothing happens for a session that the domain does not know.
  Actions message(Time now, Session session, const wire::Message& message);
  /// The session broke the protocol in a way that bytes or descriptors show.
  Actions violated(Time now, Session session, const std::string& complaint);
  /// The connection is gone, for whatever reason. Nothing happens for a session that the domain does not know.
  Actions closed(Time now, Session session);
  /// Time has passed; wanted at deadline().
  Actions tick(Time now);
  std::optional<Time> deadline() const;

  std::size_t sessions() const { return nodes_.size(); }
  std::size_t topics() const { return topics_.size(); }
  std::size_t free_windows() const { return windows_.free(); }

 private:
  enum class Stage { unknown, registered, departed };
  struct Interface {
    std::uint64_t number = 0;
    std::string topic;  // empty: it is a ghost whose topic is gone
    std::uint64_t layout = 0;
    wire::Qos qos;
    std::uint64_t process = 0;
    std::uint64_t endpoint = 0;
    wire::Ghost ghost = wire::Ghost::no;
    std::uint64_t identity = 0;
    wire::Window window{};     // publishers only
    std::uint64_t memory = 0;  // likewise; bytes, as its node says
    bool is_ghost() const { return ghost != wire::Ghost::no; }
    /// Both carry messages into the domain and out of it: what one has brought must not go out by the other, so they never meet.
    bool never_meets(const Interface& other) const { return ghost == wire::Ghost::carrier && other.ghost == wire::Ghost::carrier; }
  };
  struct Node {
    Who who;
    std::string container;
    std::uint64_t number = 0;
    Stage stage = Stage::unknown;
    std::string name;
    std::map<std::uint64_t, Interface> publishers, subscribers;
    IdSet publisher_ids, subscriber_ids, watch_ids;  // ever used
    struct Counters {
      std::uint64_t number = 0;
      std::uint32_t size = 0;
    };
    std::vector<Counters> counters;  // in the order in which their files came
  };
  using Interfaces = std::set<std::pair<std::uint64_t, InterfaceKey>>;  // by their endpoints, by which they are looked for
  struct Topic {
    std::uint64_t number = 0;
    wire::TypeDescription type;  // of the first interface
    Interfaces publishers, subscribers;
    std::size_t anchors = 0;  // of both, those that are no ghosts: the topic is there as long as they are
  };

  void handle(Session session, Node& node, const wire::RegisterNode& message);
  void handle(Session session, Node& node, const wire::RegisterPublisher& message);
  void handle(Session session, Node& node, const wire::RegisterSubscriber& message);
  void handle(Session session, Node& node, const wire::DeletePublisher& message);
  void handle(Session session, Node& node, const wire::DeleteSubscriber& message);
  void handle(Session session, Node& node, const wire::WindowReleased& message);
  void handle(Session session, Node& node, const wire::Goodbye& message);
  void handle(Session session, Node& node, const wire::ConnectTaken& message);
  void handle(Session session, Node& node, const wire::PathChosen& message);
  void handle(Session session, Node& node, const wire::MemoryMapped& message);
  void handle(Session session, Node& node, const wire::WatchDomain& message);
  void handle(Session session, Node& node, const wire::UnwatchDomain& message);
  void handle(Session session, Node& node, const wire::DomainTaken& message);
  void handle(Session session, Node& node, const wire::Counters& message);
  void handle(Session session, Node& node, const wire::DisconnectNode& message);
  void handle(Session session, Node& node, const wire::ErrorText& message);
  template <class NotFromNodes>
  void handle(Session session, Node& node, const NotFromNodes& message);

  struct Refusal {
    ErrorKind kind;
    std::string text;
  };
  std::optional<Refusal> refusal_of_node(const Node& node, const wire::RegisterNode& message) const;
  /// What speaks against an interface of this type on this topic at that node.
  template <class Register>
  std::optional<Refusal> refusal_of_interface(Session session, const Node& node, Access access, const Register& message) const;
  template <class Register>
  static Interface interface_of(std::uint64_t number, const std::string& topic, const Register& message);
  /// Another session has an interface with this endpoint, on this topic or the other one of its service.
  bool is_anothers_endpoint(Session session, const std::string& topic, std::uint64_t endpoint) const;
  /// Both ends of a pair whose interfaces are there.
  struct Sides {
    const Node &from, &to;
    const Interface &offered, &asked;
    bool same_user() const;
    bool same_layout() const { return offered.layout != 0 && offered.layout == asked.layout; }
    bool never_meet() const { return offered.never_meets(asked); }
    /// They find each other without us.
    bool same_process() const { return same_user() && same_layout() && offered.process != 0 && offered.process == asked.process; }
  };
  Sides sides_of(const Pair& pair) const;
  /// Pairs that one interface of `session` has come to be part of.
  /// The subscriber asks for what was published before it came, and the publisher, which keeps that, will be introduced.
  bool has_history_for(const Pair& pair) const;
  void add_pairs(Session session, const std::vector<Pair>& pairs);
  bool is_deaf(Session session) const;
  /// `told`: how often in this event each session was told such a thing.
  void tell_incompatible(const Pair& pair, std::map<Session, std::size_t>& told);
  void introduce_waiting(Session session);
  void introduce(const Pair& pair);
  void delete_publisher(Session session, Node& node, std::uint64_t id);
  void delete_subscriber(Session session, Node& node, std::uint64_t id);
  Topic& join(const std::string& name, const wire::TypeDescription& type, bool anchors);
  void leave(const Interface& interface);
  void detach_ghosts(const Topic& topic);
  void forget_detached();
  void depart(Session session, Node& node, bool lost);
  void forget(Session session);
  void complain(Session session, const std::string& what);
  void send(Session session, wire::Message message) { actions_.emplace_back(Send{session, std::move(message)}); }
  Actions end_event(Time now);

  // What watches are told, see domain_state.cpp.
  struct InterfaceRef {
    InterfaceKey key;
    bool publishes = false;
  };
  struct CountersRef {
    Session session = 0;
    std::size_t index = 0;
  };
  /// What has a number: a node, a topic by its name, an interface, a file of counters.
  using Thing = std::variant<Session, std::string, InterfaceRef, CountersRef>;
  std::uint64_t give_number(Thing thing);
  void take_number(std::uint64_t number);
  /// The same of a node that goes without Goodbye.
  void lose_number(std::uint64_t number);
  const Thing* find(std::uint64_t number) const;
  const Interface* find_interface(std::uint64_t number) const;
  void met(const Pair& pair, std::uint64_t connection, bool in_place);
  void forget_meetings(const Interface& interface, bool publishes);
  void tell_watches();
  bool tell(const Watches::Key& key);
  void add_pairs_before(std::uint64_t number, const InterfaceRef& interface, std::set<PairNumbers>& pairs) const;
  wire::Message describe(std::uint64_t number, const Thing& thing, std::uint64_t watch) const;
  /// Nothing: there is no such pair.
  std::optional<wire::Message> describe_pair(const PairNumbers& numbers, std::uint64_t watch) const;

  const User user_;
  const AccessRules access_;
  const std::optional<Time> linger_;
  std::map<Session, Node> nodes_;
  std::map<std::string, Session> names_;
  std::map<std::string, Topic> topics_;
  Windows windows_;  // from another one on at each start: nodes of a manager that died may still use theirs
  Introductions introductions_;
  std::set<Session> detached_;  // whose publishers the event in progress has detached, for which pairs may wait
  std::uint64_t last_connection_ = 0, last_number_ = 0;
  std::map<std::uint64_t, Thing> things_;  // by their numbers
  struct Meeting {
    std::uint64_t connection = 0;
    wire::Path path = wire::Path::none;
    std::string why;
  };
  std::map<PairNumbers, Meeting> meetings_;                    // of pairs that were introduced
  std::set<PairNumbers> met_;                                  // the same, and each the other way round: no two things have the same number
  std::unordered_map<std::uint64_t, PairNumbers> introduced_;  // by their connections
  Watches watches_;
  std::optional<Time> empty_since_;
  Actions actions_;  // of the event in progress
};

}  // namespace sinew::manager
