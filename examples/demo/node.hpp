// What every process of the demo shares: its command line, its link to the others, stopping when told, and its report.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "link.hpp"
#include "report.hpp"
#include "sinew_link.hpp"
#include "tcp_link.hpp"

namespace demo {

struct NodeOptions {
  std::string transport = "sinew";  ///< or "tcp"
  std::filesystem::path folder;     ///< of this run: ports, reports
  std::filesystem::path data;       ///< recorded sensor data
  std::filesystem::path picture;    ///< where the monitor writes its annotated frame; empty: nowhere
};

/// One process: create outputs and inputs, then sleep_until() in a loop. Inputs stop before outputs when it is destroyed. Not thread-safe.
class DemoNode {
 public:
  using Clock = std::chrono::steady_clock;

  /// From here on SIGTERM and SIGINT are what sleep_until() returns for.
  DemoNode(std::string name, NodeOptions options);
  ~DemoNode();

  const NodeOptions& options() const noexcept { return options_; }

  /// `depth`: messages kept for a subscriber that is slow. Valid as long as the node.
  template <class T>
  Output<T>& output(const std::string& topic, std::uint32_t depth) {
    auto made = sinew_ ? std::unique_ptr<Output<T>>(std::make_unique<SinewOutput<T>>(*sinew_, topic, depth))
                       : std::make_unique<TcpOutput<T>>(options_.folder, topic, depth);
    Output<T>& output = *made;
    outputs_.push_back({topic, [shared = std::shared_ptr<Output<T>>(std::move(made))] { return shared->count(); }});
    return output;
  }

  /// The result is valid until stop_inputs().
  template <class T>
  const Input& input(const std::string& topic, std::uint32_t depth, Callback<T> callback) {
    auto made = sinew_ ? std::unique_ptr<Input>(std::make_unique<SinewInput<T>>(*sinew_, topic, depth, std::move(callback)))
                       : std::make_unique<TcpInput<T>>(options_.folder, topic, callbacks_, std::move(callback));
    return *inputs_.emplace_back(topic, std::move(made)).second;
  }

  /// Blocks until then. False, at once, when the process was told to stop.
  bool sleep_until(Clock::time_point then);
  void sleep_until_told_to_stop();
  /// Calls `body` once per period until told to stop. Beats that come while it is late are left out, not made up for.
  void every(std::chrono::nanoseconds period, const std::function<void()>& body);

  /// Ends the inputs: no callback runs any more when it returns.
  void stop_inputs();
  /// Adds a line to the report.
  void note(ReportLine line) {
    line.node = name_;
    lines_.push_back(std::move(line));
  }
  /// Ends the inputs and writes what the launcher gets: the counts of every input and output, and the noted lines.
  void report();

 private:
  struct CountedOutput {
    std::string topic;
    std::function<OutputCount()> count;
  };

  const std::string name_;
  const NodeOptions options_;
  std::mutex callbacks_;
  std::shared_ptr<sinew::Node> sinew_;  // null over TCP
  std::vector<CountedOutput> outputs_;
  std::vector<std::pair<std::string, std::unique_ptr<Input>>> inputs_;
  std::vector<ReportLine> lines_;
  bool told_to_stop_ = false;
};

/// Stops the inputs at the end of its scope. Stands behind what the callbacks use.
struct StopInputs {
  DemoNode& node;
  ~StopInputs() { node.stop_inputs(); }
};

/// The main() of a process: reads the command line, runs `body`, and turns an exception into a sentence on stderr and status 1.
int run_node(int argc, char** argv, const std::string& name, const std::function<void(DemoNode&)>& body);

}  // namespace demo
