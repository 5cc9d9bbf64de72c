// sinew-bench-scale: many topics in many processes come up at once. Prints a line of JSON; fails when something is not matched, not received, or
// left behind.
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sinew/sinew.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "pipe.hpp"
#include "private_domain.hpp"
#include "proc.hpp"
#include "shared_memory.hpp"

namespace sinew::bench {

struct Greeting {
  std::uint64_t number = 0;
};

namespace {

struct Plan {
  std::uint64_t topics = 5000, processes = 200, interfaces = 50;
  unsigned patience_s = 120;

  std::uint64_t all() const { return processes * interfaces; }
};

/// The interface of number `index` in process `process`: the first of a topic publishes, those that come later subscribe. A process has some of both, and hardly
/// any of them meet within it.
struct Place {
  std::uint64_t topic = 0;
  bool publishes = false;
};

Place place_of(const Plan& plan, std::uint64_t process, std::uint64_t index) {
  const std::uint64_t number = index * plan.processes + process, turn = number / plan.topics;
  return {(number + turn) % plan.topics, turn == 0};
}

std::uint64_t subscribers_of(const Plan& plan, std::uint64_t topic) {
  std::uint64_t count = 0;
  for (std::uint64_t turn = 1; turn * plan.topics < plan.all(); ++turn) {
    const std::uint64_t number = turn * plan.topics + (topic + plan.topics - turn % plan.topics) % plan.topics;
    count += number < plan.all();
  }
  return count;
}

/// What a process says of itself, in memory that it shares with the coordinator. Times are those of CLOCK_MONOTONIC.
struct Report {
  std::int64_t created_ns = 0, matched_ns = 0, received_ns = 0;
  std::uint64_t matched = 0, messages = 0;
  double private_kib_before = 0;  // it had a node
};

std::uint64_t entries_of(const std::string& folder) {
  return static_cast<std::uint64_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// One process: comes up, waits until all of it is matched, publishes a message on each of its topics, and waits for those that it subscribes to.
class Member {
 public:
  Member(const Plan& plan, std::uint64_t process, const std::string& domain, Report& report)
      : plan_(plan), report_(report), node_(Node::create("member_" + std::to_string(process), {.domain = domain})) {
    for (std::uint64_t index = 0; index < plan.interfaces; ++index) add(place_of(plan, process, index));
    report_.created_ns = now_ns();
  }

  void match() {
    // One after the other: who looks at all of them again and again takes the processor from those who have yet to come.
    std::size_t publisher = 0, subscriber = 0;
    wait([&] {
      while (publisher < publishers_.size() && is_matched(publishers_[publisher])) ++publisher;
      while (subscriber < subscribers_.size() && is_matched(subscribers_[subscriber])) ++subscriber;
      return publisher == publishers_.size() && subscriber == subscribers_.size();
    });
    report_.matched_ns = now_ns();
    report_.matched = static_cast<std::uint64_t>(std::ranges::count_if(publishers_, [](const Out& out) { return is_matched(out); }) +
                                                 std::ranges::count_if(subscribers_, [](const In& in) { return is_matched(in); }));
  }

  void greet() {
    for (const Out& out : publishers_) {
      if (out.publisher->publish(Greeting{1}) != PublishResult::published) throw std::runtime_error("a message was not published");
    }
    wait([this] { return (report_.messages = received_) == subscribers_.size(); });
    report_.received_ns = now_ns();
  }

 private:
  struct Out {
    std::shared_ptr<Publisher<Greeting>> publisher;
    std::uint64_t readers = 0;  // as many as are to come
  };
  using In = std::shared_ptr<Subscriber<Greeting>>;

  void add(const Place& place) {
    const std::string topic = "scale/topic_" + std::to_string(place.topic);
    if (place.publishes) {
      publishers_.push_back({node_->create_publisher<Greeting>(topic), subscribers_of(plan_, place.topic)});
    } else {
      subscribers_.push_back(node_->create_subscriber<Greeting>(topic, [this](const Greeting&) { ++received_; }));
    }
  }

  static bool is_matched(const Out& out) { return out.publisher->statistics().subscribers == out.readers; }
  static bool is_matched(const In& in) { return in->statistics().publishers == 1; }

  // What is not there when the time is over shows in the report.
  template <class Done>
  void wait(Done done) const {
    constexpr unsigned pause_us = 5000;
    for (const std::int64_t until = now_ns() + std::int64_t{plan_.patience_s} * 1'000'000'000; !done() && now_ns() < until;)
      ::usleep(pause_us);
  }

  const Plan& plan_;
  Report& report_;
  std::atomic<std::uint64_t> received_{0};  // before the node, whose callbacks count it
  const std::shared_ptr<Node> node_;
  std::vector<Out> publishers_;
  std::vector<In> subscribers_;
};

/// The processes, killed when they are still there at the end.
class Crew {
 public:
  explicit Crew(const Plan& plan) : plan_(plan), reports_(sizeof(Report) * plan.processes) {
    std::fill_n(reports_.as<Report>(), plan.processes, Report{});
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    for (const pid_t process : processes_) ::kill(process, SIGKILL);
    for (const pid_t process : processes_) ::waitpid(process, nullptr, 0);
    for (const int pidfd : pidfds_) ::close(pidfd);
  }

  /// REQUIRES: no threads in this process.
  void start(const std::string& domain) {
    for (std::uint64_t process = 0; process < plan_.processes; ++process) {
      std::fflush(nullptr);
      const pid_t child = ::fork();
      if (child < 0) throw std::system_error(errno, std::generic_category(), "cannot start process " + std::to_string(process + 1));
      if (child == 0) work(process, domain);
      processes_.push_back(child);
      pidfds_.push_back(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    }
    await_all("are started");
  }
  void let_create() {
    create_.close_writer();
    await_all("have come up");
  }
  void let_greet() {
    greet_.close_writer();
    await_all("have heard each other");
  }
  void let_end() {
    end_.close_writer();
    for (const int pidfd : pidfds_) {
      if (told_.hear(patience_ms(), {&pidfd, 1}) == Word::nothing) throw std::runtime_error("a process does not end");
    }
    for (const pid_t process : std::exchange(processes_, {})) {
      int status = 0;
      while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
      }
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("a process failed when it ended");
    }
  }
  /// What the processes have now, when nobody has yet to map what others sent: the most of each.
  nlohmann::json most() const {
    double kib = 0;
    std::uint64_t descriptors = 0, threads = 0;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
      const std::string process = std::to_string(processes_[i]);
      kib = std::max(kib, private_kib_of(process) - begin()[i].private_kib_before);
      descriptors = std::max(descriptors, entries_of("/proc/" + process + "/fd"));
      threads = std::max(threads, entries_of("/proc/" + process + "/task"));
    }
    return {{"node_kib", kib}, {"node_descriptors", descriptors}, {"node_threads", threads}};
  }
  const Report* begin() const { return reports_.as<Report>(); }
  const Report* end() const { return begin() + plan_.processes; }

 private:
  [[noreturn]] void work(std::uint64_t process, const std::string& domain) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (Pipe* const pipe : {&create_, &greet_, &end_}) pipe->close_writer();
    try {
      told_.say(Word::ready);
      create_.wait_until_closed();
      reports_.as<Report>()[process].private_kib_before = private_kib_of("self");
      {
        Member member(plan_, process, domain, reports_.as<Report>()[process]);
        member.match();
        told_.say(Word::ready);
        greet_.wait_until_closed();
        member.greet();
        told_.say(Word::ready);
        end_.wait_until_closed();
      }
      ::_exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "sinew-bench-scale: process %llu: %s\n", static_cast<unsigned long long>(process), error.what());
      told_.say(Word::failed);
      ::_exit(1);
    }
  }
  /// A process gives up first.
  std::int64_t patience_ms() const { return (std::int64_t{plan_.patience_s} + 30) * 1000; }
  void await_all(const char* what) const {
    for (std::uint64_t heard = 0; heard < plan_.processes; ++heard) {
      const Word word = told_.hear(patience_ms(), pidfds_);
      if (word == Word::ready) continue;
      throw std::runtime_error(word == Word::failed ? "a process failed or died"
                                                    : std::to_string(heard) + " processes " + what + ", and no more in time");
    }
  }

