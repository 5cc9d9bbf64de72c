// sinew-bench: measures one cell and prints a line of JSON.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "awake.hpp"
#include "containers.hpp"
#include "summary.hpp"
#include "systems.hpp"

namespace {

using namespace sinew::bench;

std::string footer() {
  std::string text = "Systems:\n";
  for (const System& system : systems()) {
    std::string name(system.name);
    name.resize(std::max<std::size_t>(name.size(), 16), ' ');
    text += "  " + name + " " + std::string(system.help) + "\n";
  }
  return text +
         "\nExamples:\n"
         "  sinew-bench --system floor\n"
         "  sinew-bench --system tcp --topology 1p5s --size 5500000 --count 300\n"
         "  sinew-bench --system floor --wait spin --rate 0 --count 1000000\n"
         "  sinew-bench --system sinew-loan --containers each";
}

}  // namespace

int main(int argc, char** argv) {
  Cell cell;
  std::string topology = "1p1s", wait = "block";
  const std::map<std::string, Containers> containers = {{"none", Containers::none}, {"one", Containers::one}, {"each", Containers::each}};
  std::vector<std::string> names;
  for (const System& system : systems()) names.emplace_back(system.name);

  CLI::App app{
      "Measures one way to carry messages between processes: time from just before publish, payload filled, to the readable payload."};
  app.footer(footer());
  app.add_option("--system", cell.system, "What to measure; see below")->required()->check(CLI::IsMember(names));
  app.add_option("--topology", topology, "Publishers and subscribers, a process each")->capture_default_str();
  app.add_option("--wait", wait, "How subscribers wait")->check(CLI::IsMember({"block", "spin"}))->capture_default_str();
  app.add_option("--size", cell.size, "Payload bytes")->check(CLI::Range(1ul, 1ul << 30))->capture_default_str();
  app.add_option("--rate", cell.rate, "Messages per second of each publisher; 0: flat out")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--count", cell.count, "Messages of each publisher that are measured")
      ->check(CLI::Range(1ul, 100'000'000ul))
      ->capture_default_str();
  app.add_flag("--publish-cpu", cell.publish_cpu, "Take the processor time of the publishing thread too, which disturbs the latency");
  app.add_option("--fifo", cell.fifo,
                 "Run the threads that publish and those that receive (sinew: the callback's) at SCHED_FIFO with this priority; 0: do not")
      ->check(CLI::Range(0, 99))
      ->capture_default_str();
  app.add_option("--containers", cell.containers, "Run all processes in one container, or each in one of its own (needs root)")
      ->transform(CLI::CheckedTransformer(containers))
      ->default_str("none");
  app.add_option("--experiment", cell.experiment, "Written into the row")->capture_default_str();
  try {
    app.parse(argc, argv);
    set_topology(cell, topology);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "sinew-bench: %s\n", error.what());
    return 2;
  }
  cell.spin = wait == "spin";

  try {
    const Awake awake;
    if (cell.containers == Containers::one) enter_container();
    const auto system = std::ranges::find(systems(), std::string_view(cell.system), &System::name);
    std::printf("%s\n", make_row(cell, system->measure(cell), awake.granted()).dump().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sinew-bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
