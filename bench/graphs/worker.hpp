// A process of a run: some nodes of a graph, or all of them, and the way their messages are carried.
#pragma once

#include <cstdint>
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

/// Sends the messages of one publication.
class Outlet {
 public:
  virtual ~Outlet() = default;
  /// Makes the message with this number and publishes it. Returns the time in it.
  virtual std::int64_t publish(std::uint32_t number) = 0;
};

/// One node of the graph. Destroying it ends its callbacks.
class Member {
 public:
  virtual ~Member() = default;
  /// From now on `tally`, which lives longer, is told of each message, in a callback that takes std::shared_ptr<const T>, on one thread for the whole node.
  virtual void subscribe(const Subscription& subscription, Tally& tally) = 0;
  /// Called when all subscriptions of the graph were made.
  virtual std::unique_ptr<Outlet> advertise(const Publication& publication) = 0;
  /// Whether all that was subscribed to and advertised has its other ends.
  virtual bool connected() const = 0;
};

using MakeMember = std::unique_ptr<Member> (*)(const GraphNode& node, const Board& board);

/// The whole of a worker's main(): PROGRAM GRAPH SECONDS [NODE], without NODE with all nodes of the graph. Each node that publishes has one thread for that, which
/// sleeps until the next message is due; nodes start evenly spread over 10 ms, so that not all of them publish at the same moment.
int run_worker(int argc, char** argv, MakeMember make_member);

}  // namespace sinew::bench::graphs
