// Subscribers that do not read messages in place: by choice, because their process has no room at the publisher's addresses, or because it was built otherwise.
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstring>
#include <iostream>
#include <map>
#include <span>
#include <string_view>
#include <thread>

#include "msg/cdr/cdr.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace robot {
struct Entry {
  std::string key;
  std::vector<std::uint32_t> value;
};
struct Readings {
  std::uint64_t number = 0;
  std::vector<Entry> by_sensor;
};
struct ReadingsInAMap {
  std::uint64_t number = 0;
  std::map<std::string, std::vector<std::uint32_t>> by_sensor;
};
}  // namespace robot

namespace sinew::system {

/// A Sample to a subscriber that wants its array in place, whatever path it comes by.
struct Glance {
  std::uint64_t writer = 0;
  std::uint64_t number = 0;
  std::string_view text;
  std::span<const std::uint8_t> data;
};

namespace {

constexpr std::size_t image_size = 1 << 20;

class View : public Domain {};

Delivery delivery_named(const std::string& name) {
  for (const Delivery delivery : {Delivery::native, Delivery::view, Delivery::copy}) {
    if (name == to_string(delivery)) return delivery;
  }
  fail("no delivery " + name);
}

/// Receives so many messages in their order, and says how.
void receive_all(std::shared_ptr<Node> node, const SubscriberOptions& options, std::uint64_t count) {
  std::atomic<std::uint64_t> received{0}, wrong{0};
  std::array<std::atomic<std::uint64_t>, 5> by{};
  auto subscriber = node->create_subscriber<Sample>(
      "topic",
      [&](const Sample& sample, const MessageInfo& info) {
        wrong += is_whole(sample) && sample.number == received + 1 ? 0 : 1;
        ++by.at(static_cast<std::size_t>(info.delivery));
        ++received;
      },
      lossless(), options);
  require(eventually([&] { return subscriber->statistics().publishers == 1; }), "no publisher");
  say("ready");
  require(eventually([&] { return received == count; }), "messages are missing");
  require(wrong == 0, "a message is not as it was published");
  std::string line;
  for (const Delivery delivery : {Delivery::native, Delivery::view, Delivery::copy}) {
    if (const std::uint64_t messages = by.at(static_cast<std::size_t>(delivery)); messages > 0)
      line += std::string(to_string(delivery)) + " " + std::to_string(messages) + " ";
  }
  say(line);
  until_finished();
}

ROLE(view_receiver) {
  SubscriberOptions options;
  if (!arguments.at(0).empty()) options.delivery = delivery_named(arguments.at(0));
  receive_all(Node::create("receiver"), options, std::stoull(arguments.at(1)));
}

TEST_F(View, EverySubscriberGetsEveryMessageHoweverItReads) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  Child native("view_receiver", {"native", "50"}, {{"SINEW_NODE", "native"}});
  Child view("view_receiver", {"view", "50"}, {{"SINEW_NODE", "view"}});
  Child copy("view_receiver", {"copy", "50"}, {{"SINEW_NODE", "copy"}});
  for (Child* each : {&native, &view, &copy}) each->expect("ready");
  await_subscribers(*publisher, 3);
  for (std::uint64_t number = 1; number <= 50; ++number) {
    ASSERT_EQ(publish_in_place(*publisher, 1, number, number % 3 == 0 ? 100 : image_size), PublishResult::published);
  }
  native.expect("native 50 ");
  view.expect("view 50 ");
  copy.expect("copy 50 ");
  EXPECT_EQ(publisher->statistics().bytes_copied, 0U);
  for (Child* each : {&native, &view, &copy}) each->end();
}

TEST_F(View, ASubscriberMayHaveAMapWhereThePublisherHasEntries) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<robot::Readings>("readings");
  auto subscriber = node->create_subscriber<robot::ReadingsInAMap>("readings");
  await_subscribers(*publisher, 1);
  ASSERT_EQ(publisher->publish(robot::Readings{7, {{"sonar", {1, 2}}, {"a sensor with a name of some length", {3}}}}),
            PublishResult::published);
  MessageInfo info;
  const auto message = take_soon(*subscriber, &info);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->number, 7U);
  EXPECT_EQ(message->by_sensor.at("sonar"), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(message->by_sensor.begin()->first, "a sensor with a name of some length");
  EXPECT_EQ(info.delivery, Delivery::view);
}

