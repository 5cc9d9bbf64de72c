// Runs the processes of the demo once over one transport and collects what they report.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "report.hpp"

namespace demo {

struct PipelineOptions {
  std::string transport;            ///< "sinew" or "tcp"
  std::chrono::seconds duration{};  ///< from the last start to the first stop
  std::filesystem::path programs;   ///< folder of the demo_* programs
  std::filesystem::path data;
  std::filesystem::path picture;  ///< empty: none
};

struct Outcome {
  std::vector<ReportLine> lines;      ///< of all processes
  double seconds = 0;                 ///< how long it ran
  double cpu_seconds = 0;             ///< user and system time of all its processes, sinew's manager included
  std::vector<std::string> failures;  ///< processes that did not end well, in sentences
  bool interrupted = false;           ///< SIGINT or SIGTERM ended it early
};

/// Blocks until the run is over and every process of it is gone. Makes this process the one that orphans are handed to, so that the manager, which
/// the first node starts on demand, is counted and ended too. Throws std::system_error when no process can be started. Call it from a program of one thread.
Outcome run_pipeline(const PipelineOptions& options);

}  // namespace demo
