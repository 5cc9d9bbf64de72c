// How pairs come together, and how frames and the chunks they lie in find each other though they travel on different ways.
#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <thread>

#include "os/event.hpp"
#include "os/socket.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

class Handshake : public Domain {};

TEST_F(Handshake, APublisherThatASubscriberCountsServesItAlready) {
  auto here = Node::create("here"), there = Node::create("there");
  for (std::uint64_t number = 1; number <= static_cast<std::uint64_t>(rounds(300)); ++number) {
    auto publisher = there->create_publisher<Sample>("topic");
    auto subscriber = here->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
    while (subscriber->statistics().publishers == 0) {
    }
    publish_in_place(*publisher, 1, number, 10);
    const auto message = take_soon(*subscriber);
    ASSERT_TRUE(message) << number;
    EXPECT_EQ(message->number, number);
  }
}

TEST_F(Handshake, S1_a_new_connection_to_a_sleeping_thread_is_woken) {
  std::atomic<int> received{0};
  auto receiver = Node::create("receiver"), sender = Node::create("sender");
  auto subscriber =
      receiver->create_subscriber<std::uint64_t>("topic", [&](const std::uint64_t&) { ++received; }, Qos{}, as_from_elsewhere());
  for (int round = 1; round <= rounds(500); ++round) {
    auto publisher = sender->create_publisher<std::uint64_t>("topic");
    await_subscribers(*publisher, 1);
    publisher->publish(std::uint64_t{1});  // the only one: nothing comes after it that would wake the thread
    ASSERT_TRUE(eventually([&] { return received == round; })) << "asleep in round " << round;
  }
}

TEST_F(Handshake, S1_a_publisher_that_never_rests_is_heard_by_every_newcomer) {
  auto sender = Node::create("sender");
  auto publisher = sender->create_publisher<std::uint64_t>("topic");
  const std::jthread flood([&](const std::stop_token& stop) {
    for (std::uint64_t number = 1; !stop.stop_requested(); ++number) publisher->publish(number);
  });
  auto receiver = Node::create("receiver");
  for (int round = 1; round <= rounds(100); ++round) {
    std::atomic<int> received{0};
    auto subscriber =
        receiver->create_subscriber<std::uint64_t>("topic", [&](const std::uint64_t&) { ++received; }, Qos{}, as_from_elsewhere());
    EXPECT_TRUE(eventually([&] { return received >= 3; })) << "round " << round;
  }
}

TEST_F(Handshake, W40_who_unsubscribes_before_it_is_attached_has_done_nothing_wrong_and_is_not_served) {
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic");
  Stranger stranger("stranger");
  HandSubscriber subscriber(stranger.meet_publisher<Sample>("topic"));
  subscriber.send_doorbell();
  subscriber.pair.send(wire::Unsubscribe{});
  subscriber.pair.expect<wire::DoorbellTaken>();
  subscriber.send_attach();
  EXPECT_FALSE(subscriber.pair.receive()) << "a complaint, or a ring";
  EXPECT_EQ(publisher->statistics().subscribers, 0u);
}

// --- listed first ----------------------------------------------------------------------------------------------------------------------------

// Publishes one message of the size that is ordered.
ROLE(serving_publisher) {
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic", arguments.empty() ? Qos{} : lossless());
  say("ready");
  std::uint64_t number = 0;
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    if (order == "subscribers") {
      say(std::to_string(publisher->statistics().subscribers));
    } else {
      publish_in_place(*publisher, 1, ++number, std::stoul(order));
      say("done");
    }
  }
}