TEST_F(View, ThePublisherCopiesNoBigArrayForReadersOfPieces) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  auto native = node->create_subscriber<Sample>("topic");
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, image_size);
  const std::uint64_t without = publisher->statistics().memory_in_use;
  native.reset();
  SubscriberOptions options;
  options.delivery = Delivery::view;
  auto view = node->create_subscriber<Sample>("topic", Qos{}, options);
  await_subscribers(*publisher, 1);
  auto loan = publisher->loan();  // frees what nobody needs
  publish_in_place(*publisher, 1, 2, image_size);
  EXPECT_LT(publisher->statistics().memory_in_use, without + 4096);
  MessageInfo info;
  const auto message = take_soon(*view, &info);
  ASSERT_TRUE(message);
  EXPECT_TRUE(is_whole(*message));
  EXPECT_EQ(info.delivery, Delivery::view);
  EXPECT_GT(view->statistics().bytes_copied, image_size);
  const std::vector<MatchedPublisher> publishers = view->publishers();
  ASSERT_EQ(publishers.size(), 1U);
  EXPECT_EQ(publishers[0].node, "node");
  EXPECT_EQ(publishers[0].delivery, Delivery::view);
  EXPECT_EQ(publishers[0].why, "the subscriber asks for it");
  EXPECT_EQ(publishers[0].received, 1U);
  EXPECT_EQ(publishers[0].bytes_copied, view->statistics().bytes_copied);
}

TEST_F(View, CopiesHoldNothingOfThePublisherAndStayAsTheyAre) {
  for (const Delivery delivery : {Delivery::copy, Delivery::view}) {
    SCOPED_TRACE(to_string(delivery));
    auto node = Node::create("node");
    auto publisher = node->create_publisher<Sample>("topic");
    SubscriberOptions options;
    options.delivery = delivery;
    auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, options);
    await_subscribers(*publisher, 1);
    publish_in_place(*publisher, 1, 1, 1000);
    MessageInfo info;
    const auto message = take_soon(*subscriber, &info);
    ASSERT_TRUE(message);
    EXPECT_EQ(info.delivery, delivery);
    EXPECT_EQ(publisher->subscribers().at(0).held, 0U);
    publisher.reset();
    node.reset();
    EXPECT_TRUE(is_whole(*message));
  }
}

TEST_F(View, ViewsReferToBigArraysWhereTheyLieAndKeepThemThere) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(2));
  auto native = node->create_subscriber<Sample>("topic");
  auto viewer = node->create_subscriber<Glance>("topic");
  await_subscribers(*publisher, 2);
  publish_in_place(*publisher, 1, 1, image_size);
  const auto sample = take_soon(*native);
  MessageInfo info;
  auto glance = take_soon(*viewer, &info);
  ASSERT_TRUE(sample && glance);
  EXPECT_EQ(info.delivery, Delivery::view);
  EXPECT_EQ(glance->data.data(), sample->data.data());  // both in this process, which has the chunk once
  EXPECT_EQ(glance->data.size(), image_size);
  EXPECT_EQ(glance->text, sample->text);
  EXPECT_EQ(glance->number, 1U);
  EXPECT_LT(viewer->statistics().bytes_copied, 4096U);
  EXPECT_EQ(viewer->statistics().held, 1U);
  for (std::uint64_t number = 2; number <= 20; ++number) publish_in_place(*publisher, 1, number, image_size);
  const Sample original = sample_of(1, 1, image_size);
  EXPECT_TRUE(std::ranges::equal(glance->data, original.data));
  publisher.reset();
  native.reset();
  viewer.reset();
  node.reset();
  EXPECT_EQ(glance->data.size(), image_size);
  EXPECT_EQ(glance->data[image_size - 1], original.data.back());
}

