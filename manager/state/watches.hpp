// Who wants to know what there is in the domain, and what each has yet to be told.
//
// All things have numbers that grow, and a watch is told of them in that order, so for those beyond its `cursor` nothing need be kept. Of those before it is noted that they have changed, not how: it is told how they stand
// when its turn comes. So one that is slow, or stopped, misses what came and went meanwhile and nothing else, and takes no more memory than there are things that it was told of, and pairs of these.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "manager/state/windows.hpp"

namespace sinew::manager {

/// The numbers of a publisher and of a subscriber.
using PairNumbers = std::pair<std::uint64_t, std::uint64_t>;

struct Watch {
  std::uint64_t cursor = 0;        // it was told of everything up to this number
  std::set<std::uint64_t> things;  // of these, those that have changed since, or are gone
  std::set<std::uint64_t> lost;    // of those, nodes that went without Goodbye
  std::set<PairNumbers> pairs;     // that it was told of both ends of, and is yet to be told of
  bool complete = false;           // as it was told last
  bool wants_counters = false;
};

class Watches {
 public:
  /// A session, and the number that the watch has there.
  using Key = std::pair<Session, std::uint64_t>;
  /// So many may a session have at a time.
  static constexpr std::size_t most = 16;

  /// False when the session has as many as it may. REQUIRES: the watch is new.
  bool add(const Key& watch, bool wants_counters);
  /// False when there is no such watch.
  bool remove(const Key& watch);
  void closed(Session session);

  // All are to be told of this.
  void came();
  void changed(std::uint64_t number);
  void changed(const PairNumbers& pair);
  /// As changed(), of a node that went without Goodbye.
  void lost(std::uint64_t number);

  /// One that may have something to be told, and has answered.
  std::optional<Key> next() const;
  Watch& at(const Key& watch) { return watches_.at(watch).first; }
  /// It has been told something, and is to answer that first; or there was nothing.
  void told(const Key& watch, bool something);
  /// It has answered. Nothing happens when there is no such watch, or nothing to be answered.
  void answered(const Key& watch);

 private:
  template <class Note>
  void for_all(Note note);

  std::map<Key, std::pair<Watch, bool>> watches_;  // and whether it owes an answer
  std::set<Key> ready_;                            // those that next() may give
};

}  // namespace sinew::manager
