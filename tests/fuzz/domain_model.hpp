// A domain, and beside it what its nodes know: kept from what they said and what the manager answered, as real nodes would. Every event is given to the domain, and whatever the
// domain does about it must be what spec/wire.md says, in all that others depend on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "manager/state/domain.hpp"
#include "watch_model.hpp"

namespace sinew::manager {

template <class... Kinds>
bool is_any_of(const wire::Message& message) {
  return (std::holds_alternative<Kinds>(message) || ...);
}

class DomainModel {
 public:
  enum class Stage { unknown, registered, departed };
  struct Interface {
    std::string topic;  // empty: a ghost whose topic is gone
    std::uint64_t layout = 0;
    wire::Qos qos;
    std::uint64_t process = 0, endpoint = 0;
    wire::Ghost ghost = wire::Ghost::no;
    std::uint64_t identity = 0;
    wire::Window window;
    std::uint64_t memory = 0;
  };
  struct Node {
    manager::Who who;
    Stage stage = Stage::unknown;
    std::string name;
    std::map<std::uint64_t, Interface> publishers, subscribers;
    std::set<std::uint64_t> publisher_ids, subscriber_ids, watch_ids;  // ever used
    std::vector<std::uint64_t> unanswered;
    std::map<std::uint64_t, WatchModel> watches;
    std::vector<std::uint32_t> counters;  // sizes of their files
  };
  static constexpr uid_t our_user = 1000;
  static constexpr manager::WindowRange range{0x2000'0000'0000, 0x4000'0000, 6};
  static constexpr Time linger = 1'000'000'000;

  explicit DomainModel(AccessRules access);

  void open(const manager::Who& who);
  void close(Session session);
  void violate(Session session);
  void wait(Time nanoseconds);
  void say(Session session, const wire::Message& message);
  /// Everybody goes, and nothing is left.
  void end();

  const std::map<Session, Node>& nodes() const { return nodes_; }
  std::size_t interfaces() const;
  Session last_session() const { return last_session_; }

 private:
  using Pairing = std::pair<InterfaceKey, InterfaceKey>;  // publisher, subscriber
  /// What an event must lead to, beside what it means for others.
  struct Expected {
    enum class Outcome {
      nothing,
      violation,
      end,
      refusal_of_node,
      node,
      publisher,
      subscriber,
      refusal_of_publisher,
      refusal_of_subscriber
    };
    Outcome outcome = Outcome::nothing;
    ErrorKind kind = ErrorKind::invalid_argument;  // of a refusal
    std::optional<Session> whose{};                // of an end, where it is not the speaker's
  };

  // What must come of a message.
  Expected expected(Session session, const wire::Message& message) const;
  template <class Register>
  Expected expected_of_registration(Session session, const Node& node, Access access, const Register& message) const;
  std::optional<ErrorKind> refusal_of_node(const Node& node, const wire::RegisterNode& message) const;
  bool is_anothers_endpoint(Session session, const std::string& topic, std::uint64_t endpoint) const;
  static bool is_of_range(const wire::Window& window);
  bool may_release(Session session, const wire::Window& window) const;
  bool may_choose_path(Session session, std::uint64_t connection) const;

  // What is said and done changes what is known.
  void apply(Session session, const wire::Message& message);
  void forget_interfaces(Session session);
  void forget_interface(const InterfaceKey& key, bool publishes);
  void forget(Session session);
  void after_deletion();

  // What the domain does.
  void follow(const Actions& actions, Session session, const Expected& expected, const wire::Message* cause);
  void follow(const Send& send, const wire::Message* cause);
  void follow(const Introduce& introduction);
  void follow(const Show& show);
  template <class Register>
  Interface& add(Session session, const Register& message, bool publishes);
  void register_pairs(const InterfaceKey& key, bool publishes);
  void check() const;
  Picture picture(bool with_counters) const;

  const Interface& publisher(const InterfaceKey& key) const { return nodes_.at(key.first).publishers.at(key.second); }
  const Interface& subscriber(const InterfaceKey& key) const { return nodes_.at(key.first).subscribers.at(key.second); }
  bool same_user(const Pairing& pair) const;
  bool same_layout(const Pairing& pair) const {
    return publisher(pair.first).layout != 0 && publisher(pair.first).layout == subscriber(pair.second).layout;
  }
  bool same_process(const Pairing& pair) const;
  bool fit(const Pairing& pair) const;
  bool are_carriers(const Pairing& pair) const {
    return publisher(pair.first).ghost == wire::Ghost::carrier && subscriber(pair.second).ghost == wire::Ghost::carrier;
  }
  /// All pairs of this interface with others on its topic, but for two carriers.
  std::vector<Pairing> pairs_of(const InterfaceKey& key, bool publishes) const;
  std::string in_words(const InterfaceKey& key, bool publishes) const;

  const AccessRules access_;
  Time now_ = 0, empty_since_ = 0;
  Domain domain_;
  Session last_session_ = 0;
  std::map<Session, Node> nodes_;
  std::map<std::string, std::array<std::uint8_t, 16>> topics_;  // with the hash of their types
  struct Holding {
    std::map<Session, std::uint64_t> owners;   // how many publishers of each have it
    std::map<Session, std::uint64_t> holders;  // how often each holds it
  };
  std::map<std::uint64_t, Holding> windows_;  // by their bases, those in use
  std::set<Pairing> waiting_;
  struct Meeting {
    Pairing pair;
    wire::Path path = wire::Path::none;
  };
  std::map<std::uint64_t, Meeting> meetings_;  // by their connections, those whose ends are there
  std::uint64_t newest_connection_ = 0;
  std::map<Session, std::size_t> misfits_;  // that each session is yet to be told of in this event
};

}  // namespace sinew::manager
