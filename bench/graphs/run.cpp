#include "run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <vector>

#include "board.hpp"
#include "clock.hpp"
#include "crew.hpp"
#include "percentile.hpp"
#include "private_domain.hpp"

namespace sinew::bench::graphs {

namespace {

using nlohmann::json;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t patience_ns = 30 * second;
// Between the last word before the start and the first message.
constexpr std::int64_t lead_ns = second / 10;
// When memory is looked at first: what is taken once, for buffers and arenas, has been taken by then. Shorter runs look after a quarter.
constexpr std::int64_t settled_ns = 5 * second;
// How long deliveries may trail the last publish before they count as lost.
constexpr std::int64_t grace_ns = second;
constexpr std::int64_t grace_step_ns = second / 50;

// Payloads from this size on are summed up once more by themselves.
constexpr std::size_t big_bytes = 10'000;

using Beside = Mode::Beside;
constexpr Mode all[] = {
    {"floor", "the least that it takes, on one thread: a queue of pointers", "sinew-bench-graph-floor", Beside::nobody,
     Nodes::on_one_thread},
    {"sinew-one", "sinew, all nodes in one process and on one thread", "sinew-bench-graph-sinew", Beside::manager, Nodes::on_one_thread},
    {"sinew-threads", "sinew, all nodes in one process, each on its own thread", "sinew-bench-graph-sinew", Beside::manager,
     Nodes::on_threads},
    {"sinew-each", "sinew, each node in a process of its own", "sinew-bench-graph-sinew", Beside::manager, Nodes::in_processes},
    {"udp-one", "UDP over the loopback, serialized, all nodes in one process and on one thread", "sinew-bench-graph-udp", Beside::nobody,
     Nodes::on_one_thread},
    {"udp-threads", "the same, each node on its own thread", "sinew-bench-graph-udp", Beside::nobody, Nodes::on_threads},
    {"udp-each", "the same, each node in a process of its own", "sinew-bench-graph-udp", Beside::nobody, Nodes::in_processes},
    {"ros1-one", "ROS 1, all nodes in one process and on one thread, as nodelets", "sinew-bench-graph-ros1", Beside::rosmaster,
     Nodes::on_one_thread},
    {"ros1-threads", "the same, each node on its own thread", "sinew-bench-graph-ros1", Beside::rosmaster, Nodes::on_threads},
    {"ros1-each", "ROS 1 over TCP, each node in a process of its own", "sinew-bench-graph-ros1", Beside::rosmaster, Nodes::in_processes},
};

struct Counts {
  std::uint64_t sent = 0, expected = 0, received = 0, damaged = 0;
};

Counts count(const Topology& topology, const Board& board) {
  Counts counts;
  std::vector<std::uint64_t> received(topology.subscriptions.size());
  for (const Subscription& each : topology.subscriptions) {
    received[each.index] = board.subscription(each.index).received.load(std::memory_order_acquire);
    counts.received += received[each.index];
    counts.damaged += board.subscription(each.index).damaged;
  }
  for (const Publication& each : topology.publications) {
    const std::uint64_t sent = each.relays ? received[*each.relays] : board.publication(each.index).sent.load(std::memory_order_relaxed);
    counts.sent += sent;
    counts.expected += sent * each.subscriptions.size();
  }
  return counts;
}

std::span<const Board::Sample> taken_down(const Board& board, unsigned subscription) {
  const auto room = board.samples(subscription);
  return room.first(std::min<std::size_t>(room.size(), board.subscription(subscription).received));
}

// Of images at the end of a pipeline: until the last subscriber has them, of those that all have.
std::vector<std::int64_t> pipeline_latencies(const Publication& publication, const Board& board) {
  struct Image {
    std::size_t subscribers = 0;
    std::int64_t last_ns = 0;
  };
  std::map<std::int64_t, Image> images;  // by their stamps
  for (const unsigned subscription : publication.subscriptions) {
    for (const Board::Sample& each : taken_down(board, subscription)) {
      Image& image = images[each.stamp_ns];
      ++image.subscribers;
      image.last_ns = std::max(image.last_ns, each.latency_ns);
    }
  }
  std::vector<std::int64_t> latencies;
  latencies.reserve(images.size());
  for (const auto& [stamp, image] : images) {
    if (image.subscribers == publication.subscriptions.size()) latencies.push_back(image.last_ns);
  }
  return latencies;
}

// Of all messages, or of those with big payloads, in order. What is relayed on has none of its own: it is under way still.
std::vector<std::int64_t> latencies(const Topology& topology, const Board& board, std::size_t from_bytes) {
  std::vector<std::int64_t> sorted;
  for (const Publication& publication : topology.publications) {
    if (publication.size < from_bytes || publication.is_relayed) continue;
    if (publication.relays) {
      std::ranges::copy(pipeline_latencies(publication, board), std::back_inserter(sorted));
      continue;
    }
    for (const unsigned subscription : publication.subscriptions) {
      std::ranges::transform(taken_down(board, subscription), std::back_inserter(sorted), &Board::Sample::latency_ns);
    }
  }
  std::ranges::sort(sorted);
  return sorted;
}

void add_latencies(json& row, const std::string& prefix, const std::vector<std::int64_t>& sorted) {
  for (const auto& [name, fraction] :
       {std::pair("p50_us", 0.5), std::pair("p90_us", 0.9), std::pair("p99_us", 0.99), std::pair("max_us", 1.0)}) {
    row[prefix + name] = sorted.empty() ? json(nullptr) : json(static_cast<double>(percentile(sorted, fraction)) / 1000.0);
  }
}

double load_now() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : -1;
}

struct Usage {
  Memory first, last;
  double between_s = 0;
  std::int64_t cpu_ns = 0;
};

void start_all(Crew& crew, const std::string& graph, const Topology& topology, const Mode& mode, unsigned seconds, const Board& board) {
  const std::string program = program_beside(std::string(mode.program));
  const auto start = [&](const std::string& nodes) { crew.start(program, {graph, std::to_string(seconds), nodes}, board.descriptor()); };
  switch (mode.nodes) {
    case Nodes::on_one_thread:
      start("one");
      break;
    case Nodes::on_threads:
      start("threads");
      break;
    case Nodes::in_processes:
      for (const GraphNode& node : topology.nodes) start(node.name);
      break;
  }
  crew.await(Word::subscribed, now_ns() + patience_ns);
  crew.say(Word::advertise);
  crew.await(Word::connected, now_ns() + patience_ns);
}

Usage watch(Crew& crew, const std::vector<pid_t>& processes, const Topology& topology, const Board& board) {
  const std::int64_t start = now_ns() + lead_ns + warm_up_ns, end = start + board.length_ns();
  board.start() = start;
  crew.say(Word::go);
  Usage usage;
  crew.wait(start);
  const std::int64_t cpu = cpu_ns_of(processes);
  crew.wait(start + std::min(settled_ns, board.length_ns() / 4));
  const std::int64_t first = now_ns();
  usage.first = memory_of(processes);
  crew.wait(end);
  usage.last = memory_of(processes);
  usage.between_s = static_cast<double>(end - first) / static_cast<double>(second);
  crew.await(Word::published, end + patience_ns);
  const std::int64_t until = now_ns() + grace_ns;
  for (Counts counts = count(topology, board); counts.received < counts.expected && now_ns() < until; counts = count(topology, board)) {
    crew.wait(now_ns() + grace_step_ns);
  }
  usage.cpu_ns = cpu_ns_of(processes) - cpu;
  return usage;
}

json row_of(const Topology& topology, const Mode& mode, const Board& board, const Usage& usage) {
  const Counts counts = count(topology, board);
  if (counts.damaged > 0) throw std::runtime_error(std::to_string(counts.damaged) + " messages arrived damaged");
  const double seconds = static_cast<double>(board.length_ns()) / static_cast<double>(second);
  json row = {{"experiment", "graph"},
              {"graph", topology.name},
              {"mode", mode.name},
              {"seconds", seconds},
              {"nodes", topology.nodes.size()},
              {"publishers", topology.publications.size()},
              {"subscriptions", topology.subscriptions.size()},
              {"sent", counts.sent},
              {"received", counts.received},
              {"lost", counts.expected - std::min(counts.expected, counts.received)},
              {"cpu_cores", static_cast<double>(usage.cpu_ns) / 1e9 / seconds},
              {"pss_first_kib", usage.first.pss_kib},
              {"pss_last_kib", usage.last.pss_kib},
              {"growth_kib_per_s", (usage.last.own_kib - usage.first.own_kib) / usage.between_s},
              {"rss_first_kib", usage.first.rss_kib},
              {"rss_last_kib", usage.last.rss_kib}};
  row["cpu_us_per_message"] =
      counts.received > 0 ? json(static_cast<double>(usage.cpu_ns) / 1000.0 / static_cast<double>(counts.received)) : json(nullptr);
  add_latencies(row, "", latencies(topology, board, 0));
  const std::vector<std::int64_t> big = latencies(topology, board, big_bytes);
  row["big_received"] = big.size();
  add_latencies(row, "big_", big);
  return row;
}

}  // namespace

std::span<const Mode> modes() {
  return all;
}

json run(const std::string& graph, const Mode& mode, unsigned seconds, bool awake) {
  const Topology topology = load(graph);
  const Board board(topology, seconds);
  const double load = load_now();

  // A domain that the user runs would not be counted, and all nodes would have the one name that he gives.
  unsetenv("SINEW_DOMAIN");
  unsetenv("SINEW_NODE");
  std::optional<PrivateDomain> domain;
  if (mode.beside == Beside::manager) {
    domain.emplace();
    setenv("SINEW_DOMAIN", domain->name().c_str(), 1);
  }
  Crew crew;
  start_all(crew, graph, topology, mode, seconds, board);
  std::vector<pid_t> processes = crew.processes();
  if (domain) processes.push_back(domain->manager());
  const Usage usage = watch(crew, processes, topology, board);
  crew.end();

  json row = row_of(topology, mode, board, usage);
  row["processes"] = processes.size();
  row["load"] = load;
  row["awake"] = awake;
  return row;
}

}  // namespace sinew::bench::graphs