TEST_F(Handshake, S3_a_connection_is_listed_before_its_reader_can_claim) {
  Child publisher("serving_publisher", {}, {{"SINEW_AT", "publisher.listed:1:stop"}});
  publisher.expect("ready");
  Stranger stranger("stranger");
  HandSubscriber subscriber(stranger.meet_publisher<Sample>("topic"));
  subscriber.send_doorbell();
  subscriber.pair.expect<wire::DoorbellTaken>();
  subscriber.send_attach();
  EXPECT_TRUE(eventually([&] { return publisher.is_stopped(); }));
  std::vector<std::byte> buffer(os::max_packet);
  EXPECT_EQ(os::receive_packet(subscriber.pair.socket(), buffer).kind, os::Received::Kind::would_block) << "it has what it needs to claim";
  publisher.go_on();
  EXPECT_EQ(subscriber.pair.expect<wire::Ring>().start, 1U);
  publisher.order("end");
  publisher.end();
}

TEST_F(Handshake, S3_what_is_claimed_as_soon_as_the_ring_is_there_stays) {
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(1));
  Stranger stranger("stranger");
  HandSubscriber subscriber(stranger.meet_publisher<Sample>("topic", {.depth = 1}));
  ASSERT_TRUE(subscriber.attach());
  publish_in_place(*publisher, 1, 1, 100'000);
  shm::Claims claims(subscriber.acks(), subscriber.ring_layout(), subscriber.counts);
  const auto claim = claims.claim_frame(subscriber.ring->start);
  ASSERT_EQ(claim.outcome, shm::Claims::Outcome::claimed);
  claims.advance_cursor(subscriber.ring->start);
  for (std::uint64_t number = 2; number <= 2000; ++number) publish_in_place(*publisher, 1, number, 100'000);
  const auto& kept = *reinterpret_cast<const Sample*>(claim.frame.root);  // readable here: its publisher is in this process
  EXPECT_TRUE(is_whole(kept));
  EXPECT_EQ(kept.number, 1U) << "another whole message is in its place";
}

TEST_F(Handshake, F2_what_is_claimed_stays_whatever_else_its_reader_does_wrong) {
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(1));
  Stranger stranger("stranger");
  HandSubscriber subscriber(stranger.meet_publisher<Sample>("topic", {.depth = 1}));
  ASSERT_TRUE(subscriber.attach());
  publish_in_place(*publisher, 1, 1, 100'000);
  shm::Claims claims(subscriber.acks(), subscriber.ring_layout(), subscriber.counts);
  const auto claim = claims.claim_frame(subscriber.ring->start);
  ASSERT_EQ(claim.outcome, shm::Claims::Outcome::claimed);
  const auto garbage = std::vector<std::byte>(100, std::byte{0xee});
  for (int i = 0; i < 3; ++i) subscriber.pair.send_bytes(garbage);
  await_subscribers(*publisher, 0);
  for (int i = 0; i < 3; ++i) subscriber.pair.send_bytes(garbage);
  for (std::uint64_t number = 2; number <= 2000; ++number) publish_in_place(*publisher, 1, number, 100'000);
  EXPECT_TRUE(is_whole(*reinterpret_cast<const Sample*>(claim.frame.root)));
  EXPECT_EQ(reinterpret_cast<const Sample*>(claim.frame.root)->number, 1U);
  const std::uint64_t pinned = publisher->statistics().memory_in_use;
  subscriber.pair.close();
  EXPECT_TRUE(eventually([&] {
    publish_in_place(*publisher, 1, 1, 100'000);
    return publisher->statistics().memory_in_use + 100'000 <= pinned;
  })) << "with its connection its claims are gone";
}

// --- in flight -----------------------------------------------------------------------------------------------------------------------------

/// Reads what lies in the socket now; how many descriptors came with it.
std::size_t descriptors_waiting(Talk& pair, std::uint64_t& newest_chunk) {
  std::vector<std::byte> buffer(os::max_packet);
  std::size_t count = 0;
  for (;;) {
    os::Received received = os::receive_packet(pair.socket(), buffer);
    if (received.kind != os::Received::Kind::packet) return count;
    count += received.descriptors.size();
    const auto decoded = wire::decode(std::span(buffer).first(received.size));
    if (const auto* chunk = std::get_if<wire::Chunk>(&std::get<wire::Message>(decoded))) newest_chunk = chunk->id;
  }
}

TEST_F(Handshake, S6_a_reader_that_does_not_read_holds_at_most_two_descriptors_in_flight) {
  for (const bool reliable : {false, true}) {
    auto node = Node::create("publisher");
    auto publisher = node->create_publisher<Sample>("topic", reliable ? lossless() : Qos{}.keep_last(100));
    for (std::uint64_t number = 1; number <= 3; ++number) publish_in_place(*publisher, 1, number, number * 3'000'000);
    Stranger stranger("stranger");
    HandSubscriber subscriber(stranger.meet_publisher<Sample>("topic", {.depth = reliable ? 0U : 100U, .reliable = reliable}));
    subscriber.send_doorbell();
    std::uint64_t newest_chunk = 0;
    if (reliable) subscriber.pair.expect<wire::Space>();
    subscriber.pair.expect<wire::DoorbellTaken>();
    subscriber.send_attach();
    await_subscribers(*publisher, 1);
    // Several chunks more, while nobody reads.
    for (std::uint64_t number = 1; number <= 10; ++number) publish_in_place(*publisher, 1, number, number * 2'000'000);
    EXPECT_EQ(descriptors_waiting(subscriber.pair, newest_chunk), 2U) << "the ring and one chunk";
    EXPECT_GE(newest_chunk, 1U);
    for (int more = 0; more < 2; ++more) {
      const std::uint64_t answered = newest_chunk;
      subscriber.pair.send(wire::ChunkMapped{answered});
      std::size_t came = 0;
      EXPECT_TRUE(eventually([&] {
        came += descriptors_waiting(subscriber.pair, newest_chunk);
        return newest_chunk > answered;
      }));
      EXPECT_EQ(came, 1U) << "each answer brings one more";
    }
  }
}

/// A publisher by hand, whose ring and first chunk the subscriber has.
struct Serving {
  Serving() : publisher(stranger.meet_subscriber<Sample>("topic"), stranger.window) {
    require(publisher.take_attach(), "the subscriber does not attach");
    publisher.send_ring();
    publisher.send_chunk(1);
    publisher.pair.expect<wire::ChunkMapped>();
  }
  Stranger stranger{"stranger"};
  HandPublisher publisher;
};

// --- messages that are wrong --------------------------------------------------------------------------------------------------------------

TEST_F(Handshake, S16_wrong_messages_are_passed_over_so_many_at_a_time_that_nobody_who_takes_is_held_up_for_ever) {
  auto node = Node::create("subscriber");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(512), as_from_elsewhere());
  Serving serving;
  HandPublisher& publisher = serving.publisher;
  const std::uintptr_t wrong = publisher.lay(0, 1);
  *reinterpret_cast<std::uintptr_t*>(&std::launder(reinterpret_cast<Sample*>(publisher.at(0)))->text) = 0;
  for (int number = 0; number < 200; ++number) publisher.publish(wrong);
  publisher.publish(publisher.lay(4096, 7));
  std::uint64_t before = 0;
  for (;;) {
    const auto message = subscriber->take();
    const std::uint64_t rejected = subscriber->statistics().rejected;
    EXPECT_LE(rejected - before, 64U) << "at a time";
    before = rejected;
    if (message) {
      EXPECT_EQ(message->number, 7U);
      break;
    }
    ASSERT_LT(rejected, 200U) << "the right one has not come";
  }
  EXPECT_EQ(before, 200U);
}

// --- frames before their chunks -----------------------------------------------------------------------------------------------------------

TEST_F(Handshake, S7_a_frame_that_is_faster_than_its_chunk_waits_for_it) {
  auto node = Node::create("subscriber");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(2), as_from_elsewhere());
  Serving serving;
  HandPublisher& publisher = serving.publisher;
  publisher.publish(publisher.lay(0, 1));
  const auto first = take_soon(*subscriber);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->number, 1U);

  // That the frames lie in the first chunk makes no difference: they name the second.
  const Page second_chunk(publisher.chunk.mapping.size());
  const std::uintptr_t behind = publisher.chunk.mapping.size();
  for (std::uint64_t number = 2; number <= 6; ++number) {
    publisher.publish(publisher.lay(number * 256, number), 2);
    EXPECT_FALSE(subscriber->take()) << "the ring is there, the chunk is not";
  }
  publisher.pair.send(wire::Chunk{2, publisher.address(behind), second_chunk.mapping.size()}, {second_chunk.file.get()});
  MessageInfo info;
  const auto pending = take_soon(*subscriber, &info);
  ASSERT_TRUE(pending);
  EXPECT_EQ(pending->number, 5U) << "the older ones were pushed out while they waited";
  EXPECT_EQ(info.missed, 3U);
  EXPECT_EQ(take_soon(*subscriber)->number, 6U);
}

