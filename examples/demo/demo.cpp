// The demo's launcher: the same robot twice, first over sinew, then over loopback TCP, and a comparison.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "pipeline.hpp"
#include "summary.hpp"

namespace {

/// The run's outcome is good to go on with; otherwise says why not.
bool accept(const demo::Outcome& outcome, const std::string& transport) {
  const auto wrong = demo::complaints(outcome, transport);
  for (const std::string& complaint : wrong) std::fprintf(stderr, "demo: %s\n", complaint.c_str());
  return wrong.empty();
}

int run(demo::PipelineOptions options, std::chrono::seconds sinew_time, std::chrono::seconds tcp_time) {
  std::printf("A robot of seven processes over sinew, for %d s:\n", static_cast<int>(sinew_time.count()));
  std::fflush(stdout);
  options.transport = "sinew";
  options.duration = sinew_time;
  const demo::Outcome sinew = demo::run_pipeline(options);
  if (sinew.interrupted) return 130;
  bool good = accept(sinew, options.transport);
  if (!sinew.failures.empty()) return 1;

  std::printf("\nThe same seven processes over loopback TCP, for %d s:\n", static_cast<int>(tcp_time.count()));
  std::fflush(stdout);
  const auto picture = std::exchange(options.picture, {});
  options.transport = "tcp";
  options.duration = tcp_time;
  const demo::Outcome tcp = demo::run_pipeline(options);
  if (tcp.interrupted) return 130;
  good = accept(tcp, options.transport) && good;

  std::printf("\n%s\n", demo::side_by_side(sinew, tcp).c_str());
  if (good) std::puts("Every topic flowed, and over sinew no byte of an image or of a lidar scan was copied.");
  std::printf("One frame, with what moved in it: %s\nTo go on, with a node of your own: docs/quick-start.md\n", picture.c_str());
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  demo::PipelineOptions options;
  int sinew_seconds = 20, tcp_seconds = 10;
  CLI::App app(
      "Runs a small robot on recorded sensor data: camera, lidar and drone state feed a motion detector, an obstacle finder and a fusion "
      "node, and a monitor "
      "shows what flows. Exits with 0 when every topic flowed and no payload byte of the camera's and the lidar's topics was copied.");
  app.add_option("--data", options.data, "Folder of the recorded sensor data (tools/fetch_demo_data.py fills it)")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--seconds", sinew_seconds, "How long to run over sinew")->check(CLI::Range(1, 86400))->capture_default_str();
  app.add_option("--tcp-seconds", tcp_seconds, "How long to run over TCP")->check(CLI::Range(1, 86400))->capture_default_str();
  app.add_option("--picture", options.picture, "Where to save a frame with what moved in it (default: demo-frame.png beside the data)");
  CLI11_PARSE(app, argc, argv);
  try {
    options.data = std::filesystem::canonical(options.data);
    if (options.picture.empty()) options.picture = options.data.parent_path() / "demo-frame.png";
    options.programs = std::filesystem::canonical("/proc/self/exe").parent_path();
    return run(options, std::chrono::seconds(sinew_seconds), std::chrono::seconds(tcp_seconds));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "demo: %s\n", error.what());
    return 1;
  }
}
