#include "session/io/channel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "os/clock.hpp"
#include "os/fault.hpp"

namespace sinew::session {
namespace {

/// Flushes its channel when it is told to, and counts how often that was.
class Flusher final : public IoLoop::Handler {
 public:
  explicit Flusher(os::Fd socket) : channel(std::move(socket)) {}

  void on_event(const os::Poller::Event& event) override {
    if (!event.writable) return;
    ++times;
    if (shortage) os::fault::arm(os::fault::Call::send, 1, ETOOMANYREFS);
    channel.flush();
  }

  Channel channel;
  std::atomic<int> times{0};
  std::atomic<bool> shortage{false};
};

/// A channel that a loop flushes, and who reads from it.
struct Watched {
  Watched() {
    loop.start("test");
    sender->channel.watch(loop, sender);
  }
  ~Watched() {
    sender->channel.unwatch();
    loop.stop();
  }

  std::pair<os::Fd, os::Fd> ends = os::socket_pair();
  IoLoop loop;
  const std::shared_ptr<Flusher> sender = std::make_shared<Flusher>(std::move(ends.first));
  Channel receiver{std::move(ends.second)};
};

std::optional<std::uint64_t> next_id(Channel& channel) {
  os::Poller poller;
  os::Poller::Event event;
  poller.add(channel.socket(), 0);
  poller.wait({&event, 1}, os::now_ns() + 60'000'000'000);
  const auto input = channel.receive();
  if (!input) return std::nullopt;
  return std::get<wire::DeletePublisher>(input->message).id;
}

TEST(Channel, S6_what_a_shortage_in_the_kernel_held_back_is_tried_again_after_pauses_and_in_order) {
  Watched watched;
  const auto& sender = watched.sender;
  Channel& receiver = watched.receiver;

  const std::int64_t begin = os::now_ns();
  sender->shortage = true;
  os::fault::arm(os::fault::Call::send, 1, ETOOMANYREFS);
  sender->channel.send(wire::DeletePublisher{1});
  sender->channel.send(wire::DeletePublisher{2});
  while (sender->times < 3) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const int times = sender->times;
  // Not a busy loop: the socket is writable all the while.
  EXPECT_LE(times, (os::now_ns() - begin) / 100'000'000);
  sender->shortage = false;
  EXPECT_EQ(next_id(receiver), 1U);
  EXPECT_EQ(next_id(receiver), 2U);
}

TEST(Channel, What_a_full_socket_held_back_is_sent_when_there_is_room) {
  Watched watched;
  const auto& sender = watched.sender;
  Channel& receiver = watched.receiver;
  constexpr std::uint64_t count = 10'000;
  for (std::uint64_t id = 1; id <= count; ++id) sender->channel.send(wire::DeletePublisher{id});
  for (std::uint64_t id = 1; id <= count; ++id) ASSERT_EQ(next_id(receiver), id);
  EXPECT_GT(sender->times, 0);
}

TEST(Channel, W66_no_more_than_a_limit_waits_for_a_peer_that_does_not_read) {
  auto [here, there] = os::socket_pair();
  Channel sender(std::move(here)), receiver(std::move(there));
  std::uint64_t sent = 0;
  const auto fill = [&] {
    EXPECT_THROW(
        {
          for (int i = 0; i < 100'000; ++i) {
            sender.send(wire::DeletePublisher{sent + 1});
            ++sent;
          }
        },
        Violation);
  };
  fill();
  for (std::uint64_t id = 1; id <= sent; ++id) {
    sender.flush();
    ASSERT_EQ(next_id(receiver), id);
  }
  const std::uint64_t once = sent;
  fill();
  EXPECT_EQ(sent, 2 * once) << "what was read counts no more";
}

TEST(Channel, what_it_throws_for_is_not_sent_after_all) {
  Watched watched;
  const auto& sender = watched.sender;
  Channel& receiver = watched.receiver;
  std::uint64_t filled = 0;
  while (os::send_packet(sender->channel.socket(), wire::encode(wire::DeletePublisher{filled + 1})) == os::SendResult::sent) ++filled;
  os::fault::arm(os::fault::Call::epoll_ctl, 1, ENOMEM);
  EXPECT_THROW(sender->channel.send(wire::DeletePublisher{filled + 1}), std::exception);
  os::fault::disarm();
  sender->channel.send(wire::DeletePublisher{filled + 1});
  sender->channel.send(wire::DeletePublisher{filled + 2});
  for (std::uint64_t id = 1; id <= filled + 2; ++id) ASSERT_EQ(next_id(receiver), id);
}

}  // namespace
}  // namespace sinew::session