TEST_F(Handshake, S7_a_sleeping_thread_is_woken_by_the_chunk_that_its_frame_waits_for) {
  std::atomic<std::uint64_t> last{0};
  auto node = Node::create("subscriber");
  auto subscriber =
      node->create_subscriber<Sample>("topic", [&](const Sample& sample) { last = sample.number; }, Qos{}, as_from_elsewhere());
  Stranger stranger("stranger");
  HandPublisher publisher(stranger.meet_subscriber<Sample>("topic"), stranger.window);
  ASSERT_TRUE(publisher.take_attach());
  publisher.publish(publisher.lay(0, 1));
  publisher.send_ring();
  publisher.send_chunk(1);
  EXPECT_TRUE(eventually([&] { return last == 1; }));
}

TEST_F(Handshake, S7_frames_whose_chunk_never_comes_are_counted_as_missed) {
  auto node = Node::create("subscriber");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  {
    Serving serving;
    HandPublisher& publisher = serving.publisher;
    publisher.publish(publisher.lay(0, 1));
    EXPECT_TRUE(take_soon(*subscriber));
    for (int i = 0; i < 3; ++i) publisher.publish(publisher.address(0), 2);
    EXPECT_FALSE(subscriber->take());
  }
  EXPECT_TRUE(eventually([&] {
    EXPECT_FALSE(subscriber->take());
    return subscriber->statistics().publishers == 0 && subscriber->statistics().missed == 3;
  }));
}

