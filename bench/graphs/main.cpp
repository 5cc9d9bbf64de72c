// sinew-bench-graph: runs graphs of nodes and prints a line of JSON for each run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "awake.hpp"
#include "crew.hpp"
#include "run.hpp"

namespace {

using namespace sinew::bench;
using namespace sinew::bench::graphs;

std::string footer() {
  std::string text = "Modes:\n";
  for (const Mode& mode : modes()) {
    std::string name(mode.name);
    name.resize(std::max<std::size_t>(name.size(), 12), ' ');
    text += "  " + name + " " + std::string(mode.help) + "\n";
  }
  return text +
         "\nExamples:\n"
         "  sinew-bench-graph                                  all graphs in all modes for 120 s each: 58 minutes\n"
         "  sinew-bench-graph --graph mont_blanc --mode sinew-one udp-one --seconds 30";
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> chosen_graphs, chosen_modes;
  unsigned seconds = 120;
  std::vector<std::string> known_graphs, known_modes, usual_modes;
  for (const BuiltIn& each : built_in()) known_graphs.emplace_back(each.name);
  for (const Mode& mode : modes()) {
    known_modes.emplace_back(mode.name);
    if (mode.beside != Mode::Beside::rosmaster) usual_modes.emplace_back(mode.name);
  }

  CLI::App app{
      "Runs graphs of nodes that publish at fixed rates, or what they get, and subscribe, one way of carrying the messages after the "
      "other."};
  app.footer(footer());
  app.add_option("--graph", chosen_graphs, "Which graphs; default: all")->check(CLI::IsMember(known_graphs));
  app.add_option("--mode", chosen_modes, "Which modes; default: all but those of ROS 1, which need rosmaster (ROS_MASTER_URI)")
      ->check(CLI::IsMember(known_modes));
  app.add_option("--seconds", seconds, "How long each run lasts, after a second to warm up")
      ->check(CLI::Range(1u, 86'400u))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (chosen_modes.empty()) chosen_modes = usual_modes;
  if (chosen_graphs.empty()) chosen_graphs = known_graphs;

  try {
    end_waiting_on_signals();
    const Awake awake;
    for (const std::string& graph : chosen_graphs) {
      for (const std::string& name : chosen_modes) {
        const auto mode = std::ranges::find(modes(), std::string_view(name), &Mode::name);
        std::fprintf(stderr, "%s, %s: %u s\n", graph.c_str(), name.c_str(), seconds);
        std::printf("%s\n", run(graph, *mode, seconds, awake.granted()).dump().c_str());
        std::fflush(stdout);
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sinew-bench-graph: %s\n", error.what());
    return 1;
  }
  return 0;
}
