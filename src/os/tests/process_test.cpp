#include "os/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <sstream>
#include <thread>

#include "os/event.hpp"
#include "os/fault.hpp"
#include "os/file.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

/// Starts a shell as a daemon, with `inherited` as descriptor 3.
void start_shell(const std::string& script, const Fd& inherited) {
  start_daemon("/bin/sh", {"-c", script}, inherited);
}

/// The words of what a daemon's shell `script` wrote to descriptor 3.
std::vector<std::string> written_by(const std::string& script) {
  const Fd file(::memfd_create("answer", MFD_CLOEXEC));
  start_shell(script, file);
  ::lseek(file.get(), 0, SEEK_SET);
  std::string text(4096, '\0');
  text.resize(static_cast<std::size_t>(::read(file.get(), text.data(), text.size())));
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST(StartDaemon, gives_it_null_for_stdin_and_the_descriptor_as_3) {
  EXPECT_EQ(written_by("readlink /proc/$$/fd/0 >&3"), std::vector<std::string>{"/dev/null"});
}

TEST(StartDaemon, puts_it_into_a_session_of_its_own) {
  const auto words = written_by("read -r pid name state parent group session rest < /proc/$$/stat; echo $pid $session >&3");
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0], words[1]);
  EXPECT_NE(words[1], std::to_string(::getsid(0)));
}

TEST(StartDaemon, clears_the_signal_mask_and_what_the_user_ignores) {
  sigset_t terminate, before;
  sigemptyset(&terminate);
  sigaddset(&terminate, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &terminate, &before);
  const auto old = ::signal(SIGHUP, SIG_IGN);
  const auto words =
      written_by("while read -r key value; do case $key in SigBlk:|SigIgn:) echo $key $value >&3; esac; done < /proc/$$/status");
  ::signal(SIGHUP, old);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(std::stoull(words[1], nullptr, 16), 0u);
  EXPECT_EQ(std::stoull(words[3], nullptr, 16) & (1ULL << (SIGHUP - 1)), 0u);
}

TEST(StartDaemon, hands_over_the_descriptor_whatever_its_number) {
  // Number 3 itself must lose its close-on-exec flag; number 0 must not be lost to /dev/null.
  for (const int number : {0, 3}) {
    const int status = test::status_of_child([number] {
      const Fd file(::memfd_create("answer", MFD_CLOEXEC));
      Fd moved(::dup3(file.get(), number, O_CLOEXEC) < 0 ? file.get() : number);
      start_shell("readlink /proc/$$/fd/3 >&3", moved);
      std::string text(64, '\0');
      const ssize_t got = ::pread(number, text.data(), text.size(), 0);
      return got > 0 && text.find("memfd:answer") != text.npos ? 0 : 1;
    });
    EXPECT_EQ(status, 0) << number;
  }
}

TEST(StartDaemon, names_a_program_that_is_not_there_or_fails) {
  const Fd any = create_eventfd();
  std::string text;
  SINEW_EXPECT_ERROR(start_daemon("/missing/sinewd", {}, any), ErrorKind::unavailable, text);
  EXPECT_NE(text.find("/missing/sinewd"), text.npos) << text;
  SINEW_EXPECT_ERROR(start_shell("exit 7", any), ErrorKind::unavailable, text);
  EXPECT_NE(text.find("status 7"), text.npos) << text;
  SINEW_EXPECT_ERROR(start_shell("kill -9 $$", any), ErrorKind::unavailable, text);
  EXPECT_NE(text.find("signal 9"), text.npos) << text;
}

TEST(StartDaemon, tells_what_a_program_that_fails_wrote_to_stdout) {
  std::string text;
  SINEW_EXPECT_ERROR(start_shell("printf 'the disk is full'; exit 7", create_eventfd()), ErrorKind::unavailable, text);
  EXPECT_TRUE(text.ends_with("status 7. It says: the disk is full")) << text;
}

