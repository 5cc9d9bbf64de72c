// Publishers and subscribers of different users in one domain.
#include <fcntl.h>
#include <grp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <thread>

#include "base/point.hpp"
#include "msg/cdr/cdr.hpp"
#include "os/event.hpp"
#include "os/fault.hpp"
#include "os/tests/support.hpp"
#include "tests/system/foreign.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

ROLE(foreign_subscriber) {
  become_stranger();
  auto node = Node::create("stranger");
  const std::uint64_t count = std::stoull(arguments.at(0));
  std::atomic<std::uint64_t> received{0}, last{0}, wrong{0};
  auto subscriber = node->create_subscriber<Sample>(
      "topic",
      [&](const Sample& sample, const MessageInfo& info) {
        wrong += is_whole(sample) && info.delivery == Delivery::copy && info.sequence == sample.number ? 0 : 1;
        ++received;
        last = sample.number;  // at last: who sees it counts what was received
      },
      Qos{}.keep_last(8));
  require(eventually([&] { return subscriber->statistics().publishers == 1; }), "no publisher");
  say("ready");
  require(eventually([&] { return last == count; }), "the last message does not come: " + std::to_string(last.load()));
  require(wrong == 0, "a message is not as it was published");
  require(received + subscriber->statistics().missed == count, "messages are lost and not counted");
  say("got " + std::to_string(received.load()));
  until_finished();
}

TEST_F(Foreign, F6_ASubscriberOfAnotherUserGetsCopiesAndEveryLossIsCounted) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  auto own = node->create_subscriber<Sample>("topic", Qos{}.keep_last(100), as_from_elsewhere());
  Child stranger("foreign_subscriber", {"60"});
  stranger.expect("ready");
  await_subscribers(*publisher, 2);
  for (std::uint64_t number = 1; number <= 60; ++number) {
    ASSERT_EQ(publish_in_place(*publisher, 1, number, number * number * 500), PublishResult::published);
    if (number % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const std::string line = stranger.line().value_or("nothing");
  EXPECT_EQ(line.rfind("got ", 0), 0U) << line;
  EXPECT_GT(std::stoi(line.substr(4)), 0);
  for (std::uint64_t number = 1; number <= 60; ++number) {
    MessageInfo info;
    const auto message = take_soon(*own, &info);
    ASSERT_TRUE(message && is_whole(*message));
    EXPECT_EQ(info.delivery, Delivery::native);
  }
  EXPECT_EQ(publisher->statistics().bytes_copied, 0U);
  EXPECT_GT(publisher->statistics().bytes_exported, std::uint64_t{60} * 60 * 500);
  stranger.end();
}

ROLE(foreign_publisher) {
  become_stranger();
  auto node = Node::create("stranger");
  auto publisher = node->create_publisher<Sample>("topic");
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 20; ++number) {
    publish_in_place(*publisher, 1, number, number * 10'000);
    next_order();
  }
  until_finished();
}

TEST_F(Foreign, APublisherOfAnotherUserIsReadByDecodingOnly) {
  auto node = Node::create("viewer");
  auto subscriber = node->create_subscriber<Sample>("topic");
  Child stranger("foreign_publisher");
  for (std::uint64_t number = 1; number <= 20; ++number) {
    MessageInfo info;
    const auto message = take_soon(*subscriber, &info);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->number, number);
    EXPECT_TRUE(is_whole(*message));
    EXPECT_EQ(info.delivery, Delivery::copy);
    stranger.order("next");
  }
  EXPECT_EQ(subscriber->statistics().missed, 0U);
  ASSERT_EQ(subscriber->publishers().size(), 1U);
  EXPECT_EQ(subscriber->publishers()[0].delivery, Delivery::copy);
  EXPECT_EQ(subscriber->publishers()[0].why, "its process belongs to another user");
  stranger.end();
}

ROLE(foreign_subscriber_that_stops) {
  become_stranger();
  auto node = Node::create("stranger");
  auto subscriber = node->create_subscriber<Sample>("topic", lossless());
  require(eventually([&] { return subscriber->statistics().publishers == 1; }), "no publisher");
  say("ready");
  next_order();  // until it is killed: takes nothing
}

