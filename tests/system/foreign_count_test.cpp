// What is counted where publishers and subscribers belong to different users.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "base/point.hpp"
#include "os/fault.hpp"
#include "shm/layout.hpp"
#include "tests/system/foreign.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

class ForeignCount : public Foreign {};

ROLE(counting_subscriber) {
  become_stranger();
  auto node = Node::create("stranger");
  std::atomic<std::uint64_t> last{0};
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample& sample) { last = sample.number; });
  require(eventually([&] { return subscriber->statistics().publishers == 1; }), "no publisher");
  say("ready");
  const std::uint64_t count = std::stoull(next_order());
  base::let_go();
  require(eventually([&] { return last == count; }), "the last message does not come");
  const SubscriberStatistics statistics = subscriber->statistics();
  require(statistics.missed > 0 && statistics.rejected == 0 && statistics.withdrawn == 0, "what is lost is taken for something else");
  require(statistics.received + statistics.missed == count, "messages are counted twice, or not at all");
  require(subscriber->publishers().at(0).received == statistics.received, "the connection counts otherwise");
}

TEST_F(ForeignCount, AMessageThatIsGoneWhenItHasBeenReadIsMissedAndNotReceivedNorRejected) {
  for (const std::size_t growth : {0U, 100'000U}) {  // with larger ones its memory goes as well
    auto node = Node::create("camera");
    auto publisher = node->create_publisher<Sample>("topic");
    Child slow("counting_subscriber", {}, {{"SINEW_AT", "subscriber.claimed:1:hold"}});
    slow.expect("ready");
    await_subscribers(*publisher, 1);
    for (std::uint64_t number = 1; number <= 30; ++number) publish_in_place(*publisher, 1, number, 1000 + number * growth);
    slow.order("30");
    slow.end();
  }
}

ROLE(subscriber_that_adds_up) {
  become_stranger();
  auto node = Node::create("stranger");
  std::atomic<std::uint64_t> last{0}, wrong{0};
  auto subscriber = node->create_subscriber<Sample>(
      "topic",
      [&](const Sample& sample, const MessageInfo& info) {
        wrong += info.sequence != last + info.missed + 1;
        if (last.exchange(sample.number) == 0) say("first");
      },
      Qos{}.keep_last(5));
  require(eventually([&] { return subscriber->statistics().publishers == 1; }), "no publisher");
  say("ready");
  require(eventually(base::is_held), "it takes no second message");
  say("held");
  require(next_order() == "go on", "another order");
  base::let_go();
  require(eventually([&] { return last == 60; }), "the last message does not come");
  require(wrong == 0, "a message does not say what was missed before it");
}

// Those before it have pushed some out; then it is gone itself when it has been read.
TEST_F(ForeignCount, WhatWasMissedBeforeAMessageThatIsGoneIsToldWithTheNextOne) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  Child slow("subscriber_that_adds_up", {}, {{"SINEW_AT", "subscriber.claimed:2:hold"}});
  slow.expect("ready");
  await_subscribers(*publisher, 1);
  std::uint64_t number = 0;
  const auto publish = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) publish_in_place(*publisher, 1, ++number, 1000);
  };
  publish(1);
  slow.expect("first");
  slow.stop();
  publish(29);
  slow.go_on();
  slow.expect("held");
  publish(30);
  slow.order("go on");
  slow.end();
}

TEST_F(ForeignCount, AMessageThatThereIsNoRoomToExportIsNotCountedAsExported) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}, {.memory_budget = 8 << 20});
  Child stranger("counting_subscriber");
  stranger.expect("ready");
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, 5'000'000);
  const std::uint64_t exported = publisher->statistics().bytes_exported;
  EXPECT_GT(exported, 5'000'000U);
  EXPECT_EQ(publish_in_place(*publisher, 1, 2, 5'000'000), PublishResult::published);
  EXPECT_EQ(publisher->statistics().bytes_exported, exported);
  publish_in_place(*publisher, 1, 3, 10);
  stranger.order("3");
  stranger.end();
}

// As an export looks while the ninth message is written over the first.
ROLE(publisher_that_writes_over) {
  become_stranger();
  Stranger stranger("camera");
  Talk pair = stranger.meet_subscriber<Sample>("topic");
  require(pair.receive().has_value(), "no AttachForeign");
  Page ring((sizeof(shm::RingLayout) + 4095) / 4096 * 4096);
  shm::initialise(ring.as<shm::RingLayout>());
  ring.as<shm::RingLayout>().header.head.store(8);
  pair.send(wire::Ring{static_cast<std::uint32_t>(ring.mapping.size()), 1}, {ring.file.get()});
  until_finished();
}

TEST_F(ForeignCount, AMessageThatWasWrittenOverIsMissedAndNotWithdrawn) {
  auto node = Node::create("viewer");
  auto subscriber = node->create_subscriber<Sample>("topic", [](const Sample&) {});
  Child camera("publisher_that_writes_over");
  EXPECT_TRUE(eventually([&] { return subscriber->statistics().missed == 8; }));
  EXPECT_EQ(subscriber->statistics().withdrawn, 0U);
  camera.end();
}

ROLE(subscriber_that_follows) {
  become_stranger();
  auto node = Node::create("stranger");
  std::atomic<std::uint64_t> last{0};
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample& sample) { last = sample.number; });
  for (std::string order; (order = next_order()) != "end";) {
    const std::uint64_t number = std::stoull(order);
    require(eventually([&] { return last == number; }), "message " + std::to_string(number) + " does not come");
    say("got it");
  }
}

TEST_F(ForeignCount, AReaderThatCouldNotBeToldOfAMessageIsToldOfTheNextOne) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  Child reader("subscriber_that_follows");
  await_subscribers(*publisher, 1);
  std::uint64_t number = 0;
  const auto publish = [&] { publish_in_place(*publisher, 1, ++number, 10); };
  const auto is_followed = [&] {
    reader.order(std::to_string(number));
    reader.expect("got it");
  };
  for (std::uint64_t i = 0; i < 2 * shm::export_depth; ++i) {  // it hears of chunks, too, until it has all
    publish();
    is_followed();
  }
  // Its answer to the last news has to be heard first: with that the thread for sockets would tell it of the next message, and ends the
  // connection when it cannot. It was sent before the message was taken, so it is heard before what is asked for twice from now on.
  for (int i = 0; i < 2; ++i) (void)node->domain_state();
  os::fault::arm(os::fault::Call::send, 1, EPERM);
  EXPECT_TRUE(eventually([&] {
    publish();
    return os::fault::passed(os::fault::Call::send) > 0;
  }));
  os::fault::disarm();
  publish();
  is_followed();
  reader.order("end");
  reader.end();
}

}  // namespace
}  // namespace sinew::system
