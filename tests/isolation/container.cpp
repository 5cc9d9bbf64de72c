#include "tests/isolation/container.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include "os/file.hpp"

namespace sinew::system {
namespace {

namespace fs = std::filesystem;

// In a container: ended by signal N.
constexpr int by_signal = 128;
int code_of(int status) {
  return WIFSIGNALED(status) ? by_signal + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Ends the process where `result` says that a step failed: with not_allowed where kernel or rights are short of it, else as a failure.
void step(long result, const std::string& what) {
  if (result >= 0) return;
  const int error = errno;
  constexpr std::array shortages = {EPERM, EACCES, ENOSYS, ENOSPC, EUSERS, EINVAL};
  std::cerr << "no container: " << what << ": " << std::strerror(error) << std::endl;
  ::_exit(std::ranges::find(shortages, error) != shortages.end() ? not_allowed : 1);
}

/// What stands behind `key=` in the words; "" when there is none.
std::string value_of(const std::string& words, const std::string& key) {
  std::istringstream each(words);
  for (std::string word; each >> word;) {
    if (word.starts_with(key + "=")) return word.substr(key.size() + 1);
  }
  return "";
}

// --- users -----------------------------------------------------------------------------------------------------------------------------

/// "0:5,1000:12345" as the lines of a map: "0 5 1\n1000 12345 1\n".
std::string map_of(std::string users) {
  std::ranges::replace(users, ':', ' ');
  std::string lines;
  std::istringstream each(users);
  for (std::string pair; std::getline(each, pair, ',');) lines += pair + " 1\n";
  return lines;
}

/// Whole at once, as the kernel wants it.
void write_whole(const std::string& path, const std::string& text) {
  const os::Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  step(file ? ::write(file.get(), text.data(), text.size()) : -1, "write " + path);
}

// The maps are written from outside: inside, nobody has rights over the users there.
void enter_users(const std::string& users) {
  std::array<int, 2> ends{};
  step(::pipe2(ends.data(), O_CLOEXEC), "pipe");
  const std::string self = "/proc/" + std::to_string(::getpid());
  const pid_t helper = ::fork();
  step(helper, "fork");
  if (helper == 0) {
    ::close(ends[1]);
    char byte = 0;
    if (::read(ends[0], &byte, 1) == 1) {
      if (::geteuid() != 0) write_whole(self + "/setgroups", "deny");
      write_whole(self + "/gid_map", map_of(users));
      write_whole(self + "/uid_map", map_of(users));
    }
    ::_exit(0);
  }
  step(::unshare(CLONE_NEWUSER), "unshare(CLONE_NEWUSER)");
  step(::write(ends[1], "x", 1), "write");
  int status = 0;
  step(::waitpid(helper, &status, 0), "waitpid");
  if (status != 0) ::_exit(code_of(status));  // it has said why
  ::close(ends[0]);
  ::close(ends[1]);
}

// --- the file system -------------------------------------------------------------------------------------------------------------------

/// A folder of the old root, found again when something is mounted over it.
struct Source {
  explicit Source(const std::string& path) : fd(::open(path.c_str(), O_PATH | O_CLOEXEC)) { step(fd.get(), "open " + path); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd.get()); }
  os::Fd fd;
};

void mount_part(const std::string& from, const std::string& to, bool writable = false) {
  step(::mount(from.c_str(), to.c_str(), nullptr, MS_BIND | MS_REC, nullptr), "mount at " + to);
  if (!writable) ::mount(nullptr, to.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr);  // what is locked stays as it is
}

/// A root with nothing in it but what a program needs. Returns with it as the root.
void change_root(const fs::path& domain, const fs::path& inside) {
  step(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private");
  const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
  const Source from_domain(domain), from_programs(programs);
  const std::string root = fs::temp_directory_path();
  step(::mount("container", root.c_str(), "tmpfs", 0, nullptr), "mount a tmpfs");
  for (const char* const name : {"/usr", "/bin", "/lib", "/lib64"}) {
    if (fs::is_symlink(name)) {
      fs::create_symlink(fs::read_symlink(name), root + name);
    } else if (fs::is_directory(name)) {
      fs::create_directories(root + name);
      mount_part(name, root + name);
    }
  }
  fs::create_directories(root + programs.string());
  mount_part(from_programs.path(), root + programs.string());
  fs::create_directories(root + inside.string());
  mount_part(from_domain.path(), root + inside.string(), true);
  fs::create_directories(root + "/dev");
  std::ofstream(root + "/dev/null").flush();
  mount_part("/dev/null", root + "/dev/null", true);
  fs::create_directories(root + "/proc");
  step(::mount("proc", (root + "/proc").c_str(), "proc", 0, nullptr), "mount /proc");
  step(::chdir(root.c_str()), "chdir");
  step(::syscall(SYS_pivot_root, ".", "."), "pivot_root");
  step(::umount2(".", MNT_DETACH), "umount the old root");
  step(::chdir("/"), "chdir");
}

// --- processes -------------------------------------------------------------------------------------------------------------------------

enum class Until { its_end, the_end_of_all };

/// Goes on in a child, while this process waits for that one, or for all that it is given, and ends as it did.
void go_on_in_child(Until until, void (*end_with)(int code)) {
  const pid_t child = ::fork();
  step(child, "fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    return;
  }
  int code = 1;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);  // process 1 is given orphans
    if (ended == child) code = code_of(status);
    if (ended < 0 || (ended == child && until == Until::its_end)) end_with(code);
  }
}

void end_as_child_did(int code) {
  if (code > by_signal) ::raise(code - by_signal);
  ::_exit(code);
}

void rename_folder(const char* variable, const std::string& from, const std::string& to) {
  const char* const value = std::getenv(variable);
  if (value != nullptr && std::string(value).starts_with(from)) ::setenv(variable, (to + (value + from.size())).c_str(), 1);
}

/// The name that the domain's folder has in containers; no other domain's has it.
fs::path inside_of(const fs::path& domain) {
  return "/shared" / domain.filename();
}

}  // namespace