TEST_F(Foreign, F6_ASubscriberOfAnotherUserThatTakesNothingHoldsNobodyBackAndNoMemory) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  Child stranger("foreign_subscriber_that_stops");
  stranger.expect("ready");
  await_subscribers(*publisher, 1);
  ::kill(stranger.pid(), SIGSTOP);
  for (std::uint64_t number = 1; number <= 3000; ++number) {
    ASSERT_EQ(publish_in_place(*publisher, 1, number, 1000), PublishResult::published);
  }
  EXPECT_LT(publisher->statistics().memory_in_use, 200'000U);
  stranger.kill();
  EXPECT_TRUE(eventually([&] { return publisher->statistics().subscribers == 0; }));
  EXPECT_EQ(publish_in_place(*publisher, 1, 1, 1000), PublishResult::published);
}

TEST_F(Foreign, NodesOfUsersThatMayNotJoinAreTurnedAway) {
  set_rules(R"({"join": {"uid": [54321]}})");
  auto node = Node::create("owner");
  Child stranger("foreign_subscriber", {"1"});
  EXPECT_NE(stranger.wait(), 0);
  EXPECT_NE(stranger.errors().find("runs as user 12345"), std::string::npos) << stranger.errors();
  EXPECT_NE(stranger.errors().find("join"), std::string::npos) << stranger.errors();
}

ROLE(late_foreign_subscriber) {
  become_stranger();
  auto node = Node::create("stranger");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(8).transient_local());
  std::uint64_t last = 0;
  while (last < 12) {
    const auto message = take_soon(*subscriber);
    require(message && is_whole(*message), "a message is missing, or not whole");
    require(last == 0 || message->number == last + 1,
            "a message is missing, comes twice or out of order: " + std::to_string(message->number));
    if (last == 0) say("begins with " + std::to_string(message->number));
    last = message->number;
    if (last == 11) say("has what there was");
  }
  require(subscriber->statistics().missed == 0, "some are missed");
  say("has all");
  until_finished();
}

