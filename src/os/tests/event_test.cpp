#include "os/event.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <thread>

#include "os/clock.hpp"
#include "os/fault.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "os/socket.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

TEST(Eventfd, a_ring_before_the_wait_is_not_lost_and_many_count_as_one) {
  const Fd bell = create_eventfd();
  ring(bell.get());
  ring(bell.get());
  EXPECT_TRUE(wait_and_drain(bell.get()));
  EXPECT_FALSE(wait_and_drain(bell.get(), now_ns()));
}

TEST(Eventfd, wakes_another_process) {
  const Fd there = create_eventfd(), back = create_eventfd();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool woken = wait_and_drain(there.get());
    ring(back.get());
    ::_exit(woken ? 0 : 1);
  }
  ring(there.get());
  EXPECT_TRUE(wait_and_drain(back.get()));
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Eventfd, ringing_a_full_one_or_nothing_returns_at_once_and_keeps_errno) {
  const Fd bell = create_eventfd();
  const std::uint64_t full = ~std::uint64_t{0} - 1;
  ASSERT_EQ(::write(bell.get(), &full, sizeof full), static_cast<ssize_t>(sizeof full));
  errno = ENOTDIR;
  ring(bell.get());
  ring(-1);
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_TRUE(wait_and_drain(bell.get()));
}

TEST(Eventfd, a_drained_one_is_silent) {
  const Fd bell = create_eventfd();
  ring(bell.get());
  drain(bell.get());
  drain(bell.get());
  EXPECT_FALSE(wait_and_drain(bell.get(), now_ns() - 1));
}

TEST(Eventfd, the_wait_goes_on_after_signals) {
  struct sigaction action{}, before{};
  action.sa_handler = [](int) {};
  ::sigaction(SIGUSR1, &action, &before);
  const Fd bell = create_eventfd();
  bool rung = false;
  std::thread sleeper([&] { rung = wait_and_drain(bell.get()); });
  for (int i = 0; i < 1000; ++i) ::pthread_kill(sleeper.native_handle(), SIGUSR1);
  ring(bell.get());
  sleeper.join();
  EXPECT_TRUE(rung);
  ::sigaction(SIGUSR1, &before, nullptr);
  // The same where the kernel surely interrupts.
  fault::arm(fault::Call::poll, 1, EINTR);
  ring(bell.get());
  EXPECT_TRUE(wait_and_drain(bell.get()));
  EXPECT_EQ(fault::passed(fault::Call::poll), 2);
  fault::disarm();
}

TEST(Eventfd, is_told_from_everything_else_that_a_peer_might_send) {
  EXPECT_TRUE(is_eventfd(create_eventfd()));
  EXPECT_FALSE(is_eventfd(socket_pair().first));
  EXPECT_FALSE(is_eventfd(create_memfd("bell", page_size())));
  EXPECT_FALSE(is_eventfd(open_pidfd(::getpid())));
  EXPECT_FALSE(is_eventfd(Fd()));
}

TEST(Doorbell, wakes_who_waits_and_is_silent_again_afterwards) {
  const Fd bell = create_doorbell();
  EXPECT_TRUE(is_eventfd(bell));
  ring(bell.get());
  ring(bell.get());
  await_doorbell(bell.get());
  EXPECT_FALSE(wait_and_drain(bell.get(), now_ns() - 1));
  std::thread sleeper([&] { await_doorbell(bell.get()); });
  ring(bell.get());
  sleeper.join();
}

TEST(Poller, tells_which_descriptor_is_readable_by_its_key) {
  Poller poller;
  const Fd silent = create_eventfd(), rung = create_eventfd();
  poller.add(silent, 1);
  poller.add(rung, 0xfedcba9876543210);
  ring(rung.get());
  std::array<Poller::Event, 4> events;
  ASSERT_EQ(poller.wait(events), 1u);
  EXPECT_EQ(events[0].key, 0xfedcba9876543210);
  EXPECT_TRUE(events[0].readable);
  EXPECT_FALSE(events[0].writable);
  EXPECT_FALSE(events[0].hung_up);
}

TEST(Poller, tells_what_is_writable_only_when_asked) {
  Poller poller;
  const auto [here, there] = socket_pair();
  poller.add(here, 1);
  std::array<Poller::Event, 1> events;
  EXPECT_EQ(poller.wait(events, now_ns()), 0u);
  poller.change(here, 2, true);
  ASSERT_EQ(poller.wait(events), 1u);
  EXPECT_EQ(events[0].key, 2u);
  EXPECT_TRUE(events[0].writable);
  poller.change(here, 3, false);
  EXPECT_EQ(poller.wait(events, now_ns()), 0u);
}

TEST(Poller, a_hang_up_comes_together_with_what_was_sent_before_it) {
  Poller poller;
  auto [here, there] = socket_pair();
  poller.add(here, 1);
  ASSERT_EQ(send_packet(there, test::bytes_of("last words")), SendResult::sent);
  there.reset();
  std::array<Poller::Event, 1> events;
  ASSERT_EQ(poller.wait(events), 1u);
  EXPECT_TRUE(events[0].readable);
  EXPECT_TRUE(events[0].hung_up);
}

TEST(Poller, says_no_more_of_what_was_removed) {
  Poller poller;
  const Fd bell = create_eventfd();
  poller.add(bell, 1);
  ring(bell.get());
  poller.remove(bell);
  poller.remove(bell);
  std::array<Poller::Event, 1> events;
  EXPECT_EQ(poller.wait(events, now_ns()), 0u);
}

TEST(Poller, gives_what_fits_and_the_rest_with_the_next_call) {
  Poller poller;
  std::vector<Fd> bells;
  for (std::uint64_t key = 0; key < 3; ++key) {
    bells.push_back(create_eventfd());
    ring(bells.back().get());
    poller.add(bells.back(), key);
  }
  std::array<Poller::Event, 2> events;
  ASSERT_EQ(poller.wait(events), 2u);
  drain(bells[events[0].key].get());
  drain(bells[events[1].key].get());
  ASSERT_EQ(poller.wait(events), 1u);
}

TEST(Poller, a_deadline_ends_the_wait) {
  Poller poller;
  std::array<Poller::Event, 1> events;
  const auto deadline = now_ns() + 1'000'000;
  EXPECT_EQ(poller.wait(events, deadline), 0u);
  EXPECT_GE(now_ns(), deadline);
}

TEST(Poller, adding_a_descriptor_twice_is_an_error) {
  Poller poller;
  const Fd bell = create_eventfd();
  poller.add(bell, 1);
  EXPECT_THROW(poller.add(bell, 2), Error);
}

TEST(Poller, more_descriptors_than_a_user_may_wait_for_are_called_exhausted_and_name_that_limit) {
  Poller poller;
  const Fd bell = create_eventfd();
  fault::arm(fault::Call::epoll_ctl, 1, ENOSPC);
  std::string text;
  SINEW_EXPECT_ERROR(poller.add(bell, 1), ErrorKind::exhausted, text);
  fault::disarm();
  EXPECT_NE(text.find("epoll/max_user_watches"), text.npos) << text;
  EXPECT_EQ(text.find("smaller messages"), text.npos) << text;
}

}  // namespace
}  // namespace sinew::os
