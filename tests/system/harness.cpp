#include "tests/system/harness.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/sanitized.hpp"
#include "os/fault.hpp"
#include "os/file.hpp"
#include "os/tests/support.hpp"

#if SINEW_THREAD_SANITIZED
// An exception that goes from one thread to another in a future is counted by the C++ library, whose own code the sanitizer does not see.
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_suppressions();  // NOLINT: the sanitizer's name
extern "C" const char* __tsan_default_suppressions() {                                // NOLINT
  return "race:exception_ptr::_M_release\n";
}
#endif

namespace sinew::system {
namespace {

constexpr std::chrono::seconds patience{60};

std::map<std::string, RoleFunction>& roles() {
  static std::map<std::string, RoleFunction> all;
  return all;
}

/// The letters of the states of all threads: 'S' sleeps, 'T' is stopped, 'Z' has ended.
std::string thread_states(pid_t pid) {
  std::string states;
  std::error_code gone;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", gone)) {
    const std::string text = os::read_file(thread.path() / "stat").value_or("");
    if (const auto name_end = text.rfind(") "); name_end != text.npos) states += text[name_end + 2];
  }
  return states;
}

std::pair<os::Fd, os::Fd> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return {os::Fd(ends[0]), os::Fd(ends[1])};
}

int run_role(const std::string& name, const Arguments& arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // of a test that was killed
  ::setsid();  // two pairs of threads of one session that wake each other all the time keep others from the processors (manager/README.md)
  try {
    const auto role = roles().find(name);
    if (role == roles().end()) fail("no role '" + name + "'");
    role->second(arguments);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}

}  // namespace

std::chrono::seconds soak() {
  const char* const wanted = std::getenv("SINEW_SOAK_SECONDS");
  return std::chrono::seconds(wanted ? std::atoi(wanted) : 2);
}

bool is_report_wanted() {
  return std::getenv("SINEW_REPORT") != nullptr;
}

void report(const std::string& sentence) {
  if (is_report_wanted()) std::ofstream(std::getenv("SINEW_REPORT"), std::ios::app) << sentence << "\n";
}

void report(const Tried& tried) {
  report(std::to_string(tried.times) + "\t" + std::to_string(tried.noticed) + "\t" + std::to_string(tried.left) + "\t" + tried.fault);
}

bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return condition();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// --- in a child --------------------------------------------------------------------------------------------------------------------

RoleEntry::RoleEntry(const char* name, RoleFunction function) {
  roles()[name] = function;
}

void say(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) ::_exit(3);
}

std::string next_order() {
  std::string line;
  if (!std::getline(std::cin, line)) ::_exit(4);
  return line;
}

void until_finished() {
  std::string line;
  while (std::getline(std::cin, line)) {
  }
}

void fail(const std::string& sentence) {
  throw std::runtime_error(sentence);
}

// --- in the test -------------------------------------------------------------------------------------------------------------------

Child::Child(const std::string& role, const Arguments& arguments, const Environment& environment) {
  Arguments all = {"--role", role};
  all.insert(all.end(), arguments.begin(), arguments.end());
  start(std::filesystem::read_symlink("/proc/self/exe"), all, environment);
}

Child Child::program(const std::string& path, const Arguments& arguments, const Environment& environment) {
  Child child;
  child.start(path, arguments, environment);
  return child;
}

