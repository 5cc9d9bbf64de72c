// A thread is held between two steps of a protocol, while the other side does all of its own: each of these fails when the steps change places, or one is left out.
#include <semaphore>
#include <thread>

#include "base/point.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

class Order : public Domain {
 protected:
  static void run(const std::string& role, const Arguments& arguments, const std::string& at) {
    Child child(role, arguments, {{"SINEW_AT", at}});
    EXPECT_EQ(child.wait(), 0) << child.errors();
  }
};

// --- what a reader has claimed -------------------------------------------------------------------------------------------------------------

constexpr std::size_t size_of_all = 40'000;  // so large that memory is looked after before each message

// The second message is taken while the publisher, having looked for claims, has yet to decide what nobody needs: the first one.
ROLE(publisher_that_looks_for_claims) {
  auto node = Node::create("node");
  // All in one chunk: of a second one the reader would not hear while the publisher, which is held, has its mutex.
  auto publisher = node->create_publisher<Sample>("topic", Qos{}, {.prefault = 128 << 10});
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_all(), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, size_of_all);
  publish_in_place(*publisher, 1, 2, size_of_all);
  take_soon(*subscriber);
  std::thread next([&] { publish_in_place(*publisher, 1, 3, size_of_all); });
  require(eventually(base::is_held), "it does not look for claims");
  const auto kept = take_soon(*subscriber);
  base::let_go();
  next.join();
  for (std::uint64_t number = 4; number < 50; ++number) publish_in_place(*publisher, 1, number, size_of_all);
  require(kept && kept->number == 2 && is_whole(*kept), "what is held has changed");
}

TEST_F(Order, S14_WhoDecidesWhatNobodyNeedsReadsCursorsBeforeClaims) {
  run("publisher_that_looks_for_claims", {}, "publisher.claims_gathered:1:hold");
}

Work::Request numbered(std::uint64_t number) {
  return {.number = number, .what = "", .terms = std::vector<std::int64_t>(5000, static_cast<std::int64_t>(number))};
}

// Says whether the first request still is what it was, when it is told to.
ROLE(provider_that_keeps_a_request) {
  std::binary_semaphore pass(0);
  auto node = Node::create("provider");
  auto provider = node->create_service_provider<Work::Request, Work::Response>("work", [&](const Work::Request& request) {
    if (request.number == 1) {
      say("has it");
      pass.acquire();
      say(request.number == 1 && request.terms == numbered(1).terms ? "unchanged" : "changed");
    }
    return Work::Response{};
  });
  say("ready");
  for (std::string order; std::getline(std::cin, order);) pass.release();
}

// The same with a lane.
ROLE(client_that_looks_for_claims) {
  auto node = Node::create("client");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  Child provider("provider_that_keeps_a_request", {}, {{"SINEW_AT", ""}});
  provider.expect("ready");
  await_providers(*client, 1);
  provider.stop();
  client->call(numbered(1));
  std::thread next([&] { client->call(numbered(2)); });
  require(eventually(base::is_held), "it does not look for claims");
  provider.go_on();
  provider.expect("has it");
  base::let_go();
  next.join();
  for (std::uint64_t number = 3; number < 50; ++number) client->call(numbered(number));
  provider.order("go on");
  require(provider.line() == "unchanged", "what is held has changed");
  provider.end();
}

TEST_F(Order, S14_SoDoesWhoSendsRequests) {
  run("client_that_looks_for_claims", {}, "publisher.claims_gathered:1:hold");
}

// --- claiming --------------------------------------------------------------------------------------------------------------------------------

// Each message has the number of its sequence.
ROLE(reader_that_is_stopped) {
  auto node = Node::create("reader");
  std::atomic<std::uint64_t> last{0};
  std::atomic<int> wrong{0};
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample& sample, const MessageInfo& info) {
    wrong += sample.number != info.sequence || !is_whole(sample);
    last = sample.number;
  });
  say("ready");
  next_order();
  require(eventually([&] { return last == 5000; }), "the newest does not come");
  require(wrong == 0, "a message came as another one");
}

class Claiming : public Order, public ::testing::WithParamInterface<const char*> {};

TEST_P(Claiming, F1_AReaderThatIsStoppedNeverTakesOneMessageForAnother) {
  for (const char* pass : {"1", "3"}) {
    auto node = Node::create("publisher");
    auto publisher = node->create_publisher<Sample>("topic");
    Child reader("reader_that_is_stopped", {}, {{"SINEW_AT", std::string(GetParam()) + ":" + pass + ":stop"}});
    reader.expect("ready");
    await_subscribers(*publisher, 1);
    std::uint64_t number = 0;
    EXPECT_TRUE(eventually([&] {
      if (number < 2000) publish_in_place(*publisher, 1, ++number, 100);  // what comes last is enough to stop it, however late it looks
      return reader.is_stopped();
    }));
    while (number < 5000) publish_in_place(*publisher, 1, ++number, 100);  // over all entries of the ring, several times
    reader.go_on();
    reader.order("look");
    reader.end();
  }
}

INSTANTIATE_TEST_SUITE_P(At, Claiming, ::testing::Values("claim.stored", "claim.first_look", "claim.copied"), [](const auto& label) {
  std::string name = label.param;
  name[name.find('.')] = '_';
  return name;
});

// --- falling asleep --------------------------------------------------------------------------------------------------------------------------

// Wakes it with one message after the other, until it is held on its way back to sleep; then one more comes.
void send_one_to_who_falls_asleep(Publisher<Sample>& publisher, const std::atomic<std::uint64_t>& received) {
  std::uint64_t sent = 0;
  const auto send = [&] { publish_in_place(publisher, 1, ++sent, 100); };
  require(eventually([&] {
            if (received == sent) send();
            return base::is_held();
          }),
          "it does not fall asleep");
  send();  // it has not said that it sleeps, so nobody wakes it
  base::let_go();
  const bool is_received = eventually([&] { return received == sent; });
  send();  // which wakes it at the latest
  require(is_received, "it sleeps over a message");
}

ROLE(callback_that_falls_asleep) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  std::atomic<std::uint64_t> received{0};
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample&) { ++received; }, lossless(), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  send_one_to_who_falls_asleep(*publisher, received);
}

TEST_F(Order, S1_AThreadThatFallsAsleepSeesWhatCameMeanwhile) {
  for (const char* pass : {"4", "9"}) run("callback_that_falls_asleep", {}, std::string("thread.falls_asleep:") + pass + ":hold");
}

ROLE(taker_that_falls_asleep) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  auto subscriber = node->create_subscriber<Sample>("topic", lossless(), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  std::atomic<std::uint64_t> received{0};
  std::thread taking([&] {
    while (subscriber->take(std::chrono::hours(1))) ++received;
  });
  struct End {
    std::shared_ptr<Node>& node;
    std::thread& taking;
    ~End() {
      node.reset();  // then nothing comes any more
      taking.join();
    }
  } const end{node, taking};
  send_one_to_who_falls_asleep(*publisher, received);
}

TEST_F(Order, S1_SoDoesWhoWaitsForAMessage) {
  for (const char* pass : {"4", "9"}) run("taker_that_falls_asleep", {}, std::string("subscription.falls_asleep:") + pass + ":hold");
}

}  // namespace
}  // namespace sinew::system
