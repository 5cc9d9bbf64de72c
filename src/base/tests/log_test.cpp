#include "base/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

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

/// What comes of the lines of a process that does not wait, whose standard error is `error` and has no room for all of them before `other` end of it is read. Those of several threads
/// are read meanwhile, too slowly.
std::string written_without_waiting(int error, int other, int threads, int lines) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(error, STDERR_FILENO);
    ::setenv("SINEW_LOG", "info", 1);
    log_without_waiting();
    std::vector<std::jthread> all;
    for (int thread = 0; thread < threads; ++thread) {
      all.emplace_back([&] {
        for (int line = 0; line < lines / threads; ++line) log(LogLevel::info, "nobody reads this, and it is not short either");
      });
    }
    all.clear();
    ::kill(::getpid(), SIGSTOP);
    log(LogLevel::info, "somebody reads");
    ::_exit(::fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK);
  }
  ::close(error);
  std::string text;
  std::array<char, 4096> piece;
  ::fcntl(other, F_SETFL, O_NONBLOCK);
  const auto read_some = [&] {
    const ssize_t got = ::read(other, piece.data(), piece.size());
    if (got > 0) text.append(piece.data(), static_cast<std::size_t>(got));
    return got > 0;
  };
  const auto read_on = [&] {
    while (read_some()) continue;
  };
  int status = 0;
  while (::waitpid(child, &status, WUNTRACED | WNOHANG) == 0) {
    if (threads > 1) read_some();  // some room comes, and far less than is wanted
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(WIFSTOPPED(status));
  read_on();
  ::kill(child, SIGCONT);
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "who shares it does not wait for room either";
  read_on();
  ::close(other);
  return text;
}

/// More than once where room comes again meanwhile, as a terminal's does.
void expect_some_left_out(const std::string& text, int lines, const std::string& end) {
  int written = 0;
  for (auto at = text.find("nobody reads this"); at != text.npos; at = text.find("nobody reads this", at + 1)) ++written;
  int left_out = 0;
  for (auto told = text.find(" lines are left out here"); told != text.npos; told = text.find(" lines are left out here", told + 1)) {
    const std::size_t number = text.rfind("] ", told) + 2;
    left_out += std::stoi(text.substr(number, told - number));
  }
  EXPECT_GT(left_out, 1000);
  EXPECT_EQ(written + left_out, lines);
  EXPECT_TRUE(text.ends_with("sinew [info] somebody reads" + end)) << text.substr(text.size() - std::min<std::size_t>(text.size(), 200));
}

TEST(Log, lines_that_a_pipe_has_no_room_for_are_left_out_and_counted_where_nobody_may_wait) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  expect_some_left_out(written_without_waiting(pipe_ends[1], pipe_ends[0], 1, 10'000), 10'000, "\n");
}

TEST(Log, lines_of_several_threads_that_are_left_out_are_counted_once) {
  std::array<int, 2> pipe_ends{};
  ASSERT_EQ(::pipe(pipe_ends.data()), 0);
  expect_some_left_out(written_without_waiting(pipe_ends[1], pipe_ends[0], 4, 200'000), 200'000, "\n");
}

TEST(Log, lines_that_a_terminal_has_no_room_for_are_left_out_and_counted_where_nobody_may_wait) {
  const int keyboard = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(keyboard, 0);
  ASSERT_TRUE(::grantpt(keyboard) == 0 && ::unlockpt(keyboard) == 0);
  const int screen = ::open(::ptsname(keyboard), O_RDWR | O_NOCTTY);
  ASSERT_GE(screen, 0);
  expect_some_left_out(written_without_waiting(screen, keyboard, 1, 10'000), 10'000, "\r\n");
}

TEST(Log, a_terminal_that_was_stopped_holds_nobody_up_who_may_not_wait) {
  const int keyboard = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(keyboard, 0);
  ASSERT_TRUE(::grantpt(keyboard) == 0 && ::unlockpt(keyboard) == 0);
  const int screen = ::open(::ptsname(keyboard), O_RDWR | O_NOCTTY);
  ASSERT_GE(screen, 0);
  ASSERT_EQ(::write(keyboard, "\x13", 1), 1);  // Ctrl-S
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(screen, STDERR_FILENO);
    ::setenv("SINEW_LOG", "error", 1);
    log_without_waiting();
    log(LogLevel::error, "e");
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::close(screen);
  ::close(keyboard);
}

}  // namespace
}  // namespace sinew::base
