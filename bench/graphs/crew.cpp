#include "crew.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "clock.hpp"

namespace sinew::bench::graphs {

namespace {

constexpr std::int64_t patience_ns = 10'000'000'000;
constexpr std::int64_t millisecond = 1'000'000;
// A signal between the look at the flag and poll() is seen after so long at the latest.
constexpr std::int64_t longest_poll_ms = 200;

volatile std::sig_atomic_t broken_off = 0;

void close_if_open(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

struct Pipe {
  int reader = -1, writer = -1;
};

Pipe open_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  return {ends[0], ends[1]};
}

// Null when it still runs, for which `wait` is WNOHANG.
const char* outcome_of(pid_t process, int wait) {
  int status = 0;
  pid_t ended;
  while ((ended = waitpid(process, &status, wait)) < 0 && errno == EINTR) {
  }
  if (ended == 0) return nullptr;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "ended" : "failed or was killed";
}

}  // namespace

void end_waiting_on_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { broken_off = 1; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // Telling a worker that has died shows in what it says, not here.
  std::signal(SIGPIPE, SIG_IGN);
}

Crew::~Crew() {
  for (Member& each : members_) {
    if (each.process > 0) kill(each.process, SIGKILL);
    close_if_open(each.input);
    close_if_open(each.output);
  }
  for (const Member& each : members_) {
    if (each.process > 0) outcome_of(each.process, 0);
  }
}

void Crew::start(const std::string& program, const std::vector<std::string>& arguments, int board) {
  Pipe input = open_pipe(), output = open_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.reader, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.writer, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, board, board_descriptor);
  std::vector<char*> words{const_cast<char*>(program.c_str())};
  words.reserve(arguments.size() + 2);
  for (const std::string& each : arguments) words.push_back(const_cast<char*>(each.c_str()));
  words.push_back(nullptr);
  pid_t process = 0;
  const int error = posix_spawn(&process, program.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close_if_open(input.reader);
  close_if_open(output.writer);
  if (error != 0) {
    close_if_open(input.writer);
    close_if_open(output.reader);
    throw std::system_error(error, std::generic_category(), "starting " + program);
  }
  std::string name = std::filesystem::path(program).filename();
  for (const std::string& each : arguments) name += " " + each;
  members_.push_back({std::move(name), process, input.writer, output.reader, {}});
}

void Crew::say(Word word) const {
  for (const Member& each : members_) {
    while (write(each.input, &word, 1) < 0 && errno == EINTR) {
    }
  }
}

bool Crew::all_said(Word word) const {
  return std::ranges::all_of(members_, [word](const Member& each) { return each.said.find(static_cast<char>(word)) != std::string::npos; });
}

void Crew::listen(std::int64_t until_ns) {
  std::vector<pollfd> outputs;
  outputs.reserve(members_.size());
  for (const Member& each : members_) outputs.push_back({each.output, POLLIN, 0});
  const std::int64_t left_ms = std::max<std::int64_t>(0, (until_ns - now_ns()) / millisecond);
  const int count = poll(outputs.data(), outputs.size(), static_cast<int>(std::min(left_ms, longest_poll_ms)));
  if (broken_off != 0) throw std::runtime_error("broken off");
  if (count <= 0) return;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].revents == 0) continue;
    char words[8];
    const ssize_t got = read(outputs[i].fd, words, sizeof words);
    if (got <= 0) throw std::runtime_error(members_[i].name + " ended before its time");
    members_[i].said.append(words, static_cast<std::size_t>(got));
  }
}

void Crew::await(Word word, std::int64_t until_ns) {
  while (!all_said(word)) {
    if (now_ns() > until_ns) throw std::runtime_error("the processes of this run did not get on in time");
    listen(until_ns);
  }
}

void Crew::wait(std::int64_t until_ns) {
  while (until_ns - now_ns() >= millisecond) listen(until_ns);
  const timespec time{until_ns / 1'000'000'000, until_ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

void Crew::end() {
  for (Member& each : members_) close_if_open(each.input);
  const std::int64_t until = now_ns() + patience_ns;
  for (Member& each : members_) {
    const char* outcome = nullptr;
    while ((outcome = outcome_of(each.process, WNOHANG)) == nullptr) {
      if (now_ns() > until) throw std::runtime_error(each.name + " does not end");
      usleep(1000);
    }
    each.process = 0;
    if (std::string(outcome) != "ended") throw std::runtime_error(each.name + " " + outcome + " at its end");
  }
}

std::vector<pid_t> Crew::processes() const {
  std::vector<pid_t> all;
  all.reserve(members_.size());
  for (const Member& each : members_) all.push_back(each.process);
  return all;
}

Memory memory_of(const std::vector<pid_t>& processes) {
  Memory memory;
  for (const pid_t process : processes) {
    std::ifstream maps("/proc/" + std::to_string(process) + "/smaps");
    bool counts = true, file = false, any = false;
    for (std::string line; std::getline(maps, line);) {
      // Mappings begin with "from-to rights ..."; what is said of them with "Name:   n kB".
      std::istringstream words(line);
      std::string first;
      words >> first;
      if (!first.ends_with(':')) {
        counts = line.find(board_name) == std::string::npos;
        file = line.find('/') != std::string::npos && line.find("/memfd:") == std::string::npos;
        continue;
      }
      double kib = 0;
      if (!counts || (first != "Pss:" && first != "Rss:") || !(words >> kib)) continue;
      any = true;
      (first == "Pss:" ? memory.pss_kib : memory.rss_kib) += kib;
      if (first == "Pss:" && !file) memory.own_kib += kib;
    }
    if (!any) throw std::runtime_error("cannot read the memory of process " + std::to_string(process));
  }
  return memory;
}

std::int64_t cpu_ns_of(const std::vector<pid_t>& processes) {
  std::int64_t sum = 0;
  for (const pid_t process : processes) {
    clockid_t clock;
    timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) {
      throw std::runtime_error("cannot read the processor time of process " + std::to_string(process));
    }
    sum += time.tv_sec * 1'000'000'000 + time.tv_nsec;
  }
  return sum;
}

}  // namespace sinew::bench::graphs