TEST_F(View, ViewsOfSubscribersThatWantCopiesAreCopies) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  SubscriberOptions options;
  options.delivery = Delivery::copy;
  auto viewer = node->create_subscriber<Glance>("topic", Qos{}, options);
  options.delivery = Delivery::native;
  EXPECT_THROW((void)node->create_subscriber<Glance>("topic", Qos{}, options), Error);
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, 5000);
  MessageInfo info;
  const auto glance = take_soon(*viewer, &info);
  ASSERT_TRUE(glance);
  EXPECT_EQ(info.delivery, Delivery::copy);
  EXPECT_EQ(viewer->statistics().held, 0U);
  EXPECT_EQ(glance->data.size(), 5000U);
  EXPECT_EQ(glance->text, text_for(1));
}

TEST_F(View, ReadersOfPiecesLeaveNoMemoryBehind) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(4));
  SubscriberOptions options;
  options.delivery = Delivery::view;
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(4), options);
  await_subscribers(*publisher, 1);
  std::uint64_t after_some = 0;
  for (std::uint64_t number = 1; number <= 3000; ++number) {
    publish_in_place(*publisher, 1, number, 5000);
    if (number % 2 == 0) require(is_whole(*take_soon(*subscriber)), "a message is not whole");
    if (number == 100) after_some = publisher->statistics().memory_mapped;
  }
  EXPECT_LE(publisher->statistics().memory_mapped, after_some);  // less where a chunk was idle for so long that it has gone
  subscriber.reset();
  await_subscribers(*publisher, 0);
  publisher->loan();
  publish_in_place(*publisher, 1, 1, 10);
  EXPECT_LT(publisher->statistics().memory_in_use, 40'000U);  // less than it sweeps for
}

TEST_F(View, OtherDeliveriesAreRefused) {
  auto node = Node::create("node");
  SubscriberOptions options;
  options.delivery = static_cast<Delivery>(4);
  EXPECT_THROW((void)node->create_subscriber<Sample>("topic", Qos{}, options), Error);
}

// --- no room at the publisher's addresses ------------------------------------------------------------------------------------------------

/// Takes addresses so that nothing else of this process can be mapped there.
void occupy(std::uintptr_t from, std::uintptr_t to) {
  void* const wanted = reinterpret_cast<void*>(from);
  void* const got = ::mmap(wanted, to - from, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  require(got == wanted, "the addresses cannot be taken");
}

constexpr std::uintptr_t gibibyte = std::uintptr_t{1} << 30;

ROLE(view_without_room) {
  auto node = Node::create("crowded");
  const std::uintptr_t window = std::stoull(next_order()) / gibibyte * gibibyte;
  occupy(window, window + gibibyte);
  SubscriberOptions options;
  if (!arguments.at(0).empty()) options.delivery = delivery_named(arguments.at(0));
  if (options.delivery == Delivery::native) {
    auto subscriber = node->create_subscriber<Sample>("topic", [](const Sample&) { fail("it came"); }, lossless(), options);
    return until_finished();
  }
  receive_all(node, options, 10);
}

TEST_F(View, ASubscriberWithoutRoomAtThePublishersAddressesReadsPieces) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  auto first = publisher->loan();
  Child crowded("view_without_room", {""});
  crowded.order(std::to_string(reinterpret_cast<std::uintptr_t>(&*first)));
  crowded.expect("ready");
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 10; ++number) publish_in_place(*publisher, 1, number, number * 100'000);
  crowded.expect("view 10 ");
  crowded.end();
}

TEST_F(View, ASubscriberThatInsistsOnNativeSaysWhyItIsNotServed) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  auto first = publisher->loan();
  Child crowded("view_without_room", {"native"}, {{"SINEW_LOG", "warn"}});
  crowded.order(std::to_string(reinterpret_cast<std::uintptr_t>(&*first)));
  EXPECT_TRUE(eventually([&] { return crowded.errors().find("cannot be mapped in this process at its address") != std::string::npos; }));
  EXPECT_TRUE(eventually([&] { return publisher->statistics().subscribers == 0; }));
  crowded.end();
}

