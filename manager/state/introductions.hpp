// Which pairs are yet to be introduced, and who has room for an introduction (S6).
//
// Each introduction puts a descriptor into a session's socket, and the kernel limits how many of a user's descriptors are under way together. So no
// session gets another one while two are unanswered: a process that is stopped delays its own introductions and nobody else's.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "manager/state/windows.hpp"

namespace sinew::manager {

/// A publisher or a subscriber: its session, and the id that it has there.
using InterfaceKey = std::pair<Session, std::uint64_t>;
struct Pair {
  InterfaceKey publisher, subscriber;
};

class Introductions {
 public:
  /// How many introductions a session may have unanswered. One within a session counts twice: both ends go there.
  static constexpr std::size_t room = 2;

  /// These two wait to be introduced.
  void add(const Pair& pair);
  /// A pair that involves the session and can be introduced now, of two sessions the one that waited longest; it waits no longer. Partners take turns.
  std::optional<Pair> next(Session session);
  /// What next() gave was introduced, under a number that was never used before.
  void made(const Pair& pair, std::uint64_t connection);
  /// False when the session owes no answer to an introduction of that number.
  bool answered(Session session, std::uint64_t connection);
  /// The interface is gone, and nobody waits for it any more.
  void forget_publisher(const InterfaceKey& publisher);
  void forget_subscriber(const InterfaceKey& subscriber);
  /// Those publishers of the session are gone; of however many, each waiting pair is looked at once.
  void forget_publishers(Session session, const std::function<bool(std::uint64_t id)>& are_gone);
  /// All interfaces of the session are gone.
  void forget_interfaces(Session session);
  /// The session is gone. REQUIRES: its interfaces were forgotten.
  void closed(Session session) { sides_.erase(session); }

  /// How many pairs wait that involve the session.
  std::size_t waiting(Session session) const;
  /// How many of them wait for its answers: the other side has room, or has owed an answer for less long. Where both owe the answers to the same introductions, those of partners for which `is_less()`.
  std::size_t waiting_for(Session session, const std::function<bool(Session partner)>& is_less) const;
  bool has_room(Session session) const;

 private:
  struct Side {
    std::multiset<std::uint64_t> unanswered;
    std::set<Session> partners;  // with whom pairs wait
    Session last = 0;            // of its partners, whom it was introduced to
    std::size_t waiting = 0;
  };
  using Sessions = std::pair<Session, Session>;  // the smaller number first

  bool can_meet(const Sessions& both) const;
  void note_room(Session session, const Side& side);
  template <class Unwanted>
  void forget(Session session, Unwanted unwanted);
  void count_less(const Sessions& both, std::size_t fewer);

  std::map<Session, Side> sides_;
  std::set<Session> ready_;                      // of those the ones that wait for somebody, and have room: a few, where many wait
  std::map<Sessions, std::list<Pair>> waiting_;  // none is empty, and most have one or two
};

}  // namespace sinew::manager
