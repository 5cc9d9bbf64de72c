// Does with the manager's socket all that nobody should.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <thread>

#include "os/event.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "os/socket.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

using Random = std::mt19937_64;

os::Fd connect() {
  auto socket = os::connect_to(std::getenv("SINEW_DOMAIN"));
  require(socket.has_value(), "the manager is gone");
  return std::move(*socket);
}

/// Whatever the kernel lets through, and the library would not send.
bool is_sent(const os::Fd& socket, std::span<const std::byte> bytes, std::span<const int> descriptors = {}) {
  iovec data{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  msghdr packet{};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  std::vector<std::byte> control(CMSG_SPACE(descriptors.size_bytes()));
  if (!descriptors.empty()) {
    packet.msg_control = control.data();
    packet.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&packet);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  return ::sendmsg(socket.get(), &packet, MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(bytes.size());
}

bool is_sent(const os::Fd& socket, const wire::Message& message) {
  return is_sent(socket, wire::encode(message));
}

/// A connection that is a node, or as much of one as the manager believes.
os::Fd enter(Random& random) {
  os::Fd socket = connect();
  is_sent(socket, wire::RegisterNode{wire::protocol_version, "hostile_" + std::to_string(random())});
  return socket;
}

wire::Qos some_qos(Random& random) {
  return {.depth = static_cast<std::uint32_t>(random() % 10), .reliable = random() % 2 == 0};
}

/// Any message, right or wrong for a node.
wire::Message some_message(Random& random) {
  const std::uint64_t id = random() % 4;
  const wire::TypeDescription type = Stranger::type<Sample>();
  switch (random() % 13) {
    case 0:
      return wire::RegisterNode{static_cast<std::uint32_t>(random() % 3), "hostile"};
    case 1:
      return wire::RegisterPublisher{id, "attacked/" + std::to_string(random() % 4), type, some_qos(random)};
    case 2:
      return wire::RegisterSubscriber{id, "attacked/" + std::to_string(random() % 4), type, some_qos(random)};
    case 3:
      return wire::DeletePublisher{id};
    case 4:
      return wire::DeleteSubscriber{id};
    case 5:
      return wire::WindowReleased{{random(), random()}};
    case 6:
      return wire::ConnectTaken{random() % 100};
    case 7:
      return wire::MemoryMapped{id, random()};
    case 8:
      return wire::WatchDomain{id, random() % 2 == 0};
    case 11:
      return wire::Counters{static_cast<std::uint32_t>(random())};
    case 9:
      return wire::DomainTaken{id};
    case 10:
      return wire::Goodbye{};
    default:
      return wire::NodeRefused{0, "you are dismissed"};
  }
}

// --- what it does ----------------------------------------------------------------------------------------------------------------------

void send_noise(Random& random) {
  const os::Fd socket = connect();
  std::vector<std::byte> noise(random() % 5 == 0 ? 0 : random() % (os::max_packet + 4096));
  std::ranges::generate(noise, [&] { return static_cast<std::byte>(random()); });
  is_sent(socket, noise);
}

void send_wrong_lengths(Random& random) {
  const os::Fd socket = random() % 2 == 0 ? connect() : enter(random);
  std::vector<std::byte> bytes = wire::encode(some_message(random));
  bytes.resize(random() % (2 * bytes.size()));
  if (!bytes.empty() && random() % 2 == 0) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
  is_sent(socket, bytes);
}

void send_wrong_messages(Random& random) {
  const os::Fd socket = enter(random);
  for (int i = 0; i < 20 && is_sent(socket, some_message(random)); ++i) {
  }
}

void send_descriptors(Random& random) {
  const os::Fd socket = connect();
  const os::Fd eventfd = os::create_eventfd(), memory = os::create_memfd("hostile", os::page_size()), null(::open("/dev/null", O_RDONLY));
  auto [one, other] = os::socket_pair();
  const std::array<int, 5> kinds = {eventfd.get(), memory.get(), null.get(), one.get(), socket.get()};
  std::vector<int> descriptors(1 + random() % 200);
  std::ranges::generate(descriptors, [&] { return kinds[random() % kinds.size()]; });
  is_sent(socket, wire::encode(wire::RegisterNode{wire::protocol_version, "hostile"}), descriptors);
}

/// As many files of counters as a node may have, and one more; none of them is any.
void send_counters(Random& random) {
  const os::Fd socket = enter(random);
  const os::Fd memory = os::create_memfd("hostile", os::page_size()), null(::open("/dev/null", O_RDONLY));
  for (int i = 0; i < 13; ++i) {
    const int descriptor = random() % 2 == 0 ? memory.get() : null.get();
    if (!is_sent(socket, wire::encode(wire::Counters{static_cast<std::uint32_t>(random() % 3 * 4096)}), {&descriptor, 1})) return;
  }
}

/// Subscribes to what others publish, many times, and answers nothing.
void attract_introductions(Random& random) {
  const os::Fd socket = enter(random);
  for (std::uint64_t id = 1; id <= 50; ++id) {
    if (!is_sent(socket, wire::RegisterSubscriber{id, "topic", Stranger::type<Sample>(), {.depth = 0, .reliable = true}})) return;
  }
}

/// As many connections as it has descriptors for, some of them nodes; all end at once.
void connect_thousands(Random& random, std::size_t most) {
  std::vector<os::Fd> sockets;
  while (sockets.size() < most) sockets.push_back(random() % 4 == 0 ? enter(random) : connect());
}

/// Nodes that are told the state of the domain, which is long since there is a topic of a long type, again and again, and read nothing of it.
void never_read(Random& random) {
  const os::Fd loud = enter(random);
  wire::TypeDescription type = Stranger::type<Sample>();
  type.signature.assign(30'000, 'x');
  for (std::uint64_t id = 1; id <= 3; ++id)
    is_sent(loud, wire::RegisterSubscriber{id, "loud/" + std::to_string(random()), type, {.depth = 1}});
  std::vector<os::Fd> deaf;
  for (int i = 0; i < 100; ++i) deaf.push_back(enter(random));
  for (std::uint64_t id = 1; id <= 60; ++id) {
    for (const os::Fd& socket : deaf) {
      is_sent(socket, wire::WatchDomain{id, true});
      is_sent(socket, wire::UnwatchDomain{id});
    }
  }
}

// seed: until there are no more orders
ROLE(hostile) {
  os::allow_many_descriptors();
  Random random(std::stoull(arguments.at(0)));
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t most = std::min<std::size_t>(2000, limit.rlim_max / 4);  // the manager's is the same
  std::atomic<bool> over{false};
  std::uint64_t rounds = 0;
  say("ready");
  std::thread attack([&] {
    while (!over) {
      switch (random() % 60) {
        case 0:
          connect_thousands(random, most);
          break;
        case 1:
          never_read(random);
          break;
        case 2:
        case 3:
          attract_introductions(random);
          break;
        default: {
          constexpr std::array short_ones = {&send_noise, &send_wrong_lengths, &send_wrong_messages, &send_descriptors, &send_counters};
          short_ones[random() % short_ones.size()](random);
        }
      }
      ++rounds;
    }
  });
  until_finished();
  over = true;
  attack.join();
  say(std::to_string(rounds));
}

/// Waits for room, and reads what there is. False when the manager has ended the connection.
bool is_sent_at_last(const os::Fd& socket, const wire::Message& message, std::span<std::byte> buffer) {
  os::Poller poller;
  poller.add(socket, 0, true);
  for (bool sent = false;;) {
    auto kind = os::Received::Kind::packet;
    while (kind == os::Received::Kind::packet) kind = os::receive_packet(socket, buffer).kind;
    if (kind == os::Received::Kind::closed) return false;
    if (sent) return true;
    sent = is_sent(socket, message);
    os::Poller::Event event;
    if (!sent) poller.wait({&event, 1});
  }
}

// subscribers, that the manager looks through for each publisher that it is told of: until there are no more orders. At each order it says how many publishers that were so far.
ROLE(dear) {
  const Stranger stranger("dear");
  const os::Fd& socket = stranger.manager.socket();
  const wire::TypeDescription type = Stranger::type<Sample>();
  std::vector<std::byte> buffer(os::max_packet);
  for (std::uint64_t id = 1; id <= std::stoull(arguments.at(0)); ++id) {
    require(is_sent_at_last(socket, wire::RegisterSubscriber{id, "dear", type, {.depth = 1, .reliable = true}}, buffer), "it is dropped");
  }
  const wire::NodeRegistered& welcome = stranger.welcome;
  const wire::Window window{welcome.range_base + (welcome.window_count - 1) * welcome.window_size, welcome.window_size};
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> publishers{0};
  std::thread attack([&] {
    for (bool is_there = true; !over && is_there; publishers += is_there) {
      const std::uint64_t id = publishers + 1;
      wire::RegisterPublisher publisher{id, "dear", type, {.depth = 1}};
      publisher.window = window;
      is_there = is_sent_at_last(socket, publisher, buffer) && is_sent_at_last(socket, wire::DeletePublisher{id}, buffer) &&
                 is_sent_at_last(socket, wire::WindowReleased{window}, buffer);
    }
  });
  say("ready");
  for (std::string order; std::getline(std::cin, order);) say(std::to_string(publishers));
  over = true;
  attack.join();
}

}  // namespace
}  // namespace sinew::system
