#include "base/log.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

namespace sinew::base {
namespace {

/// What a process whose SINEW_LOG is `level` (null: not set) prints for one line of each level. The level is read once, hence a process
/// each.
std::string printed_at(const char* level) {
  std::array<int, 2> pipe_ends{};
  EXPECT_EQ(::pipe(pipe_ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe_ends[1], STDERR_FILENO);
    level == nullptr ? ::unsetenv("SINEW_LOG") : ::setenv("SINEW_LOG", level, 1);
    errno = ENOTDIR;
    check_log_level();
    check_log_level();
    log(LogLevel::error, "e");
    log(LogLevel::warn, "w");
    log(LogLevel::info, "i");
    log(LogLevel::debug, "d");
    ::_exit(errno == ENOTDIR ? 0 : 1);
  }
  ::close(pipe_ends[1]);
  std::string text;
  std::array<char, 256> piece;
  for (ssize_t got; (got = ::read(pipe_ends[0], piece.data(), piece.size())) > 0;) text.append(piece.data(), static_cast<std::size_t>(got));
  ::close(pipe_ends[0]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "errno was not kept";
  return text;
}

TEST(Log, prints_warnings_unless_asked_and_nothing_when_it_is_off) {
  EXPECT_EQ(printed_at(nullptr), "sinew [error] e\nsinew [warn] w\n");
  EXPECT_EQ(printed_at(""), "sinew [error] e\nsinew [warn] w\n");
  EXPECT_EQ(printed_at("off"), "");
}

TEST(Log, takes_levels_in_capital_letters) {
  EXPECT_EQ(printed_at("OFF"), "");
  EXPECT_EQ(printed_at("Error"), "sinew [error] e\n");
  EXPECT_EQ(printed_at("INFO"), "sinew [error] e\nsinew [warn] w\nsinew [info] i\n");
}

TEST(Log, says_once_that_the_asked_level_is_none_and_which_there_are_and_prints_warnings) {
  EXPECT_EQ(
      printed_at("loud"),
      "sinew: SINEW_LOG='loud' is no level, so it is warn. Set it to error, warn, info, debug or off.\nsinew [error] e\nsinew [warn] w\n");
}

TEST(Log, prints_the_asked_level_and_graver_ones_as_lines_of_their_own) {
  EXPECT_EQ(printed_at("warn"), "sinew [error] e\nsinew [warn] w\n");
  EXPECT_EQ(printed_at("debug"), "sinew [error] e\nsinew [warn] w\nsinew [info] i\nsinew [debug] d\n");
}

TEST(Log, a_line_that_nobody_reads_ends_nobody) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::array<int, 2> pipe_ends{};
    if (::pipe(pipe_ends.data()) != 0) ::_exit(2);
    ::close(pipe_ends[0]);
    ::dup2(pipe_ends[1], STDERR_FILENO);
    ::setenv("SINEW_LOG", "error", 1);
    log(LogLevel::error, "e");
    sigset_t pending;
    ::sigpending(&pending);
    ::_exit(::sigismember(&pending, SIGPIPE));
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sinew::base