ROLE(publisher_with_a_late_stranger) {
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(8).transient_local());
  std::uint64_t number = 0;
  while (number < 8) publish_in_place(*publisher, 1, ++number, 100'000);
  say("published");
  require(eventually(base::is_held), "nothing is exported");
  say("exports");
  while (number < 11) publish_in_place(*publisher, 1, ++number, 100'000);  // who had to wait for the copy would wait for ever
  require(publisher->statistics().published == 11, "not all are published");
  say("goes on");
  base::let_go();
  next_order();
  publish_in_place(*publisher, 1, ++number, 100'000);
  until_finished();
}

TEST_F(Foreign, NobodyWhoPublishesWaitsForTheHistoryOfALateSubscriberOfAnotherUserWhichGetsAllOfItInOrderOnce) {
  Child publisher("publisher_with_a_late_stranger", {}, {{"SINEW_AT", "export.retired:1:hold"}});
  publisher.expect("published");
  Child stranger("late_foreign_subscriber");
  publisher.expect("exports");
  publisher.expect("goes on");
  stranger.expect("begins with 4");
  stranger.expect("has what there was");
  publisher.order("one more");
  stranger.expect("has all");
  stranger.end();
  publisher.end();
}

// --- by hand ---------------------------------------------------------------------------------------------------------------------------

// Looks at everything that a publisher of another user ever hands out.
ROLE(foreign_snooper) {
  become_stranger();
  Stranger stranger("snooper");
  Talk pair = stranger.meet_publisher<Sample>("topic");
  require(stranger.met_publisher.window.size == 0, "it was told where the publisher's window is");
  pair.send(wire::AttachForeign{});
  std::uint64_t chunks = 0;
  bool secret = false;
  for (bool first = true; chunks < shm::export_depth;) {
    const auto message = pair.receive();
    require(message.has_value(), "the publisher ends the connection");
    for (const os::Fd& fd : pair.descriptors) {
      require(!os::is_eventfd(fd), "a doorbell was handed out");
      require(::write(fd.get(), "x", 1) < 0 && ::ftruncate(fd.get(), 0) != 0, "a file that was handed out can be written");
    }
    if (const auto* chunk = std::get_if<wire::Chunk>(&*message)) {
      const os::Mapping mapping = os::Mapping::map(pair.descriptors[0], chunk->size, os::Access::read);
      const std::string_view bytes(reinterpret_cast<const char*>(mapping.data()), chunk->size);
      secret = secret || bytes.find("a secret that is not published") != bytes.npos;
      ++chunks;
      pair.send(wire::ChunkMapped{chunk->id});
    } else if (std::holds_alternative<wire::News>(*message)) {
      pair.send(wire::NewsTaken{});
    }
    if (std::exchange(first, false)) say("attached");
  }
  require(!secret, "it sees what was not published");
  say("seen");
  until_finished();
}

TEST_F(Foreign, F6_F7_AStrangerIsGivenNoDoorbellAndSeesNothingButPublishedMessages) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  auto unpublished = publisher->loan();
  unpublished->text = "a secret that is not published, and lies where messages are built";
  Child snooper("foreign_snooper");
  snooper.expect("attached");
  for (std::uint64_t number = 1; number <= 20; ++number) publish_in_place(*publisher, 1, number, 100'000);
  snooper.expect("seen");
  snooper.end();
}

ROLE(foreign_liar) {
  become_stranger();
  Stranger stranger("liar");
  Talk pair = stranger.meet_publisher<Sample>("topic");
  const std::string what = arguments.at(0);
  if (what == "doorbell") {
    HandSubscriber subscriber(std::move(pair));
    subscriber.send_doorbell();
    pair = std::move(subscriber.pair);
  } else if (what != "early") {
    pair.send(wire::AttachForeign{});
  }
  if (what == "twice") pair.send(wire::AttachForeign{});
  if (what == "taken") pair.send(wire::NewsTaken{});
  if (what == "unmapped") pair.send(wire::ChunkUnmapped{77});
  if (what == "mapped") pair.send(wire::ChunkMapped{77});
  if (what == "early") pair.send(wire::NewsTaken{});
  bool ended = false;
  for (int i = 0; i < 20 && !ended; ++i) ended = !pair.receive();
  require(ended, "the connection goes on");
  say("done");
  until_finished();
}

TEST_F(Foreign, AStrangerThatBreaksTheProtocolLosesItsOwnConnectionOnly) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  auto own = node->create_subscriber<Sample>("topic");
  for (const char* const what : {"doorbell", "early", "twice", "taken", "mapped", "unmapped"}) {
    SCOPED_TRACE(what);
    Child liar("foreign_liar", {what});
    liar.expect("done");
    EXPECT_TRUE(eventually([&] { return publisher->statistics().subscribers == 1; }));
    liar.end();
    publish_in_place(*publisher, 1, 1, 1000);
    EXPECT_TRUE(take_soon(*own));
  }
}

ROLE(foreign_caller) {
  become_stranger();
  Stranger stranger("caller");
  Talk pair = stranger.meet_publisher<Sample>("topic");
  require(!pair.receive(), "it is listened to");
  say("refused");
  until_finished();
}

TEST_F(Foreign, AConnectionThatCannotBeWatchedIsClosed) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  os::fault::arm(os::fault::Call::epoll_ctl, 1, ENOSPC);
  Child caller("foreign_caller");
  caller.expect("refused");
  os::fault::disarm();
  caller.end();
}

// Sends descriptors that nobody asked for, each of which takes hours to close.
ROLE(foreign_lingerer) {
  become_stranger();
  Stranger stranger("lingerer");
  Talk pair = stranger.meet_publisher<Sample>("topic");
  std::vector<os::Fd> readers;
  for (int i = 0; i < 8; ++i) {
    auto [slow, reader] = os::test::lingering_socket();
    readers.push_back(std::move(reader));
    pair.send(wire::AttachForeign{}, {slow.get()});
    stranger.manager.send(wire::Goodbye{}, {slow.get()});
    std::thread([fd = slow.release()] { ::close(fd); }).detach();  // which may be the last one
  }
  say("done");
  until_finished();
}