  const Plan plan_;
  SharedMemory reports_;
  Pipe told_, create_, greet_, end_;
  std::vector<pid_t> processes_;
  std::vector<int> pidfds_;
};

template <class Of>
std::uint64_t total(const Crew& crew, Of of) {
  std::uint64_t sum = 0;
  for (const Report& each : crew) sum += each.*of;
  return sum;
}

template <class Of>
auto largest(const Crew& crew, Of of) {
  const auto* const most = std::max_element(crew.begin(), crew.end(), [of](const Report& a, const Report& b) { return a.*of < b.*of; });
  return (*most).*of;
}

// Nobody is there any more: of all sockets the manager has the one at which it listens.
bool has_forgotten_all(const std::string& manager_descriptors) {
  constexpr std::int64_t patience_ns = 10'000'000'000;
  for (const std::int64_t until = now_ns() + patience_ns;; ::usleep(1000)) {
    int sockets = 0;
    for (const auto& each : std::filesystem::directory_iterator(manager_descriptors)) {
      std::error_code closed_meanwhile;
      sockets += std::filesystem::read_symlink(each.path(), closed_meanwhile).string().starts_with("socket:");
    }
    if (sockets == 1) return true;
    if (now_ns() > until) return false;
  }
}

nlohmann::json measure(const Plan& plan) {
  const PrivateDomain domain;
  if (domain.manager() == 0) throw std::runtime_error("the manager must be one of this program's own: unset SINEW_DOMAIN");
  const std::string manager = std::to_string(domain.manager()), descriptors = "/proc/" + manager + "/fd";
  Crew crew(plan);
  crew.start(domain.name());
  const std::int64_t started = now_ns();
  crew.let_create();
  double manager_cpu_ns = 0;
  std::ifstream("/proc/" + manager + "/schedstat") >> manager_cpu_ns;
  const double manager_kib = private_kib_of(manager);
  const std::uint64_t manager_descriptors = entries_of(descriptors);
  const std::int64_t greeted = now_ns();
  crew.let_greet();

  std::uint64_t to_receive = 0;
  for (std::uint64_t topic = 0; topic < plan.topics; ++topic) to_receive += subscribers_of(plan, topic);
  nlohmann::json row = {
      {"experiment", "scale"},
      {"topics", plan.topics},
      {"processes", plan.processes},
      {"interfaces", plan.interfaces},
      {"unmatched", plan.all() - total(crew, &Report::matched)},
      {"unheard", to_receive - total(crew, &Report::messages)},
      {"created_s", static_cast<double>(largest(crew, &Report::created_ns) - started) * 1e-9},
      {"matched_s", static_cast<double>(largest(crew, &Report::matched_ns) - started) * 1e-9},
      {"heard_s", static_cast<double>(largest(crew, &Report::received_ns) - greeted) * 1e-9},
      {"manager_cpu_s", manager_cpu_ns * 1e-9},
      {"manager_kib", manager_kib},
      {"manager_descriptors", manager_descriptors},
  };
  row.update(crew.most());
  const std::int64_t ending = now_ns();
  crew.let_end();
  row["left_behind"] = !has_forgotten_all(descriptors);
  row["ended_s"] = static_cast<double>(now_ns() - ending) * 1e-9;
  return row;
}

}  // namespace

}  // namespace sinew::bench

