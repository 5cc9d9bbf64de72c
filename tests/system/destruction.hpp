// What the tests of destruction at random moments destroy, and how they see that nothing of it is called afterwards.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/system/action.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {

using Random = std::mt19937_64;

// What has gone wrong, told after the round: threads of the library find it.
inline std::atomic<int> called_when_gone{0}, running_when_gone{0}, not_whole{0};
// So that a test that has destroyed much has also seen much.
inline std::atomic<std::uint64_t> callbacks{0}, answers{0}, results{0}, ended_by_themselves{0}, ended_by_others{0}, nodes_ended{0};
inline std::atomic<int> inside{0};

/// Where a callback runs: the executor, in the order of their making, and its thread. A destructor waits for a callback that is running; so one that destroys in a callback what is called elsewhere
/// must know that no callback there waits for it. Here they wait only for those of later places.
using Place = std::pair<std::uint64_t, ThreadId>;
inline constexpr Place outside{0, 0};

/// Of one interface: what its callbacks look at.
struct Cell {
  explicit Cell(std::uint64_t seed) : random(seed) {}
  Random random;          // unguarded: callbacks of one interface never overlap
  bool overlaps = false;  ///< but these, which do not use it
  std::atomic<bool> gone{false};
  std::atomic<int> running{0};
};

/// A callback's first and last moment.
class Call {
 public:
  explicit Call(Cell& cell) : cell_(cell), around_(innermost) {
    ++inside;
    ++callbacks;
    ++cell_.running;
    if (cell_.gone) ++called_when_gone;
    innermost = this;
  }
  ~Call() {
    innermost = around_;
    --cell_.running;
    --inside;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  static bool is_innermost(const Cell* cell) { return innermost && &innermost->cell_ == cell; }
  /// This thread is in a callback of it: a client that is destroyed in one calls its own.
  static bool runs_here(const Cell& cell) {
    const Call* call = innermost;
    while (call && &call->cell_ != &cell) call = call->around_;
    return call != nullptr;
  }

 private:
  inline static thread_local const Call* innermost = nullptr;
  Cell& cell_;
  const Call* const around_;
};

/// The destructor has returned. Where callbacks overlap, and one of them has called it, others may have begun.
inline void poison(Cell& cell, bool& by_itself) {
  by_itself = Call::runs_here(cell);
  if (by_itself && cell.overlaps) return;
  if (cell.running != (by_itself ? 1 : 0)) ++running_when_gone;
  cell.gone = true;
}

/// A node, and what was ever made by it.
struct Home {
  Place place;
  std::shared_ptr<Node> node;
  std::mutex mutex;
  std::vector<std::shared_ptr<Cell>> cells;

  Home(Place where, std::shared_ptr<Node> made) : place(where), node(std::move(made)) {}
  ~Home() {
    node.reset();
    bool by_itself = false;
    for (const auto& cell : cells) poison(*cell, by_itself);
    ++nodes_ended;
  }
};

/// A publisher, a subscriber, a timer, a watch of the domain, or an end of a service or an action.
struct Thing {
  Place place;  ///< the first of those where its callbacks run
  std::shared_ptr<Cell> cell;
  std::shared_ptr<Publisher<Sample>> publisher{};
  std::shared_ptr<Subscriber<Sample>> subscriber{};
  bool is_asked = false;  ///< by take()
  std::shared_ptr<Timer> timer{};
  std::shared_ptr<DomainWatch> watch{};
  std::shared_ptr<WorkClient> client{};
  std::shared_ptr<MoveClient> mover{};
  std::shared_ptr<void> server{};  ///< of a service or an action
  std::mutex mutex{};
  Place of_results{};               ///< where those of `mover` are called back
  std::vector<MoveHandle> goals{};  ///< of `mover`, guarded by the mutex

  ~Thing() {
    publisher.reset();
    subscriber.reset();
    timer.reset();
    watch.reset();
    client.reset();
    mover.reset();
    server.reset();
    bool by_itself = false;
    poison(*cell, by_itself);
    ++(by_itself ? ended_by_themselves : ended_by_others);
  }
};

inline std::string one_of_the_topics(Random& random) {
  return random() % 2 == 0 ? "topic" : "other";
}

/// Clients and providers of services and actions.
class RandomServices {
 public:
  /// `act`: what a callback of this place does; `own_place`: one that is later than all others, of what has threads of its own.
  RandomServices(std::function<void(Random&, Place)> act, std::function<Place()> own_place)
      : act_(std::move(act)), own_place_(std::move(own_place)) {}

  /// Makes one of them. True when the node's destructor ends its callbacks, too.
  bool make(Node& node, Thing& thing, Random& random);
  /// Calls, sends goals, cancels. False when the thing is none of them.
  bool use(Thing& thing, Random& random, Place place) const;

 private:
  void make_provider(Node& node, Thing& thing, Random& random) const;
  void make_mover(Node& node, Thing& thing) const;
  void call(const Thing& thing, Random& random, Place place) const;
  void send_goal(Thing& thing, Random& random) const;

  const std::function<void(Random&, Place)> act_;
  const std::function<Place()> own_place_;
};

}  // namespace sinew::system
