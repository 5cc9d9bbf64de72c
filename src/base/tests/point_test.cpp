#include "base/point.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

namespace sinew::base {
namespace {

struct End {
  int passes = 0;  ///< how many times the process came past the point "here"
  int status = 0;
};

/// Runs a process with SINEW_AT=`wish` past the point "there" once and "here" four times.
End end_of_process(const char* wish) {
  std::array<int, 2> pipe_ends{};
  EXPECT_EQ(::pipe(pipe_ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("SINEW_AT", wish, 1);
    SINEW_POINT("there");
    for (int i = 0; i < 4; ++i) {
      SINEW_POINT("here");
      if (::write(pipe_ends[1], ".", 1) != 1) ::_exit(2);
    }
    ::_exit(0);
  }
  ::close(pipe_ends[1]);
  End end;
  EXPECT_EQ(::waitpid(child, &end.status, WUNTRACED), child);
  if (WIFSTOPPED(end.status)) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  std::array<char, 8> marks;
  end.passes = static_cast<int>(::read(pipe_ends[0], marks.data(), marks.size()));
  ::close(pipe_ends[0]);
  return end;
}

TEST(Point, kills_the_process_at_the_asked_pass) {
  const End end = end_of_process("here:3:kill");
  EXPECT_TRUE(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL);
  EXPECT_EQ(end.passes, 2);
}

TEST(Point, stops_the_process_at_the_asked_pass) {
  const End end = end_of_process("here:1:stop");
  EXPECT_TRUE(WIFSTOPPED(end.status) && WSTOPSIG(end.status) == SIGSTOP);
  EXPECT_EQ(end.passes, 0);
}

TEST(Point, holds_the_thread_that_passes_until_it_is_let_go) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("SINEW_AT", "here:1:hold", 1);
    std::atomic<bool> passed{false};
    std::thread thread([&] {
      SINEW_POINT("here");
      passed = true;
    });
    while (!is_held()) std::this_thread::yield();
    const bool waited = !passed;
    let_go();
    thread.join();
    ::_exit(waited && passed && !is_held() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Point, does_nothing_for_another_label_or_a_later_pass_or_without_a_wish) {
  for (const char* wish : {"elsewhere:1:kill", "here:5:kill", ""}) {
    const End end = end_of_process(wish);
    EXPECT_EQ(end.status, 0) << wish;
    EXPECT_EQ(end.passes, 4) << wish;
  }
}

TEST(Point, aborts_on_a_wish_that_it_cannot_understand) {
  for (const char* wish : {"here", "here:1", "here:x:kill", "here:0:kill", "here:1:die"}) {
    const End end = end_of_process(wish);
    EXPECT_TRUE(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT) << wish;
  }
}

}  // namespace
}  // namespace sinew::base