namespace {

/// What comes before a program of another processor, word by word; nothing where the kernel starts programs by itself.
Arguments emulator() {
  const char* const command = std::getenv("SINEW_EMULATOR");
  std::istringstream words(command ? command : "");
  return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace

void Child::start(const std::string& path, const Arguments& arguments, const Environment& environment) {
  auto [order_out, order_in] = make_pipe();
  auto [output_out, output_in] = make_pipe();
  orders_ = std::move(order_in);
  output_ = std::move(output_out);
  errors_ = os::Fd(::memfd_create("errors", MFD_CLOEXEC));

  std::map<std::string, std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string text = *each;
    variables[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  for (const auto& [name, value] : environment) variables[name] = value;
  std::vector<std::string> strings;
  for (const auto& [name, value] : variables) strings.push_back(name + "=" + value);
  std::vector<char*> variable_pointers, argument_pointers;
  for (std::string& text : strings) variable_pointers.push_back(text.data());
  variable_pointers.push_back(nullptr);
  std::vector<std::string> words = emulator();
  words.push_back(path);
  words.insert(words.end(), arguments.begin(), arguments.end());
  for (std::string& word : words) argument_pointers.push_back(word.data());
  argument_pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, order_out.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output_in.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors_.get(), STDERR_FILENO);
  const int error = ::posix_spawnp(&pid_, argument_pointers[0], &actions, nullptr, argument_pointers.data(), variable_pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    pid_ = -1;
    ADD_FAILURE() << path << " does not start: error " << error;
  }
}

Child::~Child() {
  if (pid_ <= 0 || !output_) return;  // never started, or moved from
  if (has_ended()) return;
  ADD_FAILURE() << "a child still ran at the end of its scope; it wrote: " << errors();
  ::kill(pid_, SIGKILL);
  wait();
}

std::optional<std::string> Child::line() {
  const auto deadline = std::chrono::steady_clock::now() + patience + soak();  // in which it may have nothing to say
  for (;;) {
    if (const auto end = buffered_.find('\n'); end != buffered_.npos) {
      std::string found = buffered_.substr(0, end);
      buffered_.erase(0, end + 1);
      return found;
    }
    pollfd wait{.fd = output_.get(), .events = POLLIN, .revents = 0};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0))) == 0) {
      ADD_FAILURE() << "a child says nothing; it wrote: " << errors();
      return std::nullopt;
    }
    std::array<char, 4096> piece{};
    const ssize_t size = ::read(output_.get(), piece.data(), piece.size());
    if (size == 0) {
      ADD_FAILURE() << "a child ended before it said anything more; it wrote: " << errors();
      return std::nullopt;
    }
    if (size > 0) buffered_.append(piece.data(), static_cast<std::size_t>(size));
  }
}

void Child::expect(const std::string& wanted) {
  const auto said = line();
  if (said) {
    EXPECT_EQ(*said, wanted);
  }
}

void Child::order(const std::string& line) {
  const std::string text = line + "\n";
  EXPECT_EQ(::write(orders_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size())) << errors();
}

void Child::signal(int number) const {
  EXPECT_EQ(::kill(pid_, number), 0);
}

void Child::stop() const {
  signal(SIGSTOP);
  EXPECT_TRUE(eventually([this] { return is_stopped(); }));
}

void Child::go_on() const {
  signal(SIGCONT);
}

bool Child::is_stopped() const {
  const std::string states = thread_states(pid_);
  return !states.empty() && states.find_first_not_of("TZX") == states.npos;
}

bool Child::has_ended() const {
  if (status_) return true;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return true;
}

int Child::wait() {
  if (!eventually([this] { return has_ended(); })) {
    ADD_FAILURE() << "a child does not end; it wrote: " << errors();
    ::kill(pid_, SIGKILL);
    eventually([this] { return has_ended(); });
  }
  return status_.value_or(-1);
}

std::string Child::errors() const {
  std::string text(static_cast<std::size_t>(::lseek(errors_.get(), 0, SEEK_END)), '\0');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(::pread(errors_.get(), text.data(), text.size(), 0), 0)));
  return text;
}

std::size_t Child::descriptors() const {
  return descriptors_of(pid_);
}
std::size_t Child::mappings() const {
  return mappings_of(pid_);
}

std::size_t descriptors_of(pid_t pid) {
  std::error_code gone;
  const std::filesystem::directory_iterator folder("/proc/" + std::to_string(pid) + "/fd", gone);
  return static_cast<std::size_t>(std::distance(folder, {}));
}

// Only the shared ones are ours: the heap of a process grows when it likes.
std::size_t mappings_of(pid_t pid) {
  std::istringstream lines(os::read_file("/proc/" + std::to_string(pid) + "/maps").value_or(""));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.find("/memfd:sinew-") != line.npos;
  return count;
}