void enter_container(const std::string& words) {
  const fs::path domain = fs::path(std::getenv("SINEW_DOMAIN")).parent_path();
  const fs::path inside = inside_of(domain);
  const os::Fd outer_proc(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::string users = value_of(words, "users");
  const std::string myself = std::to_string(::geteuid());
  if (users.empty() && myself != "0") users = myself + ":" + myself;
  if (!users.empty()) enter_users(users);
  step(::unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNET), "unshare");
  go_on_in_child(Until::its_end, &end_as_child_did);
  change_root(domain, inside);
  for (const char* const variable : {"SINEW_DOMAIN", "SINEW_CONFIG", "XDG_CONFIG_HOME"}) rename_folder(variable, domain, inside);
  const bool lasts = words.find("lasting") != words.npos;
  if (lasts || words.find("init") != words.npos) {
    go_on_in_child(lasts ? Until::the_end_of_all : Until::its_end, [](int code) { ::_exit(code); });
  }
  if (const std::string user = value_of(words, "as"); !user.empty()) {
    const auto id = static_cast<uid_t>(std::stoul(user));
    // Where a user's own namespace does not let it, it is no group of root's either.
    if (::setgroups(0, nullptr) != 0 && errno != EPERM) step(-1, "leave all groups");
    step(::setresgid(id, id, id), "become group " + user);
    step(::setresuid(id, id, id), "become user " + user);
  }
  if (words.find("unmapped") != words.npos) step(::unshare(CLONE_NEWUSER), "unshare(CLONE_NEWUSER)");
  std::array<char, 32> number{};
  step(::readlinkat(outer_proc.get(), "self", number.data(), number.size() - 1), "read /proc/self");
  say("in " + std::string(number.data()));
}

// --- in the test -----------------------------------------------------------------------------------------------------------------------

namespace {

ROLE(probe) {
  enter_container(arguments.at(0));
}

Arguments with_words(const std::string& words, const Arguments& more) {
  Arguments all = {words};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

Contained::Contained(const std::string& role, const std::string& words, const Arguments& more) : child_(role, with_words(words, more)) {
  const std::string line = child_.line().value_or("");
  EXPECT_TRUE(line.starts_with("in ")) << line << child_.errors();
  if (line.starts_with("in ")) pid_ = std::stoi(line.substr(3));
  child_.expect("ready");
}

std::string Contained::ask(const std::string& order) {
  child_.order(order);
  return child_.line().value_or("nothing: " + child_.errors());
}

void Contained::kill() {
  ASSERT_GT(pid_, 0);
  EXPECT_EQ(::kill(pid_, SIGKILL), 0);
  EXPECT_EQ(child_.wait(), -SIGKILL) << child_.errors();
}

std::string Isolated::complaint_about(const std::string& words) {
  Child probe("probe", {words});
  const int code = probe.wait();
  if (code == not_allowed) return probe.errors();
  EXPECT_EQ(code, 0) << probe.errors();
  return "";
}

void Isolated::SetUp() {
  Domain::SetUp();
  if (const std::string complaint = complaint_about(words()); !complaint.empty()) GTEST_SKIP() << complaint;
}

std::vector<pid_t> Isolated::managers_inside() const {
  return managers_of(inside_of(folder()) / fs::path(socket()).filename());
}

void Isolated::TearDown() {
  EXPECT_TRUE(managers_inside().empty()) << "a manager was left behind in a container";
  Domain::TearDown();
}

void IsolatedUsers::SetUp() {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Isolated::SetUp();
  if (!IsSkipped()) let_stranger_join();
}

}  // namespace sinew::system
