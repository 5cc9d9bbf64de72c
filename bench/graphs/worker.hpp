// A process of a run: some nodes of a graph, or all of them, and the way their messages are carried.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "board.hpp"
#include "topology.hpp"

namespace sinew::bench::graphs {

/// What a worker and sinew-bench-graph say to each other, on the worker's standard input and output.
enum class Word : char {
  subscribed = 's',  ///< worker: all its subscriptions can be reached
  advertise = 'a',   ///< to a worker: all subscriptions of the graph can be reached
  connected = 'c',   ///< worker: all its publishers and subscriptions are connected
  go = 'g',          ///< to a worker: Board::start() is set
  published = 'p',   ///< worker: has published all. It ends when its standard input is closed
};

/// Where a worker finds the board.
inline constexpr int board_descriptor = 3;

/// Where the nodes of a graph are.
enum class Nodes { on_one_thread, on_threads, in_processes };

/// Sends the messages of one publication.
class Outlet {
 public:
  virtual ~Outlet() = default;
  /// Makes the message with this number and publishes it. Returns the time in it.
  virtual std::int64_t publish(std::uint32_t number) = 0;
};

/// One node of the graph. Destroying it ends what it calls, unless that its engine did.
class Member {
 public:
  virtual ~Member() = default;
  /// From now on `tally`, which lives longer, is told of each message, in a callback that takes std::shared_ptr<const T>.
  virtual void subscribe(const Subscription& subscription, Tally& tally) = 0;
  /// The same of images (messages.hpp) that are changed and published by `publication`, which lives longer, in whatever way costs the least where the nodes are.
  /// When the first one comes, all subscriptions of the graph were made.
  virtual void relay(const Subscription& subscription, const Publication& publication, Tally& tally) = 0;
  /// Called when all subscriptions of the graph were made, for what is not relayed.
  virtual std::unique_ptr<Outlet> advertise(const Publication& publication) = 0;
  /// Whether all that was subscribed to and advertised has its other ends.
  virtual bool connected() const = 0;
  /// Calls `tick` every `period` from now on.
  virtual void every(std::int64_t period, std::function<void()> tick) = 0;
};

/// The thread on which all nodes of a worker run their callbacks, for messages and every period, or one for each node. Destroyed before its members.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::unique_ptr<Member> add(const GraphNode& node, const Board& board) = 0;
};

using MakeEngine = std::unique_ptr<Engine> (*)(Nodes nodes);

/// The whole of a worker's main(): PROGRAM GRAPH SECONDS one|threads|NODE: all nodes of the graph on one thread, or each on its own, or only this node. Nodes start evenly spread over 10 ms, so that not all of them publish at the
/// same moment.
int run_worker(int argc, char** argv, MakeEngine make_engine);

}  // namespace sinew::bench::graphs
