// What the manager does to itself when it is started on demand.
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>

#include <array>

#include "os/event.hpp"
#include "os/fault.hpp"
#include "os/process.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const Fd low_read(ends[0]), low_write(ends[1]);
    read_end = Fd(::fcntl(low_read.get(), F_DUPFD, 10));  // out of the way of descriptor 3
    write_end = Fd(::fcntl(low_write.get(), F_DUPFD, 10));
  }
  /// What is written to it until nobody can write any more.
  std::string all() {
    write_end.reset();
    std::string text;
    for (char byte = 0; ::read(read_end.get(), &byte, 1) == 1;) text += byte;
    return text;
  }
  Fd read_end, write_end;
};

/// Calls become_daemon() in a child with these for descriptors 2 and 3; what it goes on in runs `body`. Gives the wait status of the child.
template <class Body>
int status_of_daemon(bool keep_stderr, const Fd& error, const Fd& inherited, Body body) {
  return test::status_of_child([&] {
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(error.get(), STDERR_FILENO);
    ::dup2(inherited.get(), 3);
    become_daemon(keep_stderr);
    body();
    return 1;
  });
}

void print(const std::string& text) {
  if (::write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // it may not be open for writing
}

TEST(BecomeDaemon, goes_on_in_the_root_folder_while_its_caller_has_exited_with_0) {
  Pipe error;
  EXPECT_EQ(status_of_daemon(true, error.write_end, error.write_end, [] { print(std::filesystem::current_path()); }), 0);
  EXPECT_EQ(error.all(), "/");
}

TEST(BecomeDaemon, keeps_no_descriptor_beyond_3_and_standard_error_only_if_told_so) {
  for (const bool keep : {false, true}) {
    Pipe stray, error, end;
    const int status = status_of_daemon(keep, error.write_end, end.read_end, [] {
      for (char byte = 0; ::read(3, &byte, 1) > 0;) {
      }
      print("kept");
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(stray.all(), "");  // else this waits for the daemon, who waits for us
    if (keep) end.write_end.reset();
    EXPECT_EQ(error.all(), keep ? "kept" : "");
  }
}

TEST(BecomeDaemon, leads_standard_output_to_where_standard_input_does) {
  Pipe error;
  EXPECT_EQ(status_of_daemon(true, error.write_end, error.write_end, [] { print(std::filesystem::read_symlink("/proc/self/fd/1")); }), 0);
  EXPECT_EQ(error.all(), "/dev/null");
}

TEST(BecomeDaemon, says_so_when_it_cannot) {
  const int status = test::status_of_child([] {
    std::string text;
    fault::arm(fault::Call::fork, 1, EAGAIN);
    SINEW_EXPECT_ERROR(become_daemon(true), ErrorKind::exhausted, text);
    fault::arm(fault::Call::chdir, 1, EACCES);
    SINEW_EXPECT_ERROR(become_daemon(true), ErrorKind::system, text);
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
}

TEST(OrdinaryShare, is_had_whatever_this_process_has_inherited) {
  const int status = test::status_of_child([] {
    const auto cores = [] {
      cpu_set_t set;
      return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    };
    const int all = cores();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(::sched_getcpu(), &one);
    ::sched_setaffinity(0, sizeof one, &one);
    rlimit limit{};
    ::getrlimit(RLIMIT_CPU, &limit);
    const rlimit low{100, limit.rlim_max};
    ::setrlimit(RLIMIT_CPU, &low);
    if (test::is_root()) {
      const sched_param parameters{.sched_priority = 50};
      ::sched_setscheduler(0, SCHED_FIFO, &parameters);
      ::setpriority(PRIO_PROCESS, 0, -5);
    }
    take_ordinary_share_of_processor();
    ::getrlimit(RLIMIT_CPU, &limit);
    if (limit.rlim_cur != limit.rlim_max) return 1;
    if (cores() != all) return 2;
    if (::sched_getscheduler(0) != SCHED_OTHER) return 3;
    return !test::is_root() || ::getpriority(PRIO_PROCESS, 0) == 0 ? 0 : 4;
  });
  EXPECT_EQ(status, 0);
}

TEST(AllowManyDescriptors, raises_the_soft_limit_to_the_hard_one) {
  const int status = test::status_of_child([] {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit low{32, limit.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &low);
    fault::arm(fault::Call::rlimit, 2, EPERM);
    allow_many_descriptors();  // refused: nothing happens
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur != 32) return 1;
    fault::disarm();
    allow_many_descriptors();
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur == limit.rlim_max ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sinew::os
