// What a client of another user can do to a provider: to get no answers itself. And what does not go to another user for its size.
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

// --- size --------------------------------------------------------------------------------------------------------------------------------

constexpr const char* beyond_an_eighth =
    "It needs 2.1 MiB, more than an eighth of the memory_budget of 8.0 MiB, which is what one message to another user may take: raise "
    "memory_budget, or make the message smaller.";

TEST_F(Foreign, ARequestOfMoreThanAnEighthOfTheMemoryBudgetFailsForThatAndNotForTheReasonOfAnother) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work", {.memory_budget = 8 << 20});
  Child provider = worker("provider", "stranger");
  await_providers(*client, 1);
  {
    const WorkLoan beyond_all = loaned_addition(*client, 1, 3 << 20);
  }
  Work::Request request = addition(1);
  request.terms.resize(262'144);
  EXPECT_EQ(error_of(client->call(request)), std::string("service 'work': there is no memory for the request. ") + beyond_an_eighth);
  request.terms.resize(115'000);
  EXPECT_TRUE(is_right(client->call(request).get(), 1));
  provider.end();
}

// Asks for a response of 2 MiB, and for one that is smaller.
ROLE(foreign_client_that_asks_for_much) {
  become_stranger();
  auto node = Node::create("stranger");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  say(error_of(client->call(addition(1, 1, 2 << 20))));
  say(is_right(client->call(addition(2, 1, 900'000)).get(), 2, 1, 900'000) ? "right" : "wrong");
  until_finished();
}

TEST_F(Foreign, AResponseOfMoreThanAnEighthOfTheMemoryBudgetBecomesAnErrorThatSaysSo) {
  auto node = Node::create("provider");
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "provider"); }, {.memory_budget = 8 << 20});
  Child client("foreign_client_that_asks_for_much");
  client.expect(std::string("service 'work': the provider has no memory for the response. ") + beyond_an_eighth);
  client.expect("right");
  client.end();
}

}  // namespace
}  // namespace sinew::system