// As "Private_Dirty:   1234 kB".
std::size_t private_bytes_of(pid_t pid) {
  std::istringstream lines(os::read_file("/proc/" + std::to_string(pid) + "/smaps_rollup").value_or(""));
  std::size_t kilobytes = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Private_Dirty:") || line.starts_with("Swap:")) kilobytes += std::stoul(line.substr(line.find(':') + 1));
  }
  return kilobytes * 1024;
}

// --- the domain --------------------------------------------------------------------------------------------------------------------

Domain::Domain() {
  std::string pattern = (std::filesystem::temp_directory_path() / "sinew-system-XXXXXX").string();
  folder_ = ::mkdtemp(pattern.data()) != nullptr ? pattern : "";
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // the manager, which nobody waits for, becomes ours
}

Domain::~Domain() {
  os::test::remove_folder(over());
  os::test::remove_folder(folder_);
}

void Domain::SetUp() {
  ASSERT_NE(folder_, "");
  ::setenv("SINEW_DOMAIN", socket().c_str(), 1);
  ::unsetenv("SINEW_NODE");
  ::unsetenv("SINEW_LOG");
  // No configuration of the user's.
  ::unsetenv("SINEW_CONFIG");
  ::setenv("XDG_CONFIG_HOME", folder().c_str(), 1);
}

// SO_PEERCRED would name the process that made the socket: the first node.
std::vector<pid_t> managers_of(const std::string& socket) {
  std::vector<pid_t> found;
  const std::string argument = std::string(1, '\0') + socket + std::string(1, '\0');
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    const std::string command = os::read_file(process.path() / "cmdline").value_or("");
    if (command.substr(0, command.find('\0')).ends_with("sinewd") && command.find(argument) != command.npos) {
      found.push_back(std::stoi(process.path().filename()));
    }
  }
  return found;
}

std::optional<pid_t> Domain::manager() const {
  const auto found = managers_of(socket());
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::size_t Domain::managers() const {
  return managers_of(socket()).size();
}

void Domain::await_end(pid_t pid) {
  EXPECT_TRUE(eventually([pid] { return ::waitpid(pid, nullptr, WNOHANG) == pid; })) << "process " << pid << " does not end";
}

void Domain::end_manager() {
  const auto pid = manager();
  if (!pid) return;
  ::kill(*pid, SIGTERM);
  await_end(*pid);
}

void Domain::set_rules(const std::string& rules) const {
  std::ofstream(config()) << rules;
  ::setenv("SINEW_CONFIG", config().c_str(), 1);
}

void Domain::let_stranger_join() const {
  set_rules(R"({"join": {"uid": [)" + std::to_string(stranger_id) + "]}}");
  std::filesystem::permissions(folder_, std::filesystem::perms::others_exec, std::filesystem::perm_options::add);
}

void Domain::TearDown() {
  os::fault::disarm();
  std::filesystem::remove(config());
  ::unsetenv("SINEW_CONFIG");
  for (const auto& each : std::filesystem::directory_iterator(folder_)) EXPECT_EQ(each.path().string(), socket()) << "left behind";
  // A test may keep nodes until it is destroyed. Where there is no folder they start no other manager.
  const std::vector<pid_t> ending = managers_of(socket());
  std::filesystem::rename(folder_, over());
  for (const pid_t pid : ending) {
    ::kill(pid, SIGTERM);  // else it ends by itself, but for one that has to be killed
    await_end(pid);
  }
  end_manager();
  int status = 0;
  const pid_t other = ::waitpid(-1, &status, WNOHANG);
  EXPECT_LT(other, 0) << "process " << other << " was left behind";
  while (::waitpid(-1, &status, WNOHANG) > 0) {
  }
}

}  // namespace sinew::system

int main(int argc, char** argv) {
  if (argc >= 3 && argv[1] == std::string("--role")) return sinew::system::run_role(argv[2], {argv + 3, argv + argc});
  ::signal(SIGPIPE, SIG_IGN);  // orders to a child that has died
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
