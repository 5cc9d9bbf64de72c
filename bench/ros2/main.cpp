// sinew-bench-ros2 WHERE ROLE: one end of what bench/ros2.py measures. Says `ready` when it is connected, or, where it waits for others, when it listens; a publisher publishes when it reads a line,
// and says `done`; all end when there is nothing more to read. A subscriber writes the latencies then, in nanoseconds, as numbers of 8 bytes.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include "clock.hpp"
#include "ends.hpp"

namespace {

using namespace sinew::bench;
using namespace sinew::bench::ros2;

struct Asked {
  std::string where, role, out;
  std::uint32_t domain = 0;
  std::size_t size = 1'000'000;
  double rate = 30;
  std::uint64_t count = 300, warm_up = 30;
  unsigned topics = 500;
};

void say(const char* word) {
  std::cout << word << '\n' << std::flush;
}

void publish(const Asked& asked) {
  const auto publisher = asked.where == "dds" ? publish_in_dds(asked.domain, asked.size) : publish_in_domain(asked.size);
  while (!publisher->is_connected()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  say("ready");
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto period = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / asked.rate));
    auto next = std::chrono::steady_clock::now();
    for (std::uint64_t number = 0; number < asked.warm_up + asked.count; ++number) {
      std::this_thread::sleep_until(next);
      next += period;
      publisher->publish(number);
    }
    say("done");
  }
}

void subscribe(const Asked& asked) {
  std::mutex mutex;
  std::vector<std::int64_t> latencies;
  latencies.reserve(asked.count);
  std::uint64_t damaged = 0;
  const auto arrived = [&](const Stamped& message) {
    const std::int64_t now = now_ns();
    const auto value = static_cast<std::uint8_t>(message.number % 255);
    const bool is_whole = message.data.size() == asked.size && message.data.front() == value && message.data[asked.size / 2] == value &&
                          message.data.back() == value;
    const std::lock_guard lock(mutex);
    if (message.number >= asked.warm_up) latencies.push_back(now - message.sent);
    if (!is_whole) ++damaged;
  };
  const auto subscriber = asked.where == "dds" ? subscribe_in_dds(asked.domain, arrived) : subscribe_in_domain(arrived);
  say("ready");
  std::string line;
  while (std::getline(std::cin, line)) {
  }
  const std::lock_guard lock(mutex);
  if (damaged > 0) throw std::runtime_error(std::to_string(damaged) + " messages came damaged");
  std::ofstream file(asked.out, std::ios::binary);
  file.write(reinterpret_cast<const char*>(latencies.data()), static_cast<std::streamsize>(latencies.size() * sizeof latencies[0]));
  if (!file.flush()) throw std::runtime_error("cannot write " + asked.out);
}

void idle(const Asked& asked) {
  const auto holder = asked.where == "dds" ? idle_in_dds(asked.domain, asked.topics) : idle_in_domain(asked.topics);
  say("ready");
  std::string line;
  while (std::getline(std::cin, line)) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  CLI::App app("One end of what bench/ros2.py measures");
  app.add_option("where", asked.where)->required()->check(CLI::IsMember({"dds", "sinew"}));
  app.add_option("role", asked.role)->required()->check(CLI::IsMember({"publish", "subscribe", "idle"}));
  app.add_option("--domain", asked.domain, "of DDS");
  app.add_option("--size", asked.size, "bytes of the array in each message")->check(CLI::PositiveNumber);
  app.add_option("--rate", asked.rate, "messages in a second")->check(CLI::PositiveNumber);
  app.add_option("--count", asked.count, "messages that are measured");
  app.add_option("--warm-up", asked.warm_up, "messages that go before");
  app.add_option("--topics", asked.topics, "idle ones");
  app.add_option("--out", asked.out, "where a subscriber writes latencies");
  CLI11_PARSE(app, argc, argv);
  try {
    asked.role == "publish" ? publish(asked) : asked.role == "subscribe" ? subscribe(asked) : idle(asked);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sinew-bench-ros2: %s\n", error.what());
    return 1;
  }
}