// --- chunks that go ------------------------------------------------------------------------------------------------------------------------

/// Is told of chunks, and says that it has each mapped until it is to let go of them.
class ChunkKeeper {
 public:
  explicit ChunkKeeper(const std::string& name) : stranger_(name), subscriber_(stranger_.meet_publisher<Sample>("topic", {.depth = 1})) {
    require(subscriber_.attach(), "the publisher does not serve it");
    claims_.emplace(subscriber_.acks(), subscriber_.ring_layout(), subscriber_.counts);
  }
  /// Reads what there is, and until it knows of every chunk that the newest frame may lie in.
  void hear() {
    const auto claim = claims_->claim_frame(claims_->head());
    require(claim.outcome == shm::Claims::Outcome::claimed, "there is no frame");
    claims_->release(claim.slot);
    os::Poller poller;
    poller.add(subscriber_.pair.socket(), 0);
    for (os::Poller::Event event; newest_ < claim.frame.newest_chunk || poller.wait({&event, 1}, 0) > 0;) {
      const auto message = subscriber_.pair.receive();
      require(message.has_value(), "the publisher has gone");
      if (const auto* chunk = std::get_if<wire::Chunk>(&*message)) {
        came(*chunk);
      } else if (const auto* withdrawn = std::get_if<wire::ChunkWithdrawn>(&*message)) {
        withdrawn_.push_back(withdrawn->id);
        newest_ = std::max(newest_, withdrawn->id);
      }
    }
  }
  void let_go() {
    for (const std::uint64_t id : std::exchange(withdrawn_, {})) {
      if (const auto had = mapped_.extract(id)) gone_.push_back(had.mapped());
      subscriber_.pair.send(wire::ChunkUnmapped{id});
    }
  }
  void leave() {
    subscriber_.pair.close();
    gone_.clear();
    for (const std::uint64_t id : withdrawn_) {
      if (const auto had = mapped_.extract(id)) gone_.push_back(had.mapped());
    }
    mapped_.clear();
  }
  bool has_withdrawn_ones() const { return !withdrawn_.empty(); }
  bool has_mapped(const wire::Chunk& chunk) const {
    return std::ranges::any_of(mapped_, [&](const auto& each) { return overlap(each.second, chunk); });
  }
  bool had_mapped(const wire::Chunk& chunk) const {
    return std::ranges::any_of(gone_, [&](const auto& each) { return overlap(each, chunk); });
  }

