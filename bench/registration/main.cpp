// sinew-bench-registration: what a registration costs the manager of a domain that has so many interfaces already. Prints a line of JSON.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "awake.hpp"
#include "percentile.hpp"
#include "private_domain.hpp"
#include "proc.hpp"
#include "registration/crowd.hpp"

namespace {

using namespace sinew::bench;
using nlohmann::json;

constexpr std::size_t nodes = 4;        // few, since each is asked at the end of a batch whether that is done
constexpr std::uint64_t a_batch = 100;  // interfaces
constexpr std::uint64_t per_topic = 5;  // a publisher and its subscribers
constexpr unsigned moment_us = 1000;    // until the manager sleeps, and its time is up to date

/// Processor time of the manager in nanoseconds, which is one thread.
double cpu_ns_of(pid_t manager) {
  ::usleep(moment_us);
  double ran = 0;
  if (!(std::ifstream("/proc/" + std::to_string(manager) + "/schedstat") >> ran))
    throw std::runtime_error("/proc/PID/schedstat cannot be read");
  return ran;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return percentile(values, 0.5);
}

/// A way in which a domain may grow.
struct Shape {
  std::string_view name;
  std::string_view help;
  /// Adds the interface of this number, from 0, and gives the number of pairs that it makes.
  std::uint64_t (*add)(Crowd& crowd, std::uint64_t number);
  /// Pairs of so many interfaces.
  std::uint64_t (*pairs)(std::uint64_t interfaces);
};

std::uint64_t add_to_topic(Crowd& crowd, std::uint64_t number) {
  const std::string topic = "topic_" + std::to_string(number / per_topic);
  const std::size_t node = number % nodes;
  if (number % per_topic == 0) {
    crowd.publish(node, topic);
    return 0;
  }
  crowd.subscribe(node, topic);
  return 1;
}

std::uint64_t add_reader(Crowd& crowd, std::uint64_t number) {
  if (number == 0) {
    crowd.publish(0, "all");
    return 0;
  }
  crowd.subscribe(number % nodes, "all");
  return 1;
}

std::uint64_t add_client(Crowd& crowd, std::uint64_t number) {
  const std::uint64_t client = number / 2;
  const std::size_t node = client % nodes;
  if (number % 2 == 0) {
    crowd.publish(node, "service@request", client + 1);
  } else {
    crowd.subscribe(node, "service@response", client + 1);
  }
  return 0;
}

constexpr Shape shapes[] = {
    {"topics", "topics of a publisher and four subscribers", add_to_topic,
     [](std::uint64_t interfaces) { return interfaces - (interfaces + per_topic - 1) / per_topic; }},
    {"readers", "one publisher, and subscribers of its topic", add_reader, [](std::uint64_t interfaces) { return interfaces - 1; }},
    {"clients", "clients of one service, a publisher and a subscriber each", add_client, [](std::uint64_t) { return std::uint64_t{0}; }},
};
constexpr const char* all_to_all = "nodes";

struct Domain {
  PrivateDomain domain;
  Crowd crowd{domain.name()};
  Domain() {
    if (domain.manager() == 0) throw std::runtime_error("the manager must be one of this program's own: unset SINEW_DOMAIN");
  }
  double cpu_ns() const { return cpu_ns_of(domain.manager()); }
};

/// Adds interfaces, and deletes them again, where so many are there already.
json measure_growth(const Shape& shape, std::uint64_t interfaces, unsigned rounds) {
  Domain domain;
  Crowd& crowd = domain.crowd;
  for (std::size_t node = 0; node < nodes; ++node) crowd.add_node();
  std::uint64_t introductions = 0;
  for (std::uint64_t number = 0; number < interfaces; ++number) {
    introductions += shape.add(crowd, number);
    if (number % a_batch == a_batch - 1) crowd.settle(introductions);
  }
  crowd.settle(introductions);
  const double resident_kib = resident_kib_of(std::to_string(domain.domain.manager()));

  std::vector<double> to_register, to_delete, to_come_and_go;
  for (unsigned round = 0; round < rounds; ++round) {
    const double before = domain.cpu_ns();
    for (std::uint64_t more = 0; more < a_batch; ++more) introductions += shape.add(crowd, interfaces + more);
    crowd.settle(introductions);
    const double registered = domain.cpu_ns();
    for (std::uint64_t more = 0; more < a_batch; ++more) crowd.remove_last();
    crowd.settle(introductions);
    const double deleted = domain.cpu_ns();
    crowd.add_node();
    crowd.remove_last_node();
    crowd.settle(introductions);
    to_register.push_back((registered - before) / a_batch);
    to_delete.push_back((deleted - registered) / a_batch);
    to_come_and_go.push_back(domain.cpu_ns() - deleted);
  }
  const double pairs = static_cast<double>(shape.pairs(interfaces + a_batch) - shape.pairs(interfaces)) / a_batch;
  return {{"register_us", median_of(to_register) / 1000},
          {"delete_us", median_of(to_delete) / 1000},
          {"node_us", median_of(to_come_and_go) / 1000},
          {"introductions", pairs},
          {"resident_kib", resident_kib}};
}

/// As many nodes as half of the interfaces, each with a publisher and a subscriber of one topic, all of which meet each other.
json measure_all_to_all(std::uint64_t interfaces) {
  Domain domain;
  Crowd& crowd = domain.crowd;
  const std::uint64_t count = interfaces / 2;
  for (std::uint64_t node = 0; node < count; ++node) crowd.add_node();
  const double before = domain.cpu_ns();
  for (std::uint64_t node = 0; node < count; ++node) {
    crowd.publish(node, "all");
    crowd.subscribe(node, "all");
  }
  crowd.settle(count * count);
  const double per_pair = (domain.cpu_ns() - before) / static_cast<double>(count * count);
  return {{"introduce_us", per_pair / 1000},
          {"introductions", static_cast<double>(count) / 2},
          {"resident_kib", resident_kib_of(std::to_string(domain.domain.manager()))}};
}

}  // namespace

int main(int argc, char** argv) {
  std::string name = "topics";
  std::uint64_t interfaces = 1000;
  unsigned rounds = 20;
  std::vector<std::string> names{all_to_all};
  std::string footer = "Shapes:\n";
  for (const Shape& shape : shapes) {
    names.emplace_back(shape.name);
    footer += "  " + std::string(shape.name) + ": " + std::string(shape.help) + "\n";
  }
  footer += "  " + std::string(all_to_all) + ": nodes that each publish and subscribe to one topic, so that all meet all\n";

  CLI::App app{"Measures what a registration costs the manager, in processor time, where a domain has so many interfaces already."};
  app.footer(footer);
  app.add_option("--shape", name, "How the domain has grown; see below")->check(CLI::IsMember(names))->capture_default_str();
  app.add_option("--interfaces", interfaces, "Publishers and subscribers that are there")
      ->check(CLI::Range(2ul, 60'000ul))
      ->capture_default_str();
  app.add_option("--rounds", rounds, "Batches of registrations and deletions, of which the median counts")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  try {
    const Awake awake;
    const auto* const shape = std::ranges::find(shapes, std::string_view(name), &Shape::name);
    json row = shape == std::end(shapes) ? measure_all_to_all(interfaces) : measure_growth(*shape, interfaces, rounds);
    row.update({{"experiment", "registration"}, {"shape", name}, {"interfaces", interfaces}, {"awake", awake.granted()}});
    std::printf("%s\n", row.dump().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sinew-bench-registration: %s\n", error.what());
    return 1;
  }
  return 0;
}