TEST(StartDaemon, says_what_is_to_be_said_of_a_missing_program_of_no_other) {
  const Fd any = create_eventfd();
  const std::string remedy = " Install it.";
  std::string text;
  for (const char* const missing : {"/missing/sinewd", "/dev/null", "/dev/null/sinewd"}) {
    SINEW_EXPECT_ERROR(start_daemon(missing, {}, any, remedy), ErrorKind::unavailable, text);
    EXPECT_TRUE(text.ends_with(". Install it.")) << text;
  }
  SINEW_EXPECT_ERROR(start_daemon("/bin/sh", {"-c", "exit 7"}, any, remedy), ErrorKind::unavailable, text);
  EXPECT_EQ(text.find("Install"), text.npos) << text;
  fault::arm(fault::Call::spawn, 1, EAGAIN);
  SINEW_EXPECT_ERROR(start_daemon("/missing/sinewd", {}, any, remedy), ErrorKind::unavailable, text);
  fault::disarm();
  EXPECT_EQ(text.find("Install"), text.npos) << text;
}

TEST(StartDaemon, does_not_wait_for_ever_for_one_that_does_not_get_ready) {
  std::string text;
  SINEW_EXPECT_ERROR(start_shell("echo a pipe is empty; exec sleep 1000", create_eventfd()), ErrorKind::unavailable, text);
  EXPECT_NE(text.find("it was not ready within 5000 ms, and was killed. It says: a pipe is empty"), text.npos) << text;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "it is left";
}

TEST(StartDaemon, learns_how_it_ended_also_on_a_kernel_without_pidfds) {
  std::string text;
  fault::arm(fault::Call::open, 1, ENOSYS);
  SINEW_EXPECT_ERROR(start_shell("sleep 0.1; exit 7", create_eventfd()), ErrorKind::unavailable, text);
  EXPECT_EQ(fault::passed(fault::Call::open), 1);
  fault::disarm();
  EXPECT_NE(text.find("status 7"), text.npos) << text;
}

TEST(StartDaemon, does_not_fail_where_the_user_ignores_dead_children) {
  const int status = test::status_of_child([] {
    ::signal(SIGCHLD, SIG_IGN);
    start_shell("exit 0", create_eventfd());
    return 0;
  });
  EXPECT_EQ(status, 0);
}

TEST(CloseDescriptors, closes_all_from_the_first_on_also_on_an_old_kernel) {
  for (const bool old_kernel : {false, true}) {
    const int status = test::status_of_child([&] {
      for (int fd = 20; fd < 30; fd += 3) ::dup2(0, fd);
      if (old_kernel) fault::arm(fault::Call::close_range, 1, ENOSYS);
      close_descriptors_from(23);
      const auto open = [](int fd) { return ::fcntl(fd, F_GETFD) >= 0; };
      return open(0) && open(20) && !open(23) && !open(26) && !open(29) ? 0 : 1;
    });
    EXPECT_EQ(status, 0) << old_kernel;
  }
}

TEST(FolderOfCode, is_that_of_the_program_or_library_that_holds_the_address) {
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  EXPECT_EQ(folder_of_code(reinterpret_cast<const void*>(&start_shell)), program.parent_path());
  const std::string c_library = folder_of_code(reinterpret_cast<const void*>(&::opendir));
  EXPECT_TRUE(std::filesystem::is_directory(c_library)) << c_library;
}

TEST(FolderOfCode, stays_right_after_a_chdir_and_a_misleading_name) {
  const std::string before = folder_of_code(reinterpret_cast<const void*>(&start_shell));
  const auto old = std::filesystem::current_path();
  std::filesystem::current_path("/");
  EXPECT_EQ(folder_of_code(reinterpret_cast<const void*>(&start_shell)), before);
  std::filesystem::current_path(old);
}

TEST(FolderOfCode, is_empty_for_what_is_in_no_file) {
  const auto on_heap = std::make_unique<int>(0);
  EXPECT_EQ(folder_of_code(on_heap.get()), "");
  EXPECT_EQ(folder_of_code(nullptr), "");
}

