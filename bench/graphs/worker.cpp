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
#include <latch>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "clock.hpp"

namespace sinew::bench::graphs {

namespace {

constexpr std::int64_t patience_ns = 20'000'000'000;
constexpr std::int64_t spread_ns = 10'000'000;

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

struct Timer {
  std::unique_ptr<Outlet> outlet;
  Board::PublicationRecord* record;
  std::int64_t period_ns;
  std::int64_t due = 0;
  std::uint32_t number = 0;
};

// Absolute deadlines: a message that is late does not make those behind it late.
void publish_until(std::vector<Timer>& timers, std::int64_t first, std::int64_t start, std::int64_t end) {
  for (Timer& timer : timers) timer.due = first;
  for (;;) {
    Timer& next = *std::ranges::min_element(timers, {}, &Timer::due);
    if (next.due >= end) return;
    sleep_until(next.due);
    if (next.outlet->publish(next.number++) >= start) next.record->sent.fetch_add(1, std::memory_order_relaxed);
    next.due += next.period_ns;
  }
}

class Worker {
 public:
  Worker(const Topology& topology, const Board& board, MakeMember make_member, const std::string& only)
      : topology_(topology), board_(board) {
    for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
      const GraphNode& node = topology.nodes[i];
      if (!only.empty() && node.name != only) continue;
      const double share = static_cast<double>(i) / static_cast<double>(topology.nodes.size());
      places_.push_back({&node, static_cast<std::int64_t>(share * spread_ns), make_member(node, board), {}});
    }
    if (places_.empty()) throw std::runtime_error("graph " + topology.name + " has no node " + only);
  }

  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { leave_.count_down(); }

  void subscribe() {
    for (const Place& place : places_) {
      for (const unsigned index : place.node->subscriptions) {
        const Subscription& subscription = topology_.subscriptions[index];
        place.member->subscribe(subscription, tallies_.emplace_back(board_, subscription));
      }
    }
  }

  void advertise() {
    for (Place& place : places_) {
      for (const unsigned index : place.node->publications) {
        const Publication& publication = topology_.publications[index];
        place.timers.push_back({place.member->advertise(publication), &board_.publication(index), publication.period_ns});
      }
    }
    for (const std::int64_t until = now_ns() + patience_ns; !connected(); usleep(1000)) {
      if (now_ns() > until) throw std::runtime_error("the nodes of graph " + topology_.name + " did not connect");
    }
  }

  // The threads stay when they are done: memory is looked at then, and their stacks belong to it.
  void publish() {
    const std::int64_t start = board_.start(), end = start + board_.length_ns();
    done_.emplace(std::ranges::count_if(places_, [](const Place& place) { return !place.timers.empty(); }));
    for (Place& place : places_) {
      if (place.timers.empty()) continue;
      threads_.emplace_back([this, &place, start, end] {
        publish_until(place.timers, start - warm_up_ns + place.offset_ns, start, end);
        done_->count_down();
        leave_.wait();
      });
    }
    done_->wait();
  }

 private:
  struct Place {
    const GraphNode* node;
    std::int64_t offset_ns;
    std::unique_ptr<Member> member;
    std::vector<Timer> timers;  // behind the member: their outlets go first
  };

  bool connected() const {
    return std::ranges::all_of(places_, [](const Place& place) { return place.member->connected(); });
  }

  const Topology& topology_;
  const Board& board_;
  std::deque<Tally> tallies_;  // before the members, whose callbacks use them
  std::vector<Place> places_;
  std::optional<std::latch> done_;
  std::latch leave_{1};
  std::vector<std::jthread> threads_;  // last: they use all of the above
};

}  // namespace

int run_worker(int argc, char** argv, MakeMember make_member) {
  unsigned seconds = 0;
  const bool sensible =
      (argc == 3 || argc == 4) && std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), seconds).ec == std::errc{} && seconds > 0;
  if (!sensible) {
    std::fprintf(stderr, "usage: %s GRAPH SECONDS [NODE] (started by sinew-bench-graph)\n", argv[0]);
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    const Topology topology = load(argv[1]);
    const Board board(topology, seconds, board_descriptor);
    Worker worker(topology, board, make_member, argc == 4 ? argv[3] : "");
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