TEST_F(Foreign, DescriptorsThatCloseSlowlyHoldNobodyUp) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  Child lingerer("foreign_lingerer");
  lingerer.expect("done");
  auto other = Node::create("viewer");
  auto subscriber = other->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  lingerer.end();
}

ROLE(foreign_newsmonger) {
  become_stranger();
  Stranger stranger("newsmonger");
  Talk pair = stranger.meet_subscriber<Sample>("topic");
  const wire::Message question = arguments.at(0) == "news" ? wire::Message(wire::News{}) : wire::Message(wire::ChunkWithdrawn{1});
  int asked = 0;
  while (asked < 400'000 && pair.send(question)) ++asked;
  require(asked < 400'000, "the answers pile up");
  say("ended");
  until_finished();
}

TEST_F(Foreign, W66_APublisherThatDoesNotReadTheAnswersIsLeft) {
  auto node = Node::create("viewer");
  auto subscriber = node->create_subscriber<Sample>("topic", [](const Sample&) {});
  for (const char* const question : {"news", "withdrawals"}) {
    Child newsmonger("foreign_newsmonger", {question});
    newsmonger.expect("ended");
    newsmonger.end();
  }
}

ROLE(foreign_end_of_numbers) {
  become_stranger();
  Stranger stranger("end");
  Talk pair = stranger.meet_subscriber<Sample>("topic");
  require(pair.receive().has_value(), "no AttachForeign");
  Page ring((sizeof(shm::RingLayout) + 4095) / 4096 * 4096);
  auto& layout = ring.as<shm::RingLayout>();
  shm::initialise(layout);
  for (std::uint64_t i = 1; i <= shm::ring_capacity; ++i) {
    auto& entry = layout.entries[(0 - i) % shm::ring_capacity];
    entry.newest_chunk.store(5);  // which never comes
    entry.seq.store(0 - i);
  }
  layout.header.head.store(~std::uint64_t{0});
  pair.send(wire::Ring{static_cast<std::uint32_t>(ring.mapping.size()), 1}, {ring.file.get()});
  require(!pair.receive(), "the connection goes on");
  say("ended");
  until_finished();
}

TEST_F(Foreign, M12_AHeadAtTheEndOfNumbersIsTheEndOfTheConnection) {
  auto node = Node::create("viewer");
  auto subscriber = node->create_subscriber<Sample>("topic", [](const Sample&) {});
  Child attacker("foreign_end_of_numbers");
  attacker.expect("ended");
  EXPECT_EQ(subscriber->statistics().missed, 0U);
  attacker.end();
}

constexpr std::uint64_t next(std::uint64_t state) {
  return state * 6364136223846793005U + 1442695040888963407U;
}

// A publisher of another user that changes ring, tables and messages as fast as it can while they are read.
ROLE(foreign_attacker) {
  become_stranger();
  Stranger stranger("attacker");
  Talk pair = stranger.meet_subscriber<Sample>("topic");
  const auto attach = pair.receive();
  require(attach && std::holds_alternative<wire::AttachForeign>(*attach), "no AttachForeign");
  Page ring((sizeof(shm::RingLayout) + 4095) / 4096 * 4096);
  Page chunk(std::size_t{1} << 20);
  shm::initialise(ring.as<shm::RingLayout>());
  pair.send(wire::Ring{static_cast<std::uint32_t>(ring.mapping.size()), 1}, {ring.file.get()});
  constexpr std::uint64_t base = std::uint64_t{1} << 40;
  pair.send(wire::Chunk{1, base, chunk.mapping.size()}, {chunk.file.get()});
  const Sample sample = sample_of(1, 1, 300);
  const msg::cdr::Codec codec(*msg::message_of<Sample>().type);
  const std::uint64_t stream = codec.measure(&sample)->stream;
  shm::RingWriter writer(ring.as<shm::RingLayout>());
  constexpr std::size_t stream_at = 24;
  const auto lay = [&] {
    const std::uint64_t table[] = {1, base + stream_at, stream};
    std::memcpy(chunk.mapping.data(), table, sizeof table);
    codec.write(&sample, chunk.mapping.data() + stream_at);
  };
  lay();
  std::atomic<bool> over{false};
  std::thread teller([&] {  // as a good publisher would
    pair.send(wire::News{});
    while (!over) {
      const auto answer = pair.receive();
      if (!answer) break;
      if (std::holds_alternative<wire::NewsTaken>(*answer)) pair.send(wire::News{});
    }
  });
  std::uint64_t state = 1;
  const auto until = std::chrono::steady_clock::now() + soak();
  while (std::chrono::steady_clock::now() < until) {
    if (state >> 62 != 0) lay();  // else the noise of the round before is published
    writer.publish({.size = stream, .source_time = 1, .newest_chunk = 1, .pieces = base});
    state = next(state);
    for (std::uint64_t noises = state >> 58; noises > 0; --noises) {
      state = next(state);
      const auto noise = static_cast<std::byte>(state >> 56);
      *reinterpret_cast<volatile std::byte*>(chunk.mapping.data() + (state >> 33) % (stream_at + stream)) = noise;
      if (state >> 54 == 0) {  // seldom: else little would get as far as the decoder
        auto& entry = ring.as<shm::RingLayout>().entries[(state >> 20) % shm::ring_capacity];
        *(reinterpret_cast<volatile std::byte*>(&entry) + (state >> 40) % sizeof entry) = noise;
      }
    }
  }
  // At last a head that says there are very many, and goes on.
  for (int i = 0; i < 1'000'000; ++i) ring.as<shm::RingLayout>().header.head.fetch_add(std::uint64_t{1} << 40);
  say("done");
  until_finished();
  over = true;
  ::shutdown(pair.socket().get(), SHUT_RDWR);
  teller.join();
}

TEST_F(Foreign, AHostilePublisherOfAnotherUserCanBringAboutNothingButValuesAndLosses) {
  auto node = Node::create("viewer");
  std::atomic<std::uint64_t> received{0}, other{0};
  auto subscriber =
      node->create_subscriber<Sample>("topic", [&](const Sample& sample) { received += sample.data.size() <= (std::size_t{16} << 20); });
  auto beside = node->create_subscriber<Sample>("beside", [&](const Sample&) { ++other; });
  auto own = node->create_publisher<Sample>("beside");
  await_subscribers(*own, 1);
  Child attacker("foreign_attacker");
  std::uint64_t published = 0;
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    attacker.expect("done");
    done = true;
  });
  while (!done) {
    ASSERT_EQ(publish_in_place(*own, 1, ++published, 10), PublishResult::published);
    ASSERT_TRUE(eventually([&] { return other == published; }));  // who sits beside it is served all the while
  }
  waiter.join();
  const SubscriberStatistics statistics = subscriber->statistics();
  std::cout << statistics.received << " messages received, " << statistics.rejected << " rejected, " << statistics.missed << " missed\n";
  EXPECT_GT(statistics.received, 0U);
  EXPECT_GT(statistics.rejected, 0U);
  attacker.end();
}