// Its room ends while messages are on their way: what was published before the publisher knew gets its pieces later.
ROLE(view_losing_room) {
  auto node = Node::create("crowded");
  std::atomic<std::uint64_t> received{0}, wrong{0}, native{0};
  std::atomic<bool> go{false};
  auto subscriber = node->create_subscriber<Sample>(
      "topic",
      [&](const Sample& sample, const MessageInfo& info) {
        if (received == 0) say("taken");
        eventually([&] { return go.load(); });
        wrong += is_whole(sample) && sample.number == received + 1 ? 0 : 1;
        native += info.delivery == Delivery::native;
        ++received;
      },
      lossless());
  require(eventually([&] { return subscriber->statistics().publishers == 1; }), "no publisher");
  say("ready");
  const std::uintptr_t in_use = std::stoull(next_order()), window = in_use / gibibyte * gibibyte;
  occupy(window + (64 << 20), window + gibibyte);
  say("occupied");
  next_order();
  go = true;
  require(eventually([&] { return received == 40; }), "messages are missing");
  require(wrong == 0, "a message is not as it was published");
  require(native > 0 && native < 40, "not both ways: " + std::to_string(native.load()));
  say("done");
  until_finished();
}

TEST_F(View, NothingIsLostWhenASubscriberRunsOutOfRoomInTheMiddle) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  auto first = publisher->loan();
  Child crowded("view_losing_room");
  crowded.expect("ready");
  crowded.order(std::to_string(reinterpret_cast<std::uintptr_t>(&*first)));
  crowded.expect("occupied");
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 20; ++number) ASSERT_EQ(publish_in_place(*publisher, 1, number, 1000), PublishResult::published);
  crowded.expect("taken");  // in place
  for (std::uint64_t number = 21; number <= 40; ++number) {
    ASSERT_EQ(publish_in_place(*publisher, 1, number, 8 << 20), PublishResult::published);
  }
  crowded.order("go");
  crowded.expect("done");
  crowded.end();
}

// --- accidents ---------------------------------------------------------------------------------------------------------------------------

ROLE(view_victim) {
  SubscriberOptions options;
  options.delivery = Delivery::view;
  receive_all(Node::create("victim"), options, 1'000'000'000);
}

TEST_F(View, APublisherGoesOnWhenAReaderOfPiecesIsKilled) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(8).reliable());
  std::atomic<std::uint64_t> received{0}, whole{0};
  auto native = node->create_subscriber<Sample>(
      "topic",
      [&](const Sample& sample) {
        whole += is_whole(sample);
        ++received;
      },
      Qos{}.keep_last(8));
  for (int i = 0; i < rounds(5); ++i) {
    Child victim("view_victim");
    victim.expect("ready");
    await_subscribers(*publisher, 2);
    for (std::uint64_t number = 1; number <= 200; ++number) publish_in_place(*publisher, 1, number, 50'000);
    victim.kill();
    await_subscribers(*publisher, 1);
  }
  publish_in_place(*publisher, 1, 1, 10);
  EXPECT_TRUE(eventually([&] { return received > 0 && whole == received; }));
  EXPECT_LT(publisher->statistics().memory_in_use, std::uint64_t{64} << 20);
}

ROLE(view_of_the_dead) {
  SubscriberOptions options;
  options.delivery = Delivery::view;
  auto node = Node::create("mourner");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(100), options);
  require(eventually([&] { return subscriber->statistics().publishers == 1; }), "no publisher");
  say("ready");
  next_order();
  for (std::uint64_t number = 1; number <= 100; ++number) {
    const auto message = take_soon(*subscriber);
    require(message && message->number == number && is_whole(*message), "message " + std::to_string(number) + " did not come");
  }
  say("all");
  until_finished();
}
ROLE(view_dying_publisher) {
  auto node = Node::create("camera");
  PublisherOptions options;
  options.prefault = 4 << 20;  // no chunk is on its way when it dies
  auto publisher = node->create_publisher<Sample>("topic", Qos{}, options);
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 100; ++number) publish_in_place(*publisher, 1, number, 20'000);
  say("published");
  until_finished();
}

TEST_F(View, WhatAPublisherPublishedBeforeItDiedIsRead) {
  Child mourner("view_of_the_dead");
  Child publisher("view_dying_publisher");
  mourner.expect("ready");
  publisher.expect("published");
  publisher.kill();
  mourner.order("go");
  mourner.expect("all");
  mourner.end();
}

