#include "os/thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <span>
#include <string>
#include <thread>

#include "base/tests/heap.hpp"
#include "os/fault.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

TEST(StartThread, gives_a_name_and_leaves_signals_to_the_users_threads) {
  std::array<char, 16> name{};
  sigset_t inside, outside_before, outside_after;
  ::pthread_sigmask(SIG_BLOCK, nullptr, &outside_before);
  std::thread thread = start_thread("sinew-io-with-a-long-name", [&] {
    ::pthread_getname_np(::pthread_self(), name.data(), name.size());
    ::pthread_sigmask(SIG_BLOCK, nullptr, &inside);
  });
  thread.join();
  ::pthread_sigmask(SIG_BLOCK, nullptr, &outside_after);
  EXPECT_STREQ(name.data(), "sinew-io-with-a");
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGCHLD}) {
    EXPECT_EQ(sigismember(&inside, number), 1);
    EXPECT_EQ(sigismember(&outside_after, number), sigismember(&outside_before, number));
  }
}

TEST(StartThread, what_its_body_causes_itself_is_as_in_any_thread) {
  const auto ending_of = [](void (*body)()) { return test::status_of_child([body] { return start_thread("io", body).join(), 0; }); };
  const int closed = ending_of([] {
    std::array<int, 2> pipe_ends{};
    if (::pipe(pipe_ends.data()) != 0) return;
    ::close(pipe_ends[0]);
    if (::write(pipe_ends[1], "x", 1) < 0) return;
  });
  EXPECT_TRUE(WIFSIGNALED(closed) && WTERMSIG(closed) == SIGPIPE) << closed;
  // The handler that tells of a crash is the user's.
  const int faulty = ending_of([] {
    ::signal(SIGFPE, [](int) { ::_exit(7); });
    ::pthread_kill(::pthread_self(), SIGFPE);
  });
  EXPECT_TRUE(WIFEXITED(faulty) && WEXITSTATUS(faulty) == 7) << faulty;
}

TEST(StartThread, one_that_was_scheduled_and_bound_starts_others_that_are_as_it_was_before) {
  const auto cores = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    return set;
  };
  const cpu_set_t all = cores();
  unsigned first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  cpu_set_t bound{}, others{};
  int policy = -1;
  start_thread("bound", [&] {
    schedule_this_thread(Scheduling::fifo, 1);  // where it may
    EXPECT_EQ(bind_this_thread(std::span(&first, 1)), "");
    start_thread("other", [&] { others = cores(), policy = ::sched_getscheduler(0); }).join();
    bound = cores();
  }).join();
  EXPECT_EQ(CPU_COUNT(&bound), 1) << "it goes on as it was";
  EXPECT_TRUE(CPU_EQUAL(&others, &all));
  EXPECT_EQ(policy, SCHED_OTHER);
}

TEST(StartThread, a_child_that_is_forked_there_hears_the_signals_that_the_users_threads_hear) {
  sigset_t users, before;
  sigemptyset(&users);
  sigaddset(&users, SIGUSR1);
  ::pthread_sigmask(SIG_SETMASK, &users, &before);
  const int status = test::status_of_child([] {
    bool blocks_usr1 = false, blocks_term = true;
    start_thread("outer", [&] {
      start_thread("inner", [&] {
        restore_users_signals();
        sigset_t now;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
        blocks_usr1 = sigismember(&now, SIGUSR1) == 1, blocks_term = sigismember(&now, SIGTERM) == 1;
      }).join();
    }).join();
    return blocks_usr1 && !blocks_term ? 0 : 1;
  });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(status, 0);
}

TEST(StartThread, a_refusal_is_called_exhausted_and_names_the_limits_to_raise) {
  fault::arm(fault::Call::thread, 1, EAGAIN);
  std::string text;
  SINEW_EXPECT_ERROR(start_thread("io", [] {}), ErrorKind::exhausted, text);
  fault::disarm();
  EXPECT_NE(text.find("'io'"), text.npos) << text;
  EXPECT_NE(text.find("ulimit -u, or pids.max"), text.npos) << text;
}

TEST(StartThread, leaves_the_signals_of_its_caller_alone_also_when_there_is_no_memory) {
  sigset_t before, after;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
  bool failed = true;
  for (int nth = 0; failed; ++nth) {
    failed = false;
    std::thread thread;
    fail_allocation(nth);
    try {
      thread = start_thread("a name that no small string holds, so that it is copied", [] {});
    } catch (const std::bad_alloc&) {
      failed = true;
    } catch (const Error&) {
      failed = true;  // what the system allocates for a thread
    }
    fail_no_allocation();
    if (thread.joinable()) thread.join();
    ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
    EXPECT_EQ(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1)) << "allocation " << nth;
  }
}

}  // namespace
}  // namespace sinew::os
