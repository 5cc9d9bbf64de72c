#include "summary.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "percentile.hpp"

namespace sinew::bench {

namespace {

using nlohmann::json;

json microseconds(const std::vector<std::int64_t>& sorted, double fraction) {
  if (sorted.empty()) return nullptr;
  return static_cast<double>(percentile(sorted, fraction)) / 1000.0;
}

// Standard deviation over mean.
json variation_of(const std::vector<std::int64_t>& values) {
  if (values.empty()) return nullptr;
  double sum = 0, squares = 0;
  for (const std::int64_t value : values) sum += static_cast<double>(value);
  const double mean = sum / static_cast<double>(values.size());
  for (const std::int64_t value : values) squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
  return mean > 0 ? json(std::sqrt(squares / static_cast<double>(values.size())) / mean) : json(nullptr);
}

const char* name_of(Containers containers) {
  return containers == Containers::none ? "none" : containers == Containers::one ? "one" : "each";
}

}  // namespace

void set_topology(Cell& cell, const std::string& topology) {
  const char* const end = topology.data() + topology.size();
  const auto [p, bad_publishers] = std::from_chars(topology.data(), end, cell.publishers);
  if (bad_publishers == std::errc{} && p != end && *p == 'p') {
    const auto [s, bad_subscribers] = std::from_chars(p + 1, end, cell.subscribers);
    const auto sensible = [](unsigned processes) { return processes >= 1 && processes <= 64; };
    if (bad_subscribers == std::errc{} && s + 1 == end && *s == 's' && sensible(cell.publishers) && sensible(cell.subscribers)) return;
  }
  throw std::invalid_argument("\"" + topology + "\" is not a topology: write publishers and subscribers, 1 to 64 of each, as in 1p5s");
}

std::string topology_of(const Cell& cell) {
  return std::to_string(cell.publishers) + "p" + std::to_string(cell.subscribers) + "s";
}

json make_row(const Cell& cell, Samples samples, bool awake) {
  std::ranges::sort(samples.latency);
  std::ranges::sort(samples.publish);
  std::ranges::sort(samples.publish_cpu);
  const auto messages = static_cast<double>(cell.count * cell.publishers);
  const auto per_subscriber = static_cast<double>(samples.latency.size()) / cell.subscribers;
  json row = {
      {"experiment", cell.experiment},
      {"system", cell.system},
      {"topology", topology_of(cell)},
      {"wait", cell.spin ? "spin" : "block"},
      {"size", cell.size},
      {"rate", cell.rate},
      {"fifo", cell.fifo},
      {"containers", name_of(cell.containers)},
      {"count", cell.count},
      {"lost", samples.lost},
      {"min_us", microseconds(samples.latency, 0)},
      {"p50_us", microseconds(samples.latency, 0.5)},
      {"p90_us", microseconds(samples.latency, 0.9)},
      {"p99_us", microseconds(samples.latency, 0.99)},
      {"p999_us", microseconds(samples.latency, 0.999)},
      {"max_us", microseconds(samples.latency, 1)},
      {"variation", variation_of(samples.latency)},
      {"publish_us", microseconds(samples.publish, 0.5)},
      {"publish_cpu_us", microseconds(samples.publish_cpu, 0.5)},
      {"cpu_us_per_message", static_cast<double>(samples.cpu) / 1000.0 / messages},
      {"bytes_copied_per_message", static_cast<double>(samples.bytes_copied) / messages},
      {"messages_per_s", samples.seconds > 0 ? json(per_subscriber / samples.seconds) : json(nullptr)},
      {"awake", awake},
  };
  for (const auto& [key, value] : samples.extra) row[key] = value;
  return row;
}

}  // namespace sinew::bench
