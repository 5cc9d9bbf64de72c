#include "pipeline.hpp"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <system_error>

namespace demo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array nodes{"camera", "lidar", "drone_state", "detector", "obstacle_finder", "fusion", "monitor"};
constexpr std::chrono::seconds patience{5};  // with processes that were told to stop

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A new empty folder, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sinew-demo-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) fail("making a temporary folder for the demo");
    path_ = pattern;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// The signals that the launcher waits for instead of being interrupted by them.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM}) sigaddset(&held_, signal);
    ::sigprocmask(SIG_BLOCK, &held_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { release(); }
  void release() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  /// The next of them, or 0 at the deadline.
  int wait_until(Clock::time_point deadline) const {
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now()).count();
    if (rest <= 0) return 0;
    const timespec time{static_cast<time_t>(rest / 1'000'000'000), static_cast<long>(rest % 1'000'000'000)};
    const int signal = ::sigtimedwait(&held_, nullptr, &time);
    return signal > 0 ? signal : 0;
  }

 private:
  sigset_t held_{}, before_{};
};

class Pipeline {
 public:
  explicit Pipeline(const PipelineOptions& options) : options_(options) {
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) fail("adopting orphaned processes");
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() { stop(); }

  Outcome run() {
    for (const char* node : nodes) start(node);
    const auto started = Clock::now();
    wait_until(started + options_.duration, [&] { return outcome_.interrupted || !outcome_.failures.empty(); });
    outcome_.seconds = std::chrono::duration<double>(Clock::now() - started).count();
    stop();
    if (outcome_.failures.empty() && !outcome_.interrupted) collect_reports();
    return std::move(outcome_);
  }

 private:
  void start(const std::string& node) {
    std::vector<std::string> words{(options_.programs / ("demo_" + node)).string(),
                                   "--transport",
                                   options_.transport,
                                   "--folder",
                                   folder_.path().string(),
                                   "--data",
                                   options_.data.string()};
    if (node == "monitor" && !options_.picture.empty()) words.insert(words.end(), {"--picture", options_.picture.string()});
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string domain = (folder_.path() / "domain").string();
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) fail("starting a process of the demo");
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // nothing stays behind when the launcher is killed
      if (::getppid() != parent) ::_exit(1);
      signals_.release();
      ::setenv("SINEW_DOMAIN", domain.c_str(), 1);
      ::unsetenv("SINEW_NODE");
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    running_[child] = node;
  }

  /// Reaps who has ended, and notes how.
  void reap() {
    int status = 0;
    rusage usage{};
    for (pid_t pid = 0; (pid = ::wait4(-1, &status, WNOHANG, &usage)) > 0;) {
      for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
        outcome_.cpu_seconds += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
      }
      const auto found = running_.find(pid);
      const bool is_node = found != running_.end();
      const std::string name = is_node ? found->second : "sinew's manager";
      if (is_node) running_.erase(found);
      if (WIFSIGNALED(status)) {
        // Told to stop before it could hear of it, or, as the manager may, without caring: that is no failure.
        if (stopping_ && WTERMSIG(status) == SIGTERM) continue;
        outcome_.failures.push_back(name + " was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
                                    ::strsignal(WTERMSIG(status)) + ")");
      } else if (WEXITSTATUS(status) == 127 && is_node) {
        std::string failure = name;
        failure.append(" could not be started: there is no program demo_").append(name).append(" in ").append(options_.programs.string());
        outcome_.failures.push_back(std::move(failure));
      } else if (WEXITSTATUS(status) != 0) {
        outcome_.failures.push_back(name + " ended with status " + std::to_string(WEXITSTATUS(status)));
      } else if (is_node && !stopping_) {
        outcome_.failures.push_back(name + " ended by itself, long before it was told to");
      }
    }
  }

  template <class Done>
  void wait_until(Clock::time_point deadline, Done done) {
    for (reap(); !done() && Clock::now() < deadline; reap()) {
      const int signal = signals_.wait_until(deadline);
      if (signal == SIGINT || signal == SIGTERM) outcome_.interrupted = true;
    }
  }

  void stop() {
    stopping_ = true;
    end([this] {
      std::set<pid_t> left;
      for (const auto& [pid, name] : running_) left.insert(pid);
      return left;
    });
    // What is left was adopted: the manager that the first node started.
    end(children);
  }

  /// Tells these processes to stop, and kills those that do not.
  template <class Which>
  void end(Which which) {
    for (const pid_t pid : which()) ::kill(pid, SIGTERM);
    wait_until(Clock::now() + patience, [&] { return which().empty(); });
    for (const pid_t pid : which()) {
      ::kill(pid, SIGKILL);
      outcome_.failures.push_back((running_.contains(pid) ? running_[pid] : "sinew's manager") + " did not stop when told to");
    }
    wait_until(Clock::now() + patience, [&] { return which().empty(); });
  }

  static std::set<pid_t> children() {
    std::ifstream file("/proc/self/task/" + std::to_string(::getpid()) + "/children");
    std::set<pid_t> pids;
    for (pid_t pid = 0; file >> pid;) pids.insert(pid);
    return pids;
  }

  void collect_reports() {
    for (const char* node : nodes) {
      std::ifstream file(folder_.path() / (std::string(node) + ".report"));
      if (!file) {
        outcome_.failures.push_back(std::string(node) + " left no report");
        continue;
      }
      for (ReportLine& line : read_report(file)) outcome_.lines.push_back(std::move(line));
    }
  }

  const PipelineOptions options_;
  const TemporaryFolder folder_;
  const HeldSignals signals_;
  std::map<pid_t, std::string> running_;
  bool stopping_ = false;
  Outcome outcome_;
};

}  // namespace

Outcome run_pipeline(const PipelineOptions& options) {
  return Pipeline(options).run();
}

}  // namespace demo