ROLE(talks_as_the_stranger) {
  if (arguments.at(0) == "effective") {
    require(::setgroups(0, nullptr) == 0 && ::setegid(stranger_id) == 0 && ::seteuid(stranger_id) == 0, "cannot become another user");
  } else {
    become_stranger();
  }
  auto node = Node::create(arguments.at(0));
  auto publisher = node->create_publisher<Sample>(arguments.at(0));
  auto subscriber = node->create_subscriber<Sample>(arguments.at(1));
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, 1000);
  MessageInfo info;
  const auto message = take_soon(*subscriber, &info);
  require(message && is_whole(*message) && info.delivery == Delivery::native, "the message does not come, or not in place");
  say("heard");
  until_finished();
  if (arguments.at(0) == "effective") require(::seteuid(0) == 0, "cannot be root again");  // whom the sanitizer lets look for leaks
}

TEST_F(Foreign, AProcessIsOfItsEffectiveUserAlsoWhereItsRealOneIsAnother) {
  auto node = Node::create("root");
  Child daemon("talks_as_the_stranger", {"effective", "real"}), other("talks_as_the_stranger", {"real", "effective"});
  daemon.expect("heard");
  other.expect("heard");
  daemon.end();
  other.end();
}

}  // namespace
}  // namespace sinew::system
