// What a client of another user can do to a provider: to get no answers itself.
#include <sys/socket.h>

#include <atomic>
#include <thread>

#include "shm/ring.hpp"
#include "tests/system/foreign.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/service.hpp"
#include "tests/system/stranger.hpp"
#include "wire/topic_name.hpp"

namespace sinew::system {
namespace {

// Says without pause that it has sent thousands of requests more, which were written over before the provider could take them.
ROLE(foreign_client_whose_requests_are_lost) {
  become_stranger();
  Stranger stranger("attacker");
  Talk pair =
      stranger.meet_subscriber<ServiceRequest<Work::Request>>(wire::request_topic("work"), {.depth = 0, .reliable = true}, 0x5117'0000);
  const auto attach = pair.receive();
  require(attach && std::holds_alternative<wire::AttachForeign>(*attach), "no AttachForeign");
  Page ring((sizeof(shm::RingLayout) + 4095) / 4096 * 4096);
  shm::initialise(ring.as<shm::RingLayout>());
  pair.send(wire::Ring{static_cast<std::uint32_t>(ring.mapping.size()), 1}, {ring.file.get()});
  std::atomic<bool> over{false};
  std::thread sender([&] {
    while (!over) ring.as<shm::RingLayout>().header.head.fetch_add(5000);
  });
  pair.send(wire::News{});
  std::thread teller([&] {  // as a good client would
    while (const auto answer = pair.receive()) {
      if (std::holds_alternative<wire::NewsTaken>(*answer)) pair.send(wire::News{});
    }
  });
  say("attacks");
  until_finished();
  over = true;
  sender.join();
  ::shutdown(pair.socket().get(), SHUT_RDWR);
  teller.join();
}

TEST_F(Foreign, AClientOfAnotherUserWhoseRequestsAreLostWithoutPauseKeepsNobodyElseOfTheNodeWaiting) {
  auto node = Node::create("provider");
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "provider"); });
  auto own = Node::create("client");
  auto client = own->create_service_client<Work::Request, Work::Response>("work");
  EXPECT_TRUE(is_right(*client->call_and_wait(addition(1)), 1));
  const std::size_t bytes = private_bytes_of(::getpid());
  Child attacker("foreign_client_whose_requests_are_lost");
  attacker.expect("attacks");
  const auto until = std::chrono::steady_clock::now() + soak();
  for (std::uint64_t number = 2; std::chrono::steady_clock::now() < until; ++number) {
    ASSERT_NO_THROW((void)node->create_publisher<Sample>("topic"));
    ASSERT_TRUE(is_right(*client->call_and_wait(addition(number)), number));
  }
  const std::size_t more = sanitized ? std::size_t{512} << 20 : std::size_t{32} << 20;  // whose allocators keep what was freed
  EXPECT_LT(private_bytes_of(::getpid()), bytes + more) << "it grows by what a stranger writes";
  attacker.end();
}

}  // namespace
}  // namespace sinew::system