TEST(LockFolder, lets_one_process_in_at_a_time_and_leaves_nothing_behind) {
  const test::TempFolder folder;
  const Fd file(::memfd_create("counter", MFD_CLOEXEC));
  constexpr int children = 4, rounds = 50;
  std::vector<pid_t> started;
  for (int c = 0; c < children; ++c) {
    started.push_back(::fork());
    if (started.back() != 0) continue;
    for (int i = 0; i < rounds; ++i) {
      const Fd lock = lock_folder(folder.path());
      int value = 0;
      if (::pread(file.get(), &value, sizeof value, 0) < 0) ::_exit(1);
      ::sched_yield();
      ++value;
      if (::pwrite(file.get(), &value, sizeof value, 0) < 0) ::_exit(1);
    }
    ::_exit(0);
  }
  for (const pid_t child : started) {
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  int value = 0;
  EXPECT_EQ(::pread(file.get(), &value, sizeof value, 0), static_cast<ssize_t>(sizeof value));
  EXPECT_EQ(value, children * rounds);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(LockFolder, ends_with_the_process_that_held_it) {
  const test::TempFolder folder;
  const Fd locked = create_eventfd();
  const pid_t child = ::fork();
  if (child == 0) {
    const Fd lock = lock_folder(folder.path());
    ring(locked.get());
    for (;;) ::pause();
  }
  wait_and_drain(locked.get());
  const Fd attempt(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_NE(::flock(attempt.get(), LOCK_EX | LOCK_NB), 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(lock_folder(folder.path()));
}

TEST(LockFolder, that_a_forked_child_has_too_is_let_go_of) {
  const test::TempFolder folder;
  const Fd lock = lock_folder(folder.path());
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  EXPECT_FALSE(try_to_lock_folder(folder.path()));
  unlock_folder(lock);
  EXPECT_TRUE(try_to_lock_folder(folder.path()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(LockFolder, of_which_there_is_none_says_what_to_do) {
  const test::TempFolder folder;
  std::string text;
  SINEW_EXPECT_ERROR(lock_folder(folder.path() + "/none"), ErrorKind::unavailable, text);
  EXPECT_EQ(text, "sinew cannot lock the folder '" + folder.path() +
                      "/none', in which the domain's socket is to be: it does not exist. Create it, or set SINEW_DOMAIN to a name, or to a "
                      "path in a folder that there is.");
}

TEST(LockFolder, is_waited_for_no_longer_than_one_has_patience_for) {
  const test::TempFolder folder;
  std::optional<Fd> held = lock_folder(folder.path());
  std::string text;
  SINEW_EXPECT_ERROR(lock_folder(folder.path(), std::chrono::milliseconds(10)), ErrorKind::unavailable, text);
  EXPECT_NE(text.find("for 10 ms another process has held it"), text.npos) << text;
  std::thread letting_go([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    held.reset();
  });
  EXPECT_TRUE(lock_folder(folder.path(), std::chrono::hours(1)));
  letting_go.join();
}

TEST(LockFolder, of_a_folder_that_is_missing_is_an_error_with_its_name) {
  std::string text;
  SINEW_EXPECT_ERROR(lock_folder("/missing/folder"), ErrorKind::unavailable, text);
  EXPECT_NE(text.find("/missing/folder"), text.npos) << text;
}

TEST(Pidfd, becomes_readable_when_the_process_dies) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  const Fd pidfd = open_pidfd(child);
  if (!pidfd) GTEST_SKIP() << "this kernel has no pidfd_open";
  pollfd waiting{pidfd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  ::kill(child, SIGKILL);
  EXPECT_EQ(::poll(&waiting, 1, -1), 1);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(open_pidfd(child));
  EXPECT_EQ(::fcntl(pidfd.get(), F_GETFD), FD_CLOEXEC);
}

int forks_seen = 0;

TEST(OnForkInChild, runs_in_the_child_only_and_in_the_given_order) {
  on_fork_in_child([]() noexcept { forks_seen = 1; });
  on_fork_in_child([]() noexcept { forks_seen = forks_seen == 1 ? 2 : 99; });
  EXPECT_EQ(test::status_of_child([] { return forks_seen; }), 2 << 8);
  EXPECT_EQ(forks_seen, 0);
}

TEST(ReadFile, gives_the_whole_text_or_nothing) {
  const test::TempFolder folder;
  const std::string long_text(10000, 'x');
  folder.write("long", long_text);
  EXPECT_EQ(read_file(folder.path() + "/long"), long_text);
  EXPECT_FALSE(read_file(folder.path() + "/missing"));
  EXPECT_FALSE(read_file(folder.path()));
  fault::arm(fault::Call::read, 2, EIO);
  EXPECT_FALSE(read_file(folder.path() + "/long"));
  fault::disarm();
}

}  // namespace
}  // namespace sinew::os
