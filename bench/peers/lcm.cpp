// LCM by its default, UDP multicast, which stays on this machine (ttl=0): the header and the payload as the bytes of a message, without
// lcm-gen's encoding, which would copy once more. The kernel's receive buffer is as large as it allows; nothing else holds a sender back,
// so that what finds no room is lost, and with one datagram the whole message. By the loopback datagrams are large: it takes a network
// whose route of 239.255.76.67 is lo.
#include <lcm/lcm.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "clock.hpp"
#include "driver.hpp"

namespace {

using namespace sinew::bench;
using namespace sinew::bench::peers;

constexpr unsigned depth = 8;

/// What the kernel grants a socket that asks for a great deal: LCM complains when it gets less than it asks for. The kernel doubles what is
/// asked for, and says so.
int largest_buffer() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  int size = std::numeric_limits<int>::max() / 2;
  socklen_t length = sizeof size;
  setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, &length);
  close(socket);
  return size / 2;
}

/// A port for each cell, below those that the kernel gives to anybody.
std::uint16_t port_of(const Run& run) {
  constexpr std::size_t first = 10'000, ports = 20'000;
  return static_cast<std::uint16_t>(first + std::hash<std::string>{}(run.folder) % ports);
}

using Lcm = std::unique_ptr<lcm_t, decltype(&lcm_destroy)>;

Lcm join(const Run& run) {
  const std::string address =
      "udpm://239.255.76.67:" + std::to_string(port_of(run)) + "?ttl=0&recv_buf_size=" + std::to_string(largest_buffer());
  Lcm lcm(lcm_create(address.c_str()), lcm_destroy);
  if (lcm == nullptr) throw std::runtime_error("LCM cannot use multicast here");
  return lcm;
}

/// LCM does not know who listens, so subscribers say it in the folder.
std::string file_of(const Run& run, unsigned subscriber) {
  return run.folder + "/there-" + std::to_string(subscriber);
}

bool all_there(const Run& run) {
  for (unsigned subscriber = 0; subscriber < run.subscribers; ++subscriber) {
    if (!std::filesystem::exists(file_of(run, subscriber))) return false;
  }
  return true;
}

void publish(const Run& run) {
  const Lcm lcm = join(run);
  connect([&] { return all_there(run); });
  std::vector<std::uint8_t> message(sizeof(Header) + run.largest());
  publish_all(run, [&](Header& header, Work& work) {
    const std::size_t size = header.size;
    work.fill(header, {message.data() + sizeof header, size});
    header.sent = now_ns();
    std::memcpy(message.data(), &header, sizeof header);
    if (lcm_publish(lcm.get(), run.topic.c_str(), message.data(), static_cast<unsigned>(sizeof header + size)) != 0)
      throw std::runtime_error("LCM did not publish a message");
  });
}

void receive(const lcm_recv_buf_t* message, const char*, void* arrivals) {
  Header header;
  if (message->data_size < sizeof header) throw std::runtime_error("a message of another cell came");
  const auto* const bytes = static_cast<const std::uint8_t*>(message->data);
  std::memcpy(&header, bytes, sizeof header);
  static_cast<Arrivals*>(arrivals)->add(header, {bytes + sizeof header, message->data_size - sizeof header});
}

void subscribe(const Run& run, Arrivals& arrivals) {
  const Lcm lcm = join(run);
  lcm_subscription_t* const subscription = lcm_subscribe(lcm.get(), run.topic.c_str(), receive, &arrivals);
  if (subscription == nullptr) throw std::runtime_error("LCM did not subscribe");
  lcm_subscription_set_queue_capacity(subscription, static_cast<int>(depth * run.publishers));
  // LCM joins the group, and hears itself there, before it has subscribed.
  std::ofstream(file_of(run, run.index)).flush();
  connect([] { return true; });
  // LCM's thread that reads the socket sleeps, even where this one spins.
  while (arrivals.more()) {
    const bool fine = run.spins ? lcm_handle_timeout(lcm.get(), 0) >= 0 : lcm_handle(lcm.get()) == 0;
    if (!fine) throw std::runtime_error("LCM cannot receive");
  }
}

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, {publish, subscribe});
}