TEST_F(View, MessagesThatHaveNoRoomForTheirPiecesAreCountedAsMissed) {
  auto node = Node::create("node");
  PublisherOptions small;
  small.memory_budget = 1 << 20;
  small.when_full = WhenFull::refuse;
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(8), small);
  SubscriberOptions options;
  options.delivery = Delivery::view;
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(8), options);
  await_subscribers(*publisher, 1);
  std::vector<Loan<Sample>> loans;  // until there is no room, but for the message that is built already
  auto loan = publisher->loan();
  loan.build([](Sample& sample) { fill(sample, 1, 1, 700'000); });
  for (;;) {
    loans.push_back(publisher->loan());
    const std::uint64_t copied = publisher->statistics().memory_in_use;
    loans.back()->text.resize(100);
    if (publisher->statistics().memory_in_use == copied) break;
  }
  EXPECT_EQ(publisher->publish(std::move(loan)), PublishResult::published);
  EXPECT_TRUE(eventually([&] { return !subscriber->take() && subscriber->statistics().missed == 1; }));
  loans.clear();
  publish_in_place(*publisher, 1, 2, 100);
  const auto next = take_soon(*subscriber);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->number, 2U);
}

// A publisher whose memory is changed by something wild while readers decode it.
TEST_F(View, AReaderOfPiecesSurvivesWhateverItsPublisherWrites) {
  auto node = Node::create("node");
  SubscriberOptions options;
  options.delivery = Delivery::view;
  std::atomic<std::uint64_t> received{0};
  auto subscriber =
      node->create_subscriber<Sample>("topic", [&](const Sample& sample) { received += sample.text.size() <= 4096; }, Qos{}, options);
  Stranger stranger("wild");
  HandPublisher publisher(stranger.meet_subscriber<Sample>("topic"), stranger.window);
  ASSERT_TRUE(publisher.take_attach());
  publisher.send_ring();
  publisher.send_chunk();
  const Sample sample = sample_of(1, 1, 100);
  const msg::cdr::Codec codec(*msg::message_of<Sample>().type);
  std::vector<std::byte> stream(codec.measure(&sample)->stream);
  codec.write(&sample, stream.data());
  constexpr std::size_t table_at = 256, stream_at = 4096;
  const auto lay = [&] {
    const std::uint64_t table[] = {2, publisher.address(stream_at), 30, publisher.address(stream_at + 30), stream.size() - 30};
    std::memcpy(publisher.at(table_at), table, sizeof table);
    std::memcpy(publisher.at(stream_at), stream.data(), stream.size());
  };
  lay();
  publisher.publish(publisher.address(0), 1, publisher.address(table_at));
  ASSERT_TRUE(eventually([&] { return received == 1; }));

  std::atomic<bool> over{false};
  std::thread wild([&] {
    std::uint64_t state = 1;
    while (!over.load(std::memory_order_relaxed)) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const bool in_table = (state >> 20) % 4 == 0;
      const std::size_t offset = in_table ? table_at + (state >> 33) % 40 : stream_at + (state >> 33) % stream.size();
      *reinterpret_cast<volatile std::byte*>(publisher.at(offset)) = static_cast<std::byte>(state >> 56);
      if ((state >> 24) % 16 == 0) lay();
    }
  });
  const auto until = std::chrono::steady_clock::now() + soak();
  while (std::chrono::steady_clock::now() < until) {
    for (int i = 0; i < 50; ++i) publisher.publish(publisher.address(0), 1, publisher.address(table_at));
    eventually([&] {
      return subscriber->statistics().received + subscriber->statistics().rejected + subscriber->statistics().missed + 60 >
             publisher.writer->head();
    });
  }
  over = true;
  wild.join();
  const SubscriberStatistics statistics = subscriber->statistics();
  EXPECT_GT(statistics.received, 1U);
  EXPECT_GT(statistics.rejected, 0U);
  std::cout << statistics.received << " messages decoded, " << statistics.rejected << " rejected\n";
}

}  // namespace
}  // namespace sinew::system
