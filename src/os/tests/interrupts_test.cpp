#include "os/interrupts.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

namespace sinew::os {
namespace {

std::atomic<int> calls{0};
void count() noexcept {
  calls.fetch_add(1, std::memory_order_relaxed);
}

bool is_ignored(int signal) {
  struct sigaction is{};
  ::sigaction(signal, nullptr, &is);
  return is.sa_handler == SIG_IGN;
}

/// How a child ended that did `what` to itself.
template <class What>
int ending_of(What what) {
  const pid_t child = ::fork();
  if (child == 0) {
    what();
    ::_exit(calls);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Interrupts, the_first_signal_calls_and_the_second_of_either_kind_ends_the_process) {
  for (const int first : {SIGINT, SIGTERM}) {
    for (const int second : {SIGINT, SIGTERM}) {
      const int once = ending_of([&] {
        const Interrupts interrupts(true, true, &count);
        ::raise(first);
      });
      EXPECT_TRUE(WIFEXITED(once) && WEXITSTATUS(once) == 1) << once;
      const int twice = ending_of([&] {
        const Interrupts interrupts(true, true, &count);
        ::raise(first);
        ::raise(second);
      });
      EXPECT_TRUE(WIFSIGNALED(twice) && WTERMSIG(twice) == second) << twice;
    }
  }
}

TEST(Interrupts, signals_that_are_not_wanted_do_what_they_did) {
  const int ended = ending_of([] {
    const Interrupts interrupts(true, false, &count);
    ::raise(SIGTERM);
  });
  EXPECT_TRUE(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGTERM) << ended;
}

TEST(Interrupts, afterwards_signals_do_what_they_did_before) {
  const int ended = ending_of([] {
    std::signal(SIGINT, SIG_IGN);
    {
      const Interrupts interrupts(true, true, &count);
      ::raise(SIGINT);
    }
    ::raise(SIGINT);
    if (!is_ignored(SIGINT)) ::_exit(99);
  });
  EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 1) << ended;
}

std::atomic<int> own_calls{0};
void count_own(int) {
  own_calls.fetch_add(1, std::memory_order_relaxed);
}
void count_own_with_info(int signal, siginfo_t* info, void* context) {
  if (info && context && info->si_signo == signal && info->si_pid == ::getpid()) own_calls.fetch_add(1, std::memory_order_relaxed);
}

TEST(Interrupts, a_handler_that_was_there_before_is_called_as_well_and_is_there_again_for_the_second_signal) {
  for (const bool with_info : {false, true}) {
    const int ended = ending_of([&] {
      struct sigaction own{};
      if (with_info) {
        own.sa_sigaction = &count_own_with_info;
        own.sa_flags = SA_SIGINFO;
      } else {
        own.sa_handler = &count_own;
      }
      ::sigaction(SIGINT, &own, nullptr);
      const Interrupts interrupts(true, true, &count);
      ::raise(SIGINT);
      if (calls != 1 || own_calls != 1) ::_exit(98);
      ::raise(SIGINT);
      if (calls != 1 || own_calls != 2) ::_exit(99);
    });
    EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 1) << ended;
  }
}

}  // namespace
}  // namespace sinew::os