  std::uint64_t used_too_early = 0;  ///< so many chunks came to where it had another one
  std::vector<wire::Chunk> told;

 private:
  static bool overlap(const wire::Chunk& one, const wire::Chunk& other) {
    return one.address < other.address + other.size && other.address < one.address + one.size;
  }
  void came(const wire::Chunk& chunk) {
    used_too_early += has_mapped(chunk) ? 1 : 0;
    newest_ = chunk.id;
    told.push_back(chunk);
    mapped_.emplace(chunk.id, chunk);
    subscriber_.pair.send(wire::ChunkMapped{chunk.id});
  }

  Stranger stranger_;
  HandSubscriber subscriber_;
  std::optional<shm::Claims> claims_;
  std::uint64_t newest_ = 0;
  std::vector<std::uint64_t> withdrawn_;
  std::map<std::uint64_t, wire::Chunk> mapped_;
  std::vector<wire::Chunk> gone_;
};

TEST_F(Handshake, F3_addresses_of_a_chunk_are_used_again_when_its_last_reader_has_let_go_of_it_and_not_before) {
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(1), {.memory_budget = 16 << 20});
  ChunkKeeper quick("quick"), slow("slow");
  // Takes nearly all of its memory, in chunks that all are told of, and gives it back: the largest stays, the others go after a while, one after the other.
  const auto come_and_go = [&](bool slow_is_there) {
    std::vector<Loan<Sample>> loans;
    for (int i = 0; i < 14; ++i) {
      loans.push_back(publisher->loan());
      loans.back()->data.resize(1'000'000);
    }
    for (const bool all_are_there : {true, false}) {
      if (!all_are_there) {
        const std::uint64_t mapped = publisher->statistics().memory_mapped;
        loans.clear();
        EXPECT_TRUE(eventually([&] {
          if (publisher->statistics().memory_mapped < mapped) return true;
          quick.hear();  // of what was given back before
          quick.let_go();
          if (slow_is_there) slow.hear();
          return slow_is_there && slow.has_withdrawn_ones();  // then nothing more is given back (M4)
        }));
      }
      EXPECT_EQ(publish_in_place(*publisher, 1, 1, 10), PublishResult::published);
      quick.hear();
      if (slow_is_there) slow.hear();
    }
    quick.let_go();
  };
  for (int round = 0; round < 2; ++round) come_and_go(true);
  ASSERT_TRUE(slow.has_withdrawn_ones());
  EXPECT_EQ(slow.used_too_early, 0U);
  const auto comes_back_after = [&](bool slow_is_there) {
    return eventually([&] {
      const std::size_t known = quick.told.size();
      come_and_go(slow_is_there);
      if (slow_is_there) slow.let_go();
      return std::any_of(quick.told.begin() + static_cast<std::ptrdiff_t>(known), quick.told.end(),
                         [&](const wire::Chunk& chunk) { return slow.had_mapped(chunk); });
    });
  };
  EXPECT_TRUE(comes_back_after(true)) << "it has answered";
  for (int round = 0; round < 2; ++round) come_and_go(true);
  ASSERT_TRUE(slow.has_withdrawn_ones());
  slow.leave();
  EXPECT_TRUE(comes_back_after(false)) << "it has gone";
  EXPECT_EQ(slow.used_too_early + quick.used_too_early, 0U);
}

}  // namespace
}  // namespace sinew::system
