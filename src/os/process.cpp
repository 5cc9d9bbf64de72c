#include "os/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "os/call.hpp"
#include "os/clock.hpp"
#include "os/event.hpp"
#include "os/failure.hpp"
#include "os/file.hpp"
#include "os/memory.hpp"

namespace sinew::os {
namespace {

// Between looks at a lock, or at a child where there are no pidfds: the kernel can wait for one only for ever.
constexpr std::chrono::milliseconds first_pause{1}, longest_pause{10};

// A program that is to become a daemon has this long for it. In short looks, so that the time in which we are stopped, or the machine sleeps, does not count.
constexpr std::chrono::milliseconds one_look{250};
constexpr int looks_at_start = 20, looks_at_end = 4;

/// What posix_spawn is told, freed at the end of the scope.
class SpawnPlan {
 public:
  /// REQUIRES: `output` is none of 0 to 3.
  SpawnPlan(int inherited, int output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    // First, since `inherited` may itself be 0 or 1 in a process that was started without them.
    posix_spawn_file_actions_adddup2(&actions_, inherited, 3);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// An errno, 0 when the program runs.
  int spawn(pid_t* pid, const std::string& program, const std::vector<std::string>& arguments) const {
    std::vector<char*> pointers{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    if (fault::inject(fault::Call::spawn)) return errno;
    return ::posix_spawnp(pid, program.c_str(), &actions_, &attributes_, pointers.data(), environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

/// Waits for the end of a child: its wait status, -1 where that is not known since somebody else has reaped it, nothing when it still runs after so many looks.
std::optional<int> await_child(pid_t pid, int looks) {
  int status = 0;
  const Fd pidfd = open_pidfd(pid);
  auto pause = first_pause;
  for (std::int64_t deadline = later(now_ns(), std::chrono::nanoseconds(one_look).count());;) {
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (now_ns() >= deadline) {
      if (--looks == 0) return std::nullopt;
      deadline = later(now_ns(), std::chrono::nanoseconds(one_look).count());
    }
    pollfd end{pidfd.get(), POLLIN, 0};
    const int wait = static_cast<int>(std::max<std::int64_t>(deadline - now_ns(), 0) / 1'000'000 + 1);  // less than 0 were for ever
    if (pidfd && call(fault::Call::poll, [&] { return ::poll(&end, 1, wait); }) >= 0) continue;
    sleep_for(pause);
    pause = std::min(2 * pause, longest_pause);
  }
}

/// What was written to a file of zeros, as far as it is a sentence and not a flood.
std::string text_of(const Fd& file) {
  std::array<char, 4097> text{};
  call(fault::Call::read, [&] { return ::pread(file.get(), text.data(), text.size() - 1, 0); });
  return text.data();
}

}  // namespace

void start_daemon(const std::string& program, const std::vector<std::string>& arguments, const Fd& inherited,
                  const std::string& if_missing) {
  const std::string what = "cannot start '" + program + "'";
  pid_t pid = 0;
  // Not a pipe, which a daemon that keeps its end could make us wait for.
  const Fd file = create_memfd("sinew-said", page_size());
  const Fd output(call(fault::Call::fcntl, [&] { return ::fcntl(file.get(), F_DUPFD_CLOEXEC, 4); }));
  if (!output) fail(errno, what, ErrorKind::exhausted);
  const int error = SpawnPlan(inherited.get(), output.get()).spawn(&pid, program, arguments);
  if (error == ENOENT || error == ENOTDIR || error == EACCES) {  // the second where the last of PATH is no folder
    throw Error(ErrorKind::unavailable, "sinew " + what + ": " + describe(error) + "." + if_missing);
  }
  if (error != 0) fail(error, what, ErrorKind::unavailable);
  const std::optional<int> status = await_child(pid, looks_at_start);
  if (status && (*status == -1 || (WIFEXITED(*status) && WEXITSTATUS(*status) == 0))) return;
  if (!status) {
    ::kill(pid, SIGKILL);
    await_child(pid, looks_at_end);  // else it hangs in the kernel, and nobody can wait for it
  }
  const std::string end = !status ? "it was not ready within " + std::to_string(looks_at_start * one_look.count()) + " ms, and was killed"
                          : WIFEXITED(*status) ? "it exited with status " + std::to_string(WEXITSTATUS(*status))
                                               : "signal " + std::to_string(WTERMSIG(*status)) + " ended it";
  const std::string said = text_of(output);
  throw Error(ErrorKind::unavailable,
              "sinew " + what + ": " + end + (said.empty() ? ". Run it by hand to see why." : ". It says: " + said));
}

void become_daemon(bool keep_stderr) {
  if (call(fault::Call::chdir, [] { return ::chdir("/"); }) != 0) fail(errno, "cannot change to the root folder");
  const pid_t child = call(fault::Call::fork, [] { return ::fork(); });
  if (child < 0) fail(errno, "cannot start a process of its own", ErrorKind::exhausted);
  if (child > 0) ::_exit(0);
  close_descriptors_from(4);
  call(fault::Call::dup, [] { return ::dup2(STDIN_FILENO, STDOUT_FILENO); });
  if (!keep_stderr) call(fault::Call::dup, [] { return ::dup2(STDIN_FILENO, STDERR_FILENO); });
}

namespace {

int end_bell = -1;  // written before the signals can come

void ask_to_end(int) {
  ring(end_bell);
}

}  // namespace

void ring_when_asked_to_end(const Fd& eventfd) noexcept {
  end_bell = eventfd.get();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, ask_to_end);
}

namespace {

void raise_soft_limit(__rlimit_resource resource) noexcept {
  rlimit limit{};
  if (call(fault::Call::rlimit, [&] { return ::getrlimit(resource, &limit); }) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  call(fault::Call::rlimit, [&] { return ::setrlimit(resource, &limit); });
}

}  // namespace

void allow_many_descriptors() noexcept {
  raise_soft_limit(RLIMIT_NOFILE);
}

void take_ordinary_share_of_processor() noexcept {
  const sched_param none{};
  call(fault::Call::schedule, [&] { return ::sched_setscheduler(0, SCHED_OTHER, &none); });
  call(fault::Call::schedule, [] { return ::setpriority(PRIO_PROCESS, 0, 0); });
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);  // of which the kernel takes those that this process may have
  call(fault::Call::schedule, [&] { return ::sched_setaffinity(0, sizeof all, &all); });
  raise_soft_limit(RLIMIT_CPU);
}

void close_descriptors_from(int first) noexcept {
  const auto from = static_cast<unsigned>(first);
  if (call(fault::Call::close_range, [from] { return ::syscall(SYS_close_range, from, ~0U, 0U); }) == 0) return;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return;
  while (const dirent* const entry = ::readdir(folder)) {
    const int fd = std::atoi(entry->d_name);  // "." and ".." give 0
    if (fd >= std::max(first, 1) && fd != ::dirfd(folder)) close_once(fd);
  }
  ::closedir(folder);
}

// dladdr would tell the program's name as it was typed, which means nothing after a chdir.
std::string folder_of_code(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::istringstream lines(read_file("/proc/self/maps").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    // "55d0c0a00000-55d0c0a21000 r-xp 00002000 fd:01 1234    /usr/bin/program"
    char* end = nullptr;
    const std::uintptr_t from = std::strtoull(line.c_str(), &end, 16);
    const std::uintptr_t to = *end == '-' ? std::strtoull(end + 1, nullptr, 16) : 0;
    if (wanted < from || wanted >= to) continue;
    const auto path = line.find('/');
    return path == line.npos ? "" : line.substr(path, std::max<std::size_t>(line.rfind('/') - path, 1));
  }
  return "";
}

namespace {

std::string about_locking(const std::string& folder) {
  return "cannot lock the folder '" + folder + "'";
}

Fd open_folder(const std::string& folder) {
  Fd fd(call(fault::Call::open, [&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!fd && errno == ENOENT) {
    throw Error(ErrorKind::unavailable,
                "sinew " + about_locking(folder) +
                    ", in which the domain's socket is to be: it does not exist. Create it, or set SINEW_DOMAIN to a "
                    "name, or to a path in a folder that there is.");
  }
  if (!fd) fail(errno, about_locking(folder), ErrorKind::unavailable);
  return fd;
}

}  // namespace

std::optional<Fd> try_to_lock_folder(const std::string& folder) {
  Fd fd = open_folder(folder);
  if (call(fault::Call::flock, [&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) == 0) return fd;
  if (errno != EWOULDBLOCK) fail(errno, about_locking(folder), ErrorKind::unavailable);
  return std::nullopt;
}

Fd lock_folder(const std::string& folder, std::chrono::milliseconds patience) {
  const std::string what = about_locking(folder);
  Fd fd = open_folder(folder);
  const int nonblocking = patience.count() > 0 ? LOCK_NB : 0;
  const std::int64_t deadline = now_ns() + std::chrono::nanoseconds(patience).count();
  for (auto pause = first_pause; call(fault::Call::flock, [&] { return ::flock(fd.get(), LOCK_EX | nonblocking); }) != 0;
       pause = std::min(2 * pause, longest_pause)) {
    if (errno != EWOULDBLOCK) fail(errno, what, ErrorKind::unavailable);
    if (now_ns() >= deadline) {
      throw Error(ErrorKind::unavailable,
                  "sinew " + what + ": for " + std::to_string(patience.count()) +
                      " ms another process has held it, which may be stopped, or start a manager that does not get ready. lslocks tells "
                      "which one it is.");
    }
    sleep_for(pause);
  }
  return fd;
}

void unlock_folder(const Fd& lock) noexcept {
  ::flock(lock.get(), LOCK_UN);
}

Fd open_pidfd(pid_t pid) noexcept {
  return Fd(static_cast<int>(call(fault::Call::open, [pid] { return ::syscall(SYS_pidfd_open, pid, 0U); })));
}

void on_fork_in_child(void (*child)() noexcept) {
  if (const int error = ::pthread_atfork(nullptr, nullptr, child); error != 0) fail(error, "cannot prepare for fork", ErrorKind::exhausted);
}

pid_t this_process() noexcept {
  return ::getpid();
}

uid_t this_user() noexcept {
  return ::geteuid();
}

}  // namespace sinew::os
