#include "os/socket.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>
#include <thread>

#include "os/event.hpp"
#include "os/fault.hpp"
#include "os/file.hpp"
#include "os/memory.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

using Kind = Received::Kind;
using test::bytes_of;
using test::send_many;

std::array<std::byte, max_packet> buffer;

std::string_view text_of(const Received& received) {
  return {reinterpret_cast<const char*>(buffer.data()), received.size};
}

TEST(Packet, arrives_whole_with_its_descriptors_which_are_closed_on_exec) {
  const auto [here, there] = socket_pair();
  const Fd first = create_memfd("first", page_size()), second = create_memfd("second", page_size());
  const std::array<int, 2> descriptors = {first.get(), second.get()};
  ASSERT_EQ(send_packet(here, bytes_of("one"), descriptors), SendResult::sent);
  ASSERT_EQ(send_packet(here, bytes_of("two")), SendResult::sent);

  const Received one = receive_packet(there, buffer);
  ASSERT_EQ(one.kind, Kind::packet);
  EXPECT_EQ(text_of(one), "one");
  ASSERT_EQ(one.descriptors.size(), 2u);
  EXPECT_EQ(identity_of(one.descriptors[0]), identity_of(first));
  EXPECT_EQ(identity_of(one.descriptors[1]), identity_of(second));
  for (const Fd& fd : one.descriptors) EXPECT_EQ(::fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_FALSE(one.credentials);

  const Received two = receive_packet(there, buffer);
  EXPECT_EQ(text_of(two), "two");
  EXPECT_TRUE(two.descriptors.empty());
  EXPECT_EQ(receive_packet(there, buffer).kind, Kind::would_block);
}

TEST(Packet, of_the_largest_size_passes_and_a_larger_or_empty_one_is_refused) {
  const auto [here, there] = socket_pair();
  const std::vector<std::byte> largest(max_packet, std::byte{9});
  ASSERT_EQ(send_packet(here, largest), SendResult::sent);
  EXPECT_EQ(receive_packet(there, buffer).size, max_packet);
  std::string text;
  SINEW_EXPECT_ERROR(send_packet(here, std::vector<std::byte>(max_packet + 1)), ErrorKind::invalid_argument, text);
  SINEW_EXPECT_ERROR(send_packet(here, {}), ErrorKind::invalid_argument, text);
  const std::array<int, 3> too_many{};
  SINEW_EXPECT_ERROR(send_packet(here, bytes_of("x"), too_many), ErrorKind::invalid_argument, text);
}

TEST(Packet, a_full_socket_would_block_and_loses_nothing) {
  const auto [here, there] = socket_pair();
  int sent = 0;
  while (send_packet(here, bytes_of("x")) == SendResult::sent) ++sent;
  ASSERT_GT(sent, 0);
  int received = 0;
  while (receive_packet(there, buffer).kind == Kind::packet) ++received;
  EXPECT_EQ(received, sent);
  EXPECT_EQ(send_packet(here, bytes_of("x")), SendResult::sent);
}

// O_NONBLOCK belongs to the open socket, of which others may have a descriptor, too.
TEST(Packet, F7_a_full_socket_would_block_also_when_somebody_has_made_it_one_that_waits) {
  auto [here, there] = socket_pair();
  ASSERT_EQ(::fcntl(here.get(), F_SETFL, 0), 0);
  auto full = std::async(std::launch::async, [&socket = here] {
    for (;;) {
      if (const SendResult result = send_packet(socket, bytes_of("x")); result != SendResult::sent) return result;
    }
  });
  EXPECT_EQ(full.wait_for(std::chrono::minutes(1)), std::future_status::ready) << "it waits";
  there.reset();  // then it does not any more
  EXPECT_EQ(full.get(), SendResult::would_block);
}

TEST(Packet, what_a_dead_peer_sent_is_read_before_the_end_also_when_it_left_something_unread) {
  auto [here, there] = socket_pair();
  ASSERT_EQ(send_packet(here, bytes_of("never read")), SendResult::sent);
  ASSERT_EQ(send_packet(there, bytes_of("last words")), SendResult::sent);
  there.reset();
  const Received last = receive_packet(here, buffer);
  ASSERT_EQ(last.kind, Kind::packet);
  EXPECT_EQ(text_of(last), "last words");
  EXPECT_EQ(receive_packet(here, buffer).kind, Kind::closed);
  EXPECT_EQ(receive_packet(here, buffer).kind, Kind::closed);
}

TEST(Packet, is_unread_until_the_other_end_has_taken_it_or_is_closed_also_when_the_connection_has_ended) {
  auto [here, there] = socket_pair();
  EXPECT_FALSE(has_unread(here));
  send_packet(here, bytes_of("one"));
  send_packet(here, bytes_of("two"));
  shut_down(here);
  EXPECT_TRUE(has_unread(here));
  EXPECT_FALSE(has_unread(there));
  EXPECT_EQ(text_of(receive_packet(there, buffer)), "one");
  EXPECT_TRUE(has_unread(here));
  there.reset();
  EXPECT_FALSE(has_unread(here));
  EXPECT_FALSE(has_unread(there)) << "nothing is open";
}

TEST(Packet, sending_to_a_dead_peer_says_closed) {
  auto [here, there] = socket_pair();
  there.reset();
  EXPECT_EQ(send_packet(here, bytes_of("x")), SendResult::closed);
}

TEST(Packet, a_killed_process_looks_like_a_closed_socket) {
  auto [here, there] = socket_pair();
  const pid_t child = ::fork();
  if (child == 0) {
    send_packet(there, bytes_of("alive"));
    for (;;) ::pause();
  }
  there.reset();
  Poller poller;
  poller.add(here, 1);
  std::array<Poller::Event, 1> events;
  poller.wait(events);
  EXPECT_EQ(text_of(receive_packet(here, buffer)), "alive");
  ::kill(child, SIGKILL);
  ASSERT_EQ(poller.wait(events), 1u);
  EXPECT_TRUE(events[0].hung_up);
  EXPECT_EQ(receive_packet(here, buffer).kind, Kind::closed);
  ::waitpid(child, nullptr, 0);
}

// Odd and even counts differ: the padding behind an odd list has room for one descriptor more than was made room for.
TEST(Packet, too_many_descriptors_are_malformed_and_none_of_them_stays_open) {
  for (const bool with_credentials : {false, true}) {
    const auto [here, there] = socket_pair();
    if (with_credentials) receive_credentials(there);
    const auto before = test::open_descriptors();
    for (std::size_t count = max_descriptors + 1; count < 40; ++count) {
      ASSERT_TRUE(send_many(here, count));
      const Received received = receive_packet(there, buffer);
      EXPECT_EQ(received.kind, Kind::malformed) << count;
      EXPECT_TRUE(received.descriptors.empty());
      EXPECT_EQ(test::open_descriptors(), before) << count << (with_credentials ? " with credentials" : "");
    }
  }
}

TEST(Packet, one_longer_than_the_buffer_is_malformed_and_its_descriptors_are_closed) {
  const auto [here, there] = socket_pair();
  const auto before = test::open_descriptors();
  ASSERT_TRUE(send_many(here, 2, max_packet + 1));
  EXPECT_EQ(receive_packet(there, buffer).kind, Kind::malformed);
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST(Packet, descriptors_that_this_process_has_no_room_for_are_told_from_a_malformed_packet_and_leak_nothing) {
  const int status = test::status_of_child([] {
    const auto [here, there] = socket_pair();
    if (!send_many(here, 2)) return 2;
    const auto before = test::open_descriptors();
    Fd spare = create_eventfd();
    const rlimit limit{static_cast<rlim_t>(spare.get()) + 1, static_cast<rlim_t>(spare.get()) + 1};
    spare.reset();
    rlimit old{};
    ::getrlimit(RLIMIT_NOFILE, &old);
    const rlimit less{limit.rlim_cur, old.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &less);
    const Received received = receive_packet(there, buffer);
    ::setrlimit(RLIMIT_NOFILE, &old);
    return received.kind == Kind::no_room && test::open_descriptors() == before ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(Packet, S6_a_shortage_in_the_kernel_is_told_apart_from_a_full_socket) {
  const auto [here, there] = socket_pair();
  const Fd sent = create_eventfd();
  const std::array<int, 1> descriptor = {sent.get()};
  for (const int error : {ETOOMANYREFS, ENOBUFS, ENOMEM}) {
    fault::arm(fault::Call::send, 1, error);
    EXPECT_EQ(send_packet(here, bytes_of("x"), descriptor), SendResult::shortage);
    fault::disarm();
  }
  if (!test::is_root()) return;
  // The same from the kernel, whose limit is for all sockets of one user together: of one that no other test becomes.
  const int status = test::status_of_child([&] {
    const rlimit limit{64, 64};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 || !test::become(test::nobody_elses_user())) return 2;
    const auto [deaf_here, deaf_there] = socket_pair();
    while (send_packet(deaf_here, bytes_of("x"), descriptor) == SendResult::sent) continue;
    const auto [fresh_here, fresh_there] = socket_pair();
    if (send_packet(fresh_here, bytes_of("x"), descriptor) != SendResult::shortage) return 3;
    return send_packet(fresh_here, bytes_of("x")) == SendResult::sent ? 0 : 4;
  });
  EXPECT_EQ(status, 0);
}

TEST(Credentials, F8_on_a_socket_pair_SO_PEERCRED_names_its_maker_and_the_packet_its_sender) {
  if (!test::is_root()) GTEST_SKIP() << "becoming another user needs root";
  const auto [here, there] = socket_pair();
  receive_credentials(here);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!test::become_nobody()) ::_exit(2);
    ::_exit(send_packet(there, bytes_of("hello")) == SendResult::sent ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(peer_credentials(here).uid, 0u);
  EXPECT_EQ(peer_credentials(here).pid, ::getpid());
  const Received received = receive_packet(here, buffer);
  ASSERT_TRUE(received.credentials);
  EXPECT_EQ(received.credentials->uid, 1234u);
  EXPECT_EQ(received.credentials->gid, 1234u);
  EXPECT_EQ(received.credentials->pid, child);
}

TEST(Credentials, of_a_packet_are_those_of_the_effective_user_as_on_a_named_connection) {
  if (!test::is_root()) GTEST_SKIP() << "becoming another user needs root";
  const auto [here, there] = socket_pair();
  receive_credentials(here);
  const Fd memory = create_memfd("sent", page_size());
  const int status = test::status_of_child([&] {
    if (::setegid(1234) != 0 || ::seteuid(1234) != 0) return 2;
    if (send_packet(there, bytes_of("hello"), std::array{memory.get()}) != SendResult::sent) return 3;
    fault::arm(fault::Call::send, 1, EINVAL);  // as where the effective user has no number
    return send_packet(there, bytes_of("hello"), std::array{memory.get()}) == SendResult::sent ? 0 : 4;
  });
  EXPECT_EQ(status, 0);
  for (const uid_t user : {1234u, 0u}) {
    const Received received = receive_packet(here, buffer);
    ASSERT_TRUE(received.credentials);
    EXPECT_EQ(received.credentials->uid, user);
    EXPECT_EQ(received.descriptors.size(), 1u);
  }
}

TEST(Credentials, F8_on_a_named_connection_SO_PEERCRED_names_each_end_to_the_other) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/named.sock";
  const Fd listener = listen_at(path);
  if (test::is_root()) {
    ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
    ASSERT_EQ(::chmod(path.c_str(), 0666), 0);
  }
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    if (test::is_root() && !test::become_nobody()) ::_exit(2);
    const auto connected = connect_to(path);
    ::_exit(connected && peer_credentials(*connected).pid == parent ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const Fd accepted = accept_from(listener);
  ASSERT_TRUE(accepted);
  EXPECT_EQ(peer_credentials(accepted).pid, child);
  EXPECT_EQ(peer_credentials(accepted).uid, test::is_root() ? 1234u : ::geteuid());
}

TEST(NamedSocket, carries_packets_both_ways_and_never_blocks) {
  const test::TempFolder folder;
  const Fd listener = listen_at(folder.path() + "/s");
  EXPECT_FALSE(accept_from(listener));
  const auto client = connect_to(folder.path() + "/s");
  ASSERT_TRUE(client);
  const Fd server = accept_from(listener);
  ASSERT_TRUE(server);
  EXPECT_EQ(receive_packet(*client, buffer).kind, Kind::would_block);
  EXPECT_EQ(receive_packet(server, buffer).kind, Kind::would_block);
  ASSERT_EQ(send_packet(*client, bytes_of("ping")), SendResult::sent);
  EXPECT_EQ(text_of(receive_packet(server, buffer)), "ping");
  ASSERT_EQ(send_packet(server, bytes_of("pong")), SendResult::sent);
  EXPECT_EQ(text_of(receive_packet(*client, buffer)), "pong");
  for (const int fd : {listener.get(), client->get(), server.get()}) {
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
  }
}

TEST(NamedSocket, is_for_its_user_alone_whatever_the_umask) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/private.sock";
  const mode_t before = ::umask(0);
  const Fd listener = listen_at(path);
  ::umask(before);
  struct stat status{};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  if (!test::is_root()) return;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  const int child = test::status_of_child([&] {
    if (!test::become_nobody()) return 2;
    try {
      connect_to(path);
    } catch (const Error& error) {
      return error.kind() == ErrorKind::denied ? 0 : 3;
    }
    return 4;
  });
  EXPECT_EQ(child, 0);
}

TEST(NamedSocket, nobody_there_is_an_answer_not_an_error) {
  const test::TempFolder folder;
  EXPECT_FALSE(connect_to(folder.path() + "/missing.sock"));
  {
    const Fd gone = listen_at(folder.path() + "/stale.sock");
  }
  EXPECT_FALSE(connect_to(folder.path() + "/stale.sock"));
}

/// True when the kernel says that the thread sleeps.
bool sleeps(pid_t thread) {
  const std::string stat = read_file("/proc/self/task/" + std::to_string(thread) + "/stat").value_or("");
  return stat.find(") S ") != stat.npos;
}

TEST(NamedSocket, connecting_waits_while_the_backlog_is_full) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/busy.sock";
  const Fd listener = listen_at(path, 0);
  const auto first = connect_to(path);
  std::atomic<pid_t> thread{0};
  std::atomic<bool> done{false};
  std::optional<Fd> second;
  std::thread connecting([&] {
    thread = ::gettid();
    EXPECT_NO_THROW(second = connect_to(path));
    done = true;
  });
  while (!done && !(thread != 0 && sleeps(thread))) std::this_thread::yield();
  EXPECT_FALSE(done);
  EXPECT_TRUE(accept_from(listener));
  connecting.join();
  EXPECT_TRUE(second);
  EXPECT_TRUE(accept_from(listener));
}

TEST(NamedSocket, connecting_waits_no_longer_than_one_has_patience_for_and_says_what_may_be_the_reason) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/busy.sock";
  const Fd listener = listen_at(path, 0);
  const auto first = connect_to(path);
  std::string text;
  SINEW_EXPECT_ERROR(connect_to(path, std::chrono::milliseconds(10)), ErrorKind::unavailable, text);
  EXPECT_NE(text.find("none was taken within 10 ms"), text.npos) << text;
  EXPECT_TRUE(accept_from(listener));
  EXPECT_TRUE(connect_to(path, std::chrono::hours(1)));
}

TEST(NamedSocket, connecting_does_not_begin_to_wait_anew_with_each_signal) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/busy.sock";
  const Fd listener = listen_at(path, 0);
  const auto first = connect_to(path);
  const int status = test::status_of_child([&] {
    static std::atomic<int> signals{0};
    std::signal(SIGALRM, [](int) {
      if (++signals > 1000) ::_exit(9);  // a hundred times as long as one has patience for
    });
    const itimerval often{{0, 20'000}, {0, 20'000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
    std::string text;
    SINEW_EXPECT_ERROR(connect_to(path, std::chrono::milliseconds(200)), ErrorKind::unavailable, text);
    return text.find("none was taken within 200 ms") != text.npos ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(NamedSocket, a_path_in_use_or_too_long_is_refused_by_name) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/used.sock";
  const Fd listener = listen_at(path);
  std::string text;
  SINEW_EXPECT_ERROR(listen_at(path), ErrorKind::unavailable, text);
  EXPECT_NE(text.find(path), text.npos) << text;
  const std::string endless = folder.path() + "/" + std::string(200, 'x');
  SINEW_EXPECT_ERROR(listen_at(endless), ErrorKind::invalid_argument, text);
  SINEW_EXPECT_ERROR(connect_to(endless), ErrorKind::invalid_argument, text);
  EXPECT_NE(text.find("107"), text.npos) << text;
}

TEST(NamedSocket, leaves_no_file_when_it_cannot_listen) {
  const test::TempFolder folder;
  fault::arm(fault::Call::listen, 1, EADDRINUSE);
  EXPECT_THROW(listen_at(folder.path() + "/half.sock"), Error);
  fault::disarm();
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/half.sock"));
}

}  // namespace
}  // namespace sinew::os
