#include "idle.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sinew/sinew.hpp>
#include <stdexcept>
#include <system_error>

#include "idle_topics.hpp"
#include "private_domain.hpp"
#include "proc.hpp"

namespace sinew::bench {

namespace {

struct Usage {
  double cpu_us = 0;
  double ticks = 0;
  double switches = 0;
};

Usage usage_of(pid_t process) {
  const std::filesystem::path folder = "/proc/" + std::to_string(process);
  Usage usage;
  for (const auto& thread : std::filesystem::directory_iterator(folder / "task")) {
    double ran_ns = 0;
    std::ifstream(thread.path() / "schedstat") >> ran_ns;
    usage.cpu_us += ran_ns / 1000;
    usage.switches += sum_of(thread.path() / "status", "voluntary_ctxt_switches:");
  }
  std::string text;
  std::getline(std::ifstream(folder / "stat"), text);
  // Fields 14 and 15, counted behind the name in parentheses, which is the second and may hold anything.
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int field = 3; field < 14; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  usage.ticks = user + system;
  return usage;
}

// Lives until its standard input is closed.
class IdleProgram {
 public:
  explicit IdleProgram(const std::string& domain) {
    int input[2], output[2];
    if (pipe(input) != 0 || pipe(output) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input[0], 0);
    posix_spawn_file_actions_adddup2(&actions, output[1], 1);
    for (const int end : {input[0], input[1], output[0], output[1]}) posix_spawn_file_actions_addclose(&actions, end);
    const std::string program = program_beside("sinew-bench-idle");
    const char* const arguments[] = {program.c_str(), domain.c_str(), nullptr};
    const int error = posix_spawn(&process_, program.c_str(), &actions, nullptr, const_cast<char* const*>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(input[0]);
    close(output[1]);
    input_ = input[1];
    output_ = output[0];
    if (error != 0) throw std::system_error(error, std::generic_category(), "starting " + program);
  }
  IdleProgram(const IdleProgram&) = delete;
  IdleProgram& operator=(const IdleProgram&) = delete;
  ~IdleProgram() {
    close(input_);
    close(output_);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_t process() const { return process_; }
  void wait_until_ready() const {
    char word;
    if (read(output_, &word, 1) != 1) throw std::runtime_error("sinew-bench-idle ended before it was connected");
  }

 private:
  pid_t process_ = 0;
  int input_ = -1, output_ = -1;
};

}  // namespace

Samples measure_idle(const Cell& cell, const std::string& domain) {
  const auto node = Node::create("bench_peer", {.domain = domain});
  const auto echo = node->create_publisher<std::uint32_t>(idle_in);
  const auto hear = node->create_subscriber<std::uint32_t>(idle_out, [&echo](const std::uint32_t& value) { echo->publish(value); });
  const IdleProgram program(domain);
  program.wait_until_ready();

  // It has said that it is ready a moment before it has gone to sleep.
  sleep(1);
  const Usage before = usage_of(program.process());
  sleep(static_cast<unsigned>(cell.count));
  const Usage after = usage_of(program.process());
  Samples samples;
  samples.seconds = static_cast<double>(cell.count);
  samples.cpu = static_cast<std::int64_t>((after.cpu_us - before.cpu_us) * 1000);
  samples.extra = {{"idle_cpu_us", after.cpu_us - before.cpu_us},
                   {"idle_cpu_ticks", after.ticks - before.ticks},
                   {"idle_switches", after.switches - before.switches},
                   {"private_kib", private_kib_of(std::to_string(program.process()))}};
  return samples;
}

}  // namespace sinew::bench