int main(int argc, char** argv) {
  using namespace sinew::bench;
  Plan plan;
  CLI::App app{
      "Lets many processes with many topics come up at once: how long until all are matched, and what the manager and a node take."};
  app.add_option("--topics", plan.topics, "Each has one publisher, and subscribers as there are interfaces left")
      ->check(CLI::Range(1ul, 12'000ul))
      ->capture_default_str();
  app.add_option("--processes", plan.processes, "Each with one node")->check(CLI::Range(1ul, 2000ul))->capture_default_str();
  app.add_option("--interfaces", plan.interfaces, "Publishers and subscribers of each process together")
      ->check(CLI::Range(1ul, 1000ul))
      ->capture_default_str();
  app.add_option("--patience", plan.patience_s, "Seconds after which what is not matched, or not received, is given up")
      ->check(CLI::Range(1u, 3600u))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (plan.all() < plan.topics) {
    std::fprintf(stderr, "sinew-bench-scale: %llu interfaces are too few for %llu topics: give more --processes or --interfaces\n",
                 static_cast<unsigned long long>(plan.all()), static_cast<unsigned long long>(plan.topics));
    return 2;
  }
  try {
    const nlohmann::json row = measure(plan);
    std::printf("%s\n", row.dump().c_str());
    if (row["unmatched"] == 0 && row["unheard"] == 0 && row["left_behind"] == false) return 0;
    std::fprintf(stderr, "sinew-bench-scale: not all is matched, heard and gone: %s\n", row.dump().c_str());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sinew-bench-scale: %s\n", error.what());
    return 1;
  }
}
