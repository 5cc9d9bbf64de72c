#include "node.hpp"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace demo {
namespace {

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

DemoNode::DemoNode(std::string name, NodeOptions options) : name_(std::move(name)), options_(std::move(options)) {
  // Before any thread starts, so that all of them inherit the mask and the signal waits for sleep_until().
  const sigset_t signals = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  if (options_.transport == "sinew") sinew_ = sinew::Node::create(name_);
}

DemoNode::~DemoNode() {
  inputs_.clear();
}

bool DemoNode::sleep_until(Clock::time_point then) {
  const sigset_t signals = stop_signals();
  while (!told_to_stop_) {
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(then - Clock::now()).count();
    if (rest <= 0) return true;
    const timespec time{static_cast<time_t>(rest / 1'000'000'000), static_cast<long>(rest % 1'000'000'000)};
    if (::sigtimedwait(&signals, nullptr, &time) > 0) told_to_stop_ = true;
  }
  return false;
}

void DemoNode::sleep_until_told_to_stop() {
  while (sleep_until(Clock::now() + std::chrono::hours(1))) {
  }
}

void DemoNode::every(std::chrono::nanoseconds period, const std::function<void()>& body) {
  for (auto next = Clock::now(); sleep_until(next); next = std::max(next + period, Clock::now())) body();
}

void DemoNode::stop_inputs() {
  for (const auto& [topic, input] : inputs_) {
    const InputCount count = input->count();
    note({"subscriber",
          {},
          topic,
          {{"received", static_cast<double>(count.received)},
           {"missed", static_cast<double>(count.missed)},
           {"bytes_copied", static_cast<double>(count.bytes_copied)},
           {"not_in_place", static_cast<double>(count.not_in_place)}}});
  }
  inputs_.clear();
}

void DemoNode::report() {
  stop_inputs();
  for (const CountedOutput& output : outputs_) {
    const OutputCount count = output.count();
    note({"publisher",
          {},
          output.topic,
          {{"published", static_cast<double>(count.published)},
           {"bytes_copied", static_cast<double>(count.bytes_copied)},
           {"refused", static_cast<double>(count.refused)}}});
  }
  std::ofstream file(options_.folder / (name_ + ".report"));
  write_report(file, lines_);
  file.close();
  if (!file) throw std::runtime_error("the report could not be written to " + options_.folder.string());
}

int run_node(int argc, char** argv, const std::string& name, const std::function<void(DemoNode&)>& body) {
  NodeOptions options;
  CLI::App app("The " + name + " of the demo. Usually started by `demo`; stops on SIGTERM.");
  app.add_option("--transport", options.transport, "What carries the messages")->check(CLI::IsMember({"sinew", "tcp"}));
  app.add_option("--folder", options.folder, "Folder of this run, for ports and reports")->required()->check(CLI::ExistingDirectory);
  app.add_option("--data", options.data, "Folder of the recorded sensor data")->required()->check(CLI::ExistingDirectory);
  app.add_option("--picture", options.picture, "Where the monitor writes its annotated frame");
  CLI11_PARSE(app, argc, argv);
  try {
    DemoNode node(name, options);
    body(node);
    node.report();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return 1;
  }
}

}  // namespace demo
