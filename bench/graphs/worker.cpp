#include "worker.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>

#include "clock.hpp"

namespace sinew::bench::graphs {

namespace {

constexpr std::int64_t patience_ns = 20'000'000'000;
constexpr std::int64_t spread_ns = 10'000'000;
// For a message that is being published at the end.
constexpr std::int64_t last_ns = 50'000'000;

void sleep_until(std::int64_t due) {
  const timespec time{due / 1'000'000'000, due % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

void say(Word word) {
  while (write(STDOUT_FILENO, &word, 1) < 0 && errno == EINTR) {
  }
}

/// Null when the other side closed its end.
char hear() {
  char word = 0;
  while (read(STDIN_FILENO, &word, 1) < 0 && errno == EINTR) {
  }
  return word;
}

void await(Word word) {
  if (hear() != static_cast<char>(word)) throw std::runtime_error("sinew-bench-graph ended");
}

class Worker {
 public:
  Worker(const Topology& topology, const Board& board, std::unique_ptr<Engine> engine, const std::string& only)
      : topology_(topology), board_(board), engine_(std::move(engine)) {
    for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
      const GraphNode& node = topology.nodes[i];
      if (!only.empty() && node.name != only) continue;
      const double share = static_cast<double>(i) / static_cast<double>(topology.nodes.size());
      places_.push_back({&node, static_cast<std::int64_t>(share * spread_ns), {}, engine_->add(node, board)});
    }
    if (places_.empty()) throw std::runtime_error("graph " + topology.name + " has no node " + only);
  }

  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void subscribe() {
    for (const Place& place : places_) {
      for (const unsigned index : place.node->subscriptions) {
        const Subscription& subscription = topology_.subscriptions[index];
        Tally& tally = tallies_.emplace_back(board_, subscription);
        if (subscription.relay) {
          place.member->relay(subscription, topology_.publications[*subscription.relay], tally);
        } else {
          place.member->subscribe(subscription, tally);
        }
      }
    }
  }

  void advertise() {
    for (Place& place : places_) {
      for (const unsigned index : place.node->publications) {
        const Publication& publication = topology_.publications[index];
        if (publication.relays) continue;
        place.sources.push_back({place.member->advertise(publication), &board_.publication(index), publication.period_ns});
      }
    }
    for (const std::int64_t until = now_ns() + patience_ns; !connected(); usleep(1000)) {
      if (now_ns() > until) throw std::runtime_error("the nodes of graph " + topology_.name + " did not connect");
    }
  }

  void publish() {
    const std::int64_t start = board_.start(), end = start + board_.length_ns();
    for (Place& place : places_) {
      sleep_until(start - warm_up_ns + place.offset_ns);
      for (Source& source : place.sources) {
        place.member->every(source.period_ns, [&source, start, end] {
          if (now_ns() >= end) return;
          if (source.outlet->publish(source.number++) >= start) source.record->sent.fetch_add(1, std::memory_order_relaxed);
        });
      }
    }
    sleep_until(end + last_ns);
  }

 private:
  struct Source {
    std::unique_ptr<Outlet> outlet;
    Board::PublicationRecord* record;
    std::int64_t period_ns;
    std::uint32_t number = 0;
  };
  struct Place {
    const GraphNode* node;
    std::int64_t offset_ns;
    std::deque<Source> sources;
    std::unique_ptr<Member> member;  // last: what it calls uses the sources
  };

  bool connected() const {
    return std::ranges::all_of(places_, [](const Place& place) { return place.member->connected(); });
  }

  const Topology& topology_;
  const Board& board_;
  std::deque<Tally> tallies_;  // before the members, whose callbacks use them
  std::deque<Place> places_;
  std::unique_ptr<Engine> engine_;  // last: its thread uses all of the above
};

}  // namespace

int run_worker(int argc, char** argv, MakeEngine make_engine) {
  unsigned seconds = 0;
  if (argc != 4 || std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), seconds).ec != std::errc{} || seconds == 0) {
    std::fprintf(stderr, "usage: %s GRAPH SECONDS one|threads|NODE (started by sinew-bench-graph)\n", argv[0]);
    return 2;
  }
  const std::string which = argv[3];
  const Nodes nodes = which == "one" ? Nodes::on_one_thread : which == "threads" ? Nodes::on_threads : Nodes::in_processes;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    const Topology topology = load(argv[1]);
    const Board board(topology, seconds, board_descriptor);
    Worker worker(topology, board, make_engine(nodes), nodes == Nodes::in_processes ? which : "");
    worker.subscribe();
    say(Word::subscribed);
    await(Word::advertise);
    worker.advertise();
    say(Word::connected);
    await(Word::go);
    worker.publish();
    say(Word::published);
    return hear() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace sinew::bench::graphs
