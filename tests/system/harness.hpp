// Real processes for the system tests.
//
// A test program starts itself again as child processes in named roles: ROLE(camera) { ... } is what a child started with Child("camera") runs. Each test has
// a domain of its own, whose manager is started by the first node as on a user's machine, and must leave nothing behind: no process, no file but the socket.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sanitized.hpp"
#include "os/fd.hpp"

namespace sinew::system {

inline constexpr bool sanitized = SINEW_SANITIZED;

/// Sanitizers make everything several times slower; a tenth of the rounds still walks every path.
constexpr int rounds(int full) {
  return sanitized ? (full + 9) / 10 : full;
}

/// How long a test that tries again and again goes on: some seconds, or $SINEW_SOAK_SECONDS.
std::chrono::seconds soak();

/// What was done to processes, how often, and how often another one noticed, or something was left behind.
struct Tried {
  std::string fault;
  int times = 0, noticed = 0, left = 0;
};
/// Whether a report is wanted; then all that can be tried is.
bool is_report_wanted();
/// Adds a line "TIMES<tab>NOTICED<tab>LEFT<tab>FAULT" to the file that $SINEW_REPORT names, if any; tools/soak.py makes a table of them.
void report(const Tried& tried);
/// A sentence with figures, for the same file.
void report(const std::string& sentence);

/// Looks at `condition` again and again until it holds. False after a minute: something hangs. Nothing is ever concluded from how long it took.
bool eventually(const std::function<bool()>& condition);

// --- in a child --------------------------------------------------------------------------------------------------------------------

using Arguments = std::vector<std::string>;
using RoleFunction = void (*)(const Arguments&);
/// Where ROLE registers. `name` must live for ever.
struct RoleEntry {
  RoleEntry(const char* name, RoleFunction function);
};
#define ROLE(name)                                                                   \
  static void role_##name(const ::sinew::system::Arguments& arguments);              \
  static const ::sinew::system::RoleEntry entry_of_role_##name(#name, &role_##name); \
  static void role_##name([[maybe_unused]] const ::sinew::system::Arguments& arguments)

/// Sends a line to the test.
void say(const std::string& line);
/// The next line from the test; a child whose test is gone ends here.
std::string next_order();
/// Waits until the test has closed the child's orders (Child::finish).
void until_finished();
/// Throws: ends a role as failed, with the sentence on standard error, and a test that cannot go on.
[[noreturn]] void fail(const std::string& sentence);
inline void require(bool condition, const std::string& sentence) {
  if (!condition) fail(sentence);
}

// --- in the test -------------------------------------------------------------------------------------------------------------------

/// A process in a role. Killed, as a failure, when it still runs at the end of its scope.
class Child {
 public:
  using Environment = std::map<std::string, std::string>;
  explicit Child(const std::string& role, const Arguments& arguments = {}, const Environment& environment = {});
  /// Another program, with the same wiring.
  static Child program(const std::string& path, const Arguments& arguments, const Environment& environment = {});
  Child(Child&& other) noexcept = default;
  ~Child();

  pid_t pid() const { return pid_; }
  /// The next line that it says; a failure, and nothing, when it ends or hangs instead.
  std::optional<std::string> line();
  /// Waits for exactly this line.
  void expect(const std::string& wanted);
  void order(const std::string& line);
  /// No more orders come.
  void finish() { orders_.reset(); }
  void signal(int number) const;
  /// Returns when every thread of it has stopped.
  void stop() const;
  void go_on() const;
  /// Waits for its end: the exit status, or -signal. A failure when it hangs.
  int wait();
  /// finish() and a clean end.
  void end() {
    finish();
    EXPECT_EQ(wait(), 0) << errors();
  }
  void kill() {
    signal(9);
    EXPECT_EQ(wait(), -9) << errors();
  }
  bool has_ended() const;
  bool is_stopped() const;
  /// What it wrote to standard error so far.
  std::string errors() const;
  std::size_t descriptors() const;
  std::size_t mappings() const;

 private:
  Child() = default;
  void start(const std::string& path, const Arguments& arguments, const Environment& environment);

  pid_t pid_ = -1;
  mutable std::optional<int> status_;
  os::Fd orders_, output_, errors_;
  std::string buffered_;
};

std::size_t descriptors_of(pid_t pid);
std::size_t mappings_of(pid_t pid);
/// Memory that only this process has, swapped or not.
std::size_t private_bytes_of(pid_t pid);

/// The managers of the domain with this socket, as they were told its path.
std::vector<pid_t> managers_of(const std::string& socket);

/// Another user, of whom nothing is known and whom only root can become.
inline constexpr uid_t stranger_id = 12345;

/// Every system test is a Domain: a private folder and SINEW_DOMAIN in it, and a look around at the end.
class Domain : public ::testing::Test {
 protected:
  Domain();
  ~Domain() override;
  void SetUp() override;
  void TearDown() override;

  const std::string& folder() const { return folder_; }
  std::string socket() const { return folder_ + "/domain.sock"; }
  /// The configuration of this domain's managers from the next on, which nobody has written before set_rules().
  std::string config() const { return folder_ + "/rules.json"; }
  void set_rules(const std::string& rules) const;
  /// set_rules() by which the stranger may join, who then also reaches the socket.
  void let_stranger_join() const;
  /// The manager of this domain; nothing when none runs.
  std::optional<pid_t> manager() const;
  std::size_t managers() const;
  /// Ends the manager as its user would, and waits for it.
  void end_manager();
  /// Waits until a process that is not ours to wait for otherwise (the manager) is gone.
  static void await_end(pid_t pid);

 private:
  std::string over() const { return folder_ + ".over"; }

  std::string folder_;
};

}  // namespace sinew::system
