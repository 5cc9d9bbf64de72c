// sinew-bench-parts and sinew-bench-inside: measure one part of the data path and print a line of JSON. Two programs, since what a user gets is measured
// through the shared library, and what is inside of it cannot be reached there.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "awake.hpp"
#include "parts/part.hpp"
#include "parts/trace.hpp"
#include "percentile.hpp"

namespace {

using namespace sinew::bench;
using nlohmann::json;

json percentile_of(std::vector<double> values, double fraction) {
  if (values.empty()) return nullptr;
  std::ranges::sort(values);
  return percentile(values, fraction);
}

// The median over the batches of what `of` makes of sinew's time and its floor's.
template <class Of>
json beside_floor(const Outcome& outcome, Of of) {
  std::vector<double> values;
  values.reserve(outcome.floor.size());
  for (std::size_t i = 0; i < outcome.floor.size(); ++i) values.push_back(of(outcome.sinew[i], outcome.floor[i]));
  return percentile_of(std::move(values), 0.5);
}

json row_of(const Part& part, std::uint64_t count, const Outcome& outcome, bool awake) {
  json row = {{"experiment", "part"}, {"part", part.name}, {"count", count}, {"awake", awake}};
  for (const auto& [name, fraction] : {std::pair("p50_ns", 0.5), std::pair("p99_ns", 0.99), std::pair("max_ns", 1.0)}) {
    row[name] = percentile_of(outcome.sinew, fraction);
    row[std::string("floor_") + name] = percentile_of(outcome.floor, fraction);
  }
  row["ratio"] = beside_floor(outcome, [](double sinew, double floor) { return sinew / floor; });
  row["more_ns"] = beside_floor(outcome, [](double sinew, double floor) { return sinew - floor; });
  for (const auto& [key, value] : outcome.extra) row[key] = value;
  return row;
}

std::string footer() {
  std::string text = "Parts:\n";
  for (const Part& part : parts()) {
    std::string name(part.name);
    name.resize(std::max<std::size_t>(name.size(), 20), ' ');
    text += "  " + name + " " + std::string(part.help) + "\n";
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  std::string name;
  std::uint64_t count = 100;
  bool marked = false;
  std::vector<std::string> names;
  names.reserve(parts().size());
  for (const Part& part : parts()) names.emplace_back(part.name);

  CLI::App app{"Measures one part of the data path in this process, beside its floor: batches of operations in turns."};
  app.footer(footer());
  app.add_option("--part", name, "What to measure; see below")->required()->check(CLI::IsMember(names));
  app.add_option("--count", count, "Batches, or what the part says")->check(CLI::Range(1ul, 1'000'000'000ul))->capture_default_str();
  app.add_flag("--mark", marked, "Mark where operations begin and end, for a tool that traces this program, instead of timing them");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  try {
    if (marked) mark_operations();
    const Awake awake;
    const auto part = std::ranges::find(parts(), std::string_view(name), &Part::name);
    std::printf("%s\n", row_of(*part, count, part->measure(count), awake.granted()).dump().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return 1;
  }
  return 0;
}
