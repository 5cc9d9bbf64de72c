#include "os/reaper.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include "os/event.hpp"
#include "os/fault.hpp"
#include "os/memory.hpp"
#include "os/socket.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

/// Threads that close, by their name: a sanitizer has threads of its own.
std::ptrdiff_t closers() {
  return std::ranges::count_if(std::filesystem::directory_iterator("/proc/self/task"), [](const auto& task) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    return name == "sinew-close";
  });
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

template <class Condition>
void await(Condition condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void await_closers() {
  await([] { return closers() == 0; });
}

/// What tests leave to be closed is not to be counted by others.
class DescriptorOfAPeer : public testing::Test {
 protected:
  void SetUp() override { await_closers(); }
  void TearDown() override { await_closers(); }
};

TEST_F(DescriptorOfAPeer, that_closes_slowly_is_closed_where_nobody_waits_for_it) {
  auto [sent, reader] = test::lingering_socket();
  Fd slow = Fd::of_peer(sent.release());
  const int number = slow.get();
  slow.reset();
  await([&] { return !is_open(number); });
}

TEST_F(DescriptorOfAPeer, is_closed_at_once_where_it_is_what_peers_ought_to_send) {
  for (const bool memory : {true, false}) {
    const int number = (memory ? create_memfd("sent", page_size()) : create_eventfd()).release();
    {
      const Fd received = Fd::of_peer(number);
    }
    EXPECT_FALSE(is_open(number));
    EXPECT_EQ(closers(), 0);
  }
}

TEST_F(DescriptorOfAPeer, is_closed_in_a_forked_child_too) {
  const auto open_one = [] { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); };
  const int of_parent = open_one();
  Fd::of_peer(of_parent).reset();
  await([&] { return !is_open(of_parent); });  // else the next test may count it, when the thread that closes it has no name yet
  const int status = test::status_of_child([&] {
    const int number = open_one();
    Fd::of_peer(number).reset();
    return is_open(number) ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
}

/// Sends two of them, which are nowhere else any more, and gives their readers.
std::array<Fd, 2> send_slow(const Fd& socket) {
  auto [first, first_reader] = test::lingering_socket();
  auto [second, second_reader] = test::lingering_socket();
  EXPECT_EQ(send_packet(socket, test::bytes_of("slow"), std::array{first.get(), second.get()}), SendResult::sent);
  return {std::move(first_reader), std::move(second_reader)};
}

TEST_F(DescriptorOfAPeer, holds_nobody_up_in_a_packet_that_is_refused) {
  const auto [here, there] = socket_pair();
  const auto readers = send_slow(here);
  const auto before = test::open_descriptors();
  std::array<std::byte, 1> small;
  EXPECT_EQ(receive_packet(there, small).kind, Received::Kind::malformed);
  await([&] { return test::open_descriptors() == before; });
}

TEST_F(DescriptorOfAPeer, holds_nobody_up_when_the_connection_is_closed_before_it_was_received) {
  const auto before = test::open_descriptors();
  {
    std::array<std::array<Fd, 2>, 2> readers;
    auto [here, there] = socket_pair();
    ASSERT_EQ(::send(here.get(), "", 0, 0), 0);  // which looks like the end
    ASSERT_EQ(send_packet(here, test::bytes_of("said last")), SendResult::sent);
    for (auto& pair : readers) pair = send_slow(here);
    ASSERT_EQ(send_packet(there, test::bytes_of("still read")), SendResult::sent);
    close_connection(std::move(there));
    EXPECT_EQ(send_packet(here, test::bytes_of("too late")), SendResult::closed);
    std::array<std::byte, max_packet> buffer;
    EXPECT_EQ(receive_packet(here, buffer).kind, Received::Kind::packet);
    EXPECT_EQ(receive_packet(here, buffer).kind, Received::Kind::closed);
  }
  await([&] { return test::open_descriptors() == before; });
}

TEST_F(DescriptorOfAPeer, is_not_asked_for_what_it_is_when_the_connection_is_closed_that_is_full_of_them) {
  constexpr std::size_t most_in_a_packet = 253;
  for (const std::size_t count : {most_in_a_packet, max_descriptors}) {
    auto [here, there] = socket_pair();
    while (test::send_many(here, count)) {
    }
    fault::disarm();  // which counts from zero
    close_connection(std::move(there));
    EXPECT_LE(fault::passed(fault::Call::fcntl) + fault::passed(fault::Call::readlink), static_cast<int>(2 * most_in_a_packet)) << count;
  }
}

TEST(Connection, that_is_closed_while_packets_are_unread_needs_no_thread_for_it) {
  await_closers();
  auto [here, there] = socket_pair();
  const Fd memory = create_memfd("sent", page_size());
  for (int i = 0; i < 3; ++i) ASSERT_EQ(send_packet(here, test::bytes_of("unread"), std::array{memory.get()}), SendResult::sent);
  close_connection(std::move(there));
  EXPECT_EQ(closers(), 0);
}

}  // namespace
}  // namespace sinew::os
