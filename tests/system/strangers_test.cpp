// Peers that break the protocol, on either side: they lose their own connection, and nobody else notices.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <random>

#include "os/event.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

// --- strange subscribers -------------------------------------------------------------------------------------------------------------------

// Publishes on order, telling how many it serves.
ROLE(victim_publisher) {
  auto node = Node::create("victim");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(4));
  say("ready");
  std::uint64_t number = 0;
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    if (order == "alone") {
      await_subscribers(*publisher, 1);
    } else {
      for (int i = std::stoi(order); i > 0; --i)
        require(publish_in_place(*publisher, 1, ++number, 50'000) == PublishResult::published, "not published");
    }
    say("done");
  }
}

/// A publisher in another process, one healthy subscriber of it here, and strangers in between.
class StrangeSubscriber : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    node = Node::create("healthy");
    subscriber =
        node->create_subscriber<Sample>("topic", [this](const Sample& sample) { whole += is_whole(sample); }, Qos{}.keep_last(512));
    victim.emplace("victim_publisher", Arguments{}, Child::Environment{{"SINEW_LOG", "warn"}});
    victim->expect("ready");
    order("alone");
  }
  void TearDown() override {
    if (victim) {
      victim->order("end");
      victim->end();
    }
    victim.reset();
    subscriber.reset();
    node.reset();
    Domain::TearDown();
  }
  void order(const std::string& what) {
    victim->order(what);
    victim->expect("done");
  }
  /// The victim said so, and goes on as if nothing had been.
  void expect_goes_on(const std::string& complaint) {
    EXPECT_TRUE(eventually([&] { return victim->errors().find(complaint) != std::string::npos; }))
        << complaint << " is missing in: " << victim->errors();
    order("10");
    published += 10;
    EXPECT_TRUE(eventually([&] { return whole == published; }));
  }
  /// A newcomer up to the point where the publisher waits for its first word.
  HandSubscriber newcomer() {
    strangers.emplace_back(std::make_unique<Stranger>("stranger" + std::to_string(strangers.size())));
    return HandSubscriber(strangers.back()->meet_publisher<Sample>("topic"));
  }

  std::shared_ptr<Node> node;
  std::shared_ptr<Subscriber<Sample>> subscriber;
  std::optional<Child> victim;
  std::vector<std::unique_ptr<Stranger>> strangers;
  std::atomic<int> whole{0};
  int published = 0;
};

TEST_F(StrangeSubscriber, ThatSpeaksNonsenseIsLeft) {
  auto garbage = newcomer();
  garbage.pair.send_bytes(std::vector<std::byte>(200, std::byte{0x5a}));
  garbage.pair.expect_end();
  expect_goes_on("broke the protocol");

  auto too_early = newcomer();
  too_early.send_attach();
  too_early.pair.expect_end();
  expect_goes_on("Attach came at the wrong time");

  auto for_others = newcomer();
  for_others.pair.send(wire::DoorbellTaken{});
  for_others.pair.expect_end();
  expect_goes_on("DoorbellTaken");

  auto without_descriptors = newcomer();
  without_descriptors.pair.send(wire::Doorbell{4096, 0});
  without_descriptors.pair.expect_end();
  expect_goes_on("Doorbell came with 0 descriptors");

  auto twice = newcomer();
  twice.send_doorbell();
  twice.send_doorbell();
  twice.pair.expect<wire::DoorbellTaken>();
  twice.pair.expect_end();
  expect_goes_on("Doorbell came twice");
}

TEST_F(StrangeSubscriber, S5_whose_pages_are_not_as_they_must_be_is_left) {
  const Page unsealed(os::page_size(), false);
  auto open_bell = newcomer();
  open_bell.pair.send(wire::Doorbell{static_cast<std::uint32_t>(os::page_size()), 0}, {unsealed.file.get(), open_bell.eventfd.get()});
  open_bell.pair.expect_end();
  expect_goes_on("not sealed");

  const os::Fd sparse(::memfd_create("sparse", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(sparse.get(), 64 << 20), 0);
  os::seal_for_readers(sparse);
  auto sparse_ack = newcomer();
  sparse_ack.send_doorbell();
  sparse_ack.pair.expect<wire::DoorbellTaken>();
  sparse_ack.pair.send(wire::Attach{64 << 20}, {sparse.get()});
  sparse_ack.pair.expect_end();
  expect_goes_on("sparse");

  auto other_size = newcomer();
  other_size.send_doorbell();
  other_size.pair.expect<wire::DoorbellTaken>();
  other_size.pair.send(wire::Attach{static_cast<std::uint32_t>(other_size.ack.mapping.size() * 2)}, {other_size.ack.file.get()});
  other_size.pair.expect_end();
  expect_goes_on("were announced");

  auto other_version = newcomer();
  other_version.acks().version.store(77);
  other_version.send_doorbell();
  other_version.pair.expect<wire::DoorbellTaken>();
  other_version.send_attach();
  other_version.pair.expect_end();
  expect_goes_on("another layout version");

  auto outside = newcomer();
  outside.pair.send(wire::Doorbell{4096, 4095}, {outside.bell.file.get(), outside.eventfd.get()});
  outside.pair.expect_end();
  expect_goes_on("does not lie in its page");
}

TEST_F(StrangeSubscriber, WhoseDoorbellIsNoEventfdIsLeft) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const os::Fd out(ends[0]), in(ends[1]);
  auto pipe = newcomer();
  pipe.pair.send(wire::Doorbell{static_cast<std::uint32_t>(os::page_size()), 0}, {pipe.bell.file.get(), in.get()});
  pipe.pair.expect_end();
  expect_goes_on("not an eventfd");
}

TEST_F(StrangeSubscriber, ThatAnswersWhatWasNotAskedIsNotServedAnyMore) {
  auto mapped = newcomer();
  ASSERT_TRUE(mapped.attach());
  mapped.pair.send(wire::ChunkMapped{99});
  expect_goes_on("ChunkMapped answers no announcement");
  auto unmapped = newcomer();
  ASSERT_TRUE(unmapped.attach());
  unmapped.pair.send(wire::ChunkUnmapped{1});
  expect_goes_on("ChunkUnmapped answers no withdrawal");
  auto gone = newcomer();
  ASSERT_TRUE(gone.attach());
  gone.pair.send(wire::Unsubscribe{});
  gone.pair.send(wire::Unsubscribe{});
  expect_goes_on("Unsubscribe came twice");
  auto complaining = newcomer();
  ASSERT_TRUE(complaining.attach());
  complaining.pair.send(wire::ErrorText{0, "nothing suits me\n\x1b[1mwhatever it is"});
  complaining.pair.send(wire::ErrorText{0, "nothing at all"});
  expect_goes_on("is not served any more: it says: nothing suits me??[1mwhatever it is");
  EXPECT_EQ(victim->errors().find("nothing at all"), std::string::npos) << "W16";
}

TEST_F(StrangeSubscriber, WhoseDoorbellIsFullHoldsNobodyUp) {
  auto full = newcomer();
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - 1;
  ASSERT_EQ(::write(full.eventfd.get(), &most, sizeof most), static_cast<ssize_t>(sizeof most));
  full.bell.as<shm::BellWord>().epoch.store(1);  // asleep, it says
  ASSERT_TRUE(full.attach());
  for (std::uint64_t epoch = 1; epoch < 10; epoch += 2) {
    full.bell.as<shm::BellWord>().epoch.store(epoch);
    expect_goes_on("");
  }
}

TEST_F(StrangeSubscriber, WhosePageIsFullOfNonsenseHoldsNobodyUp) {
  auto liar = newcomer();
  ASSERT_TRUE(liar.attach());
  std::mt19937_64 random(1);
  auto& page = liar.acks();
  for (int round = 0; round < rounds(100); ++round) {
    page.claims_used.store(static_cast<std::uint32_t>(random()));
    for (auto& claim : page.claims) claim.store(round % 3 == 0 ? random() : random() % 2000);
    page.cursor.store(round % 2 == 0 ? random() : random() % 100);  // far ahead, and back again
    page.received.store(random());
    expect_goes_on("");
  }
}

// --- strange publishers --------------------------------------------------------------------------------------------------------------------

class StrangePublisher : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    node = Node::create("subscriber");
    healthy = node->create_publisher<Sample>("topic");
    subscriber = node->create_subscriber<Sample>("topic", [this](const Sample& sample, const MessageInfo& info) {
      if (info.publisher == "subscriber") {
        from_healthy += is_whole(sample);
      } else {
        from_stranger += is_whole(sample);
      }
    });
    await_subscribers(*healthy, 1);
  }
  void TearDown() override {
    publishers.clear();
    strangers.clear();
    subscriber.reset();
    healthy.reset();
    node.reset();
    Domain::TearDown();
  }
  HandPublisher& newcomer() {
    strangers.emplace_back(std::make_unique<Stranger>("stranger" + std::to_string(strangers.size())));
    auto pair = strangers.back()->meet_subscriber<Sample>("topic");
    publishers.emplace_back(std::make_unique<HandPublisher>(std::move(pair), strangers.back()->window));
    require(publishers.back()->take_attach(), "the subscriber does not attach");
    return *publishers.back();
  }
  /// One that did everything right so far.
  HandPublisher& serving() {
    HandPublisher& publisher = newcomer();
    publisher.send_ring();
    publisher.send_chunk();
    publisher.pair.expect<wire::ChunkMapped>();
    return publisher;
  }
  void expect_goes_on() {
    publish_in_place(*healthy, 1, ++published, 50'000);
    EXPECT_TRUE(eventually([&] { return from_healthy == published; }));
  }
  std::uint64_t rejected() const { return subscriber->statistics().rejected; }

  std::shared_ptr<Node> node;
  std::shared_ptr<Publisher<Sample>> healthy;
  std::shared_ptr<Subscriber<Sample>> subscriber;
  std::vector<std::unique_ptr<Stranger>> strangers;
  std::vector<std::unique_ptr<HandPublisher>> publishers;
  std::atomic<std::uint64_t> from_healthy{0}, from_stranger{0};
  std::uint64_t published = 0;
};

TEST_F(StrangePublisher, WhoseRingIsNotAsItMustBeIsLeft) {
  auto& garbage = newcomer();
  garbage.pair.send_bytes(std::vector<std::byte>(50, std::byte{0x11}));
  garbage.pair.expect_end();
  expect_goes_on();

  const Page unsealed(os::page_size() * 32, false);
  auto& open_ring = newcomer();
  open_ring.pair.send(wire::Ring{static_cast<std::uint32_t>(unsealed.mapping.size()), 1}, {unsealed.file.get()});
  open_ring.pair.expect_end();
  expect_goes_on();

  auto& other_version = newcomer();
  other_version.ring.as<shm::RingLayout>().header.version.store(99);
  other_version.send_ring();
  other_version.pair.expect_end();
  expect_goes_on();

  auto& attached_twice = newcomer();
  attached_twice.pair.send(wire::DoorbellTaken{});
  attached_twice.pair.expect_end();
  expect_goes_on();

  auto& small = newcomer();
  const Page page;
  small.pair.send(wire::Ring{static_cast<std::uint32_t>(os::page_size()), 1}, {page.file.get()});
  small.pair.expect_end();
  expect_goes_on();

  auto& from_zero = newcomer();
  from_zero.pair.send(wire::Ring{static_cast<std::uint32_t>(from_zero.ring.mapping.size()), 0}, {from_zero.ring.file.get()});
  from_zero.pair.expect_end();
  expect_goes_on();

  auto& twice = newcomer();
  twice.send_ring();
  twice.send_ring();
  twice.pair.expect_end();
  expect_goes_on();
}

TEST_F(StrangePublisher, WhoseChunksAreNotAsTheyMustBeIsLeft) {
  auto& elsewhere = newcomer();
  elsewhere.send_ring();
  elsewhere.pair.send(wire::Chunk{1, strangers.back()->window.base - (1 << 20), 1 << 20}, {elsewhere.chunk.file.get()});
  elsewhere.pair.expect_end();
  expect_goes_on();

  auto& beyond = newcomer();
  beyond.send_ring();
  beyond.pair.send(wire::Chunk{1, strangers.back()->window.base + strangers.back()->window.size - 4096, 1 << 20},
                   {beyond.chunk.file.get()});
  beyond.pair.expect_end();
  expect_goes_on();

  auto& other_size = newcomer();
  other_size.send_ring();
  other_size.pair.send(wire::Chunk{1, strangers.back()->window.base, 2 << 20}, {other_size.chunk.file.get()});
  other_size.pair.expect_end();
  expect_goes_on();

  auto& again = serving();
  again.send_chunk();
  again.pair.expect_end();
  expect_goes_on();
}

TEST_F(StrangePublisher, S5_that_has_more_chunks_mapped_than_anybody_needs_is_left) {
  constexpr std::uint64_t most = 4096;
  auto& many = newcomer();
  many.send_ring();
  const Page page;
  for (std::uint64_t id = 1; id <= most; ++id) {
    many.pair.send(wire::Chunk{id, strangers.back()->window.base + (id - 1) * os::page_size(), os::page_size()}, {page.file.get()});
    ASSERT_EQ(many.pair.expect<wire::ChunkMapped>().id, id);
  }
  many.pair.send(wire::Chunk{most + 1, strangers.back()->window.base + most * os::page_size(), os::page_size()}, {page.file.get()});
  many.pair.expect_end();
  expect_goes_on();
}

// The same memory again and again, which is mapped wherever there is room when its place is taken.
TEST_F(StrangePublisher, S5_that_has_more_mapped_than_its_window_is_large_is_left) {
  auto& large = newcomer();
  large.send_ring();
  const wire::Window window = strangers.back()->window;
  const Page part(std::size_t{1} << 26);
  const std::uint64_t fit = window.size / part.mapping.size();
  for (std::uint64_t id = 1; id <= fit; ++id) {
    large.pair.send(wire::Chunk{id, window.base, part.mapping.size()}, {part.file.get()});
    ASSERT_EQ(large.pair.expect<wire::ChunkMapped>().id, id);
  }
  const Page page;
  large.pair.send(wire::Chunk{fit + 1, window.base, os::page_size()}, {page.file.get()});
  large.pair.expect_end();
  expect_goes_on();
}

TEST_F(StrangePublisher, S16_whose_messages_point_elsewhere_is_heard_with_what_is_right_only) {
  auto& publisher = serving();
  const auto offer = [&](const std::function<void(Sample&, std::byte*)>& damage) {
    const std::uintptr_t root = publisher.lay(4096, 1);
    auto& sample = *std::launder(reinterpret_cast<Sample*>(publisher.at(4096)));
    sample.writer = 9;
    // A whole message, laid by hand: its text lies in the chunk behind it.
    const std::string text = text_for(1);
    std::byte* const storage = publisher.at(8192);
    std::memcpy(storage, text.c_str(), text.size() + 1);
    auto* const words = reinterpret_cast<std::uintptr_t*>(&sample.text);
    words[0] = publisher.address(8192);
    words[1] = text.size();
    words[2] = text.size();
    damage(sample, storage);
    publisher.publish(root);
  };
  const auto vector_words = [](Sample& sample) { return reinterpret_cast<std::uintptr_t*>(&sample.data); };
  const auto text_words = [](Sample& sample) { return reinterpret_cast<std::uintptr_t*>(&sample.text); };
  const std::uintptr_t begin = publisher.address(0);
  const std::uintptr_t end = publisher.address(publisher.chunk.mapping.size());

  offer([](Sample&, std::byte*) {});
  ASSERT_TRUE(eventually([&] { return from_stranger == 1; })) << "this is how a right one is laid";
  EXPECT_EQ(rejected(), 0U);

  const std::vector<std::function<void(Sample&, std::byte*)>> damages = {
      [&](Sample& sample, std::byte*) { text_words(sample)[0] = 0; },
      [&](Sample& sample, std::byte*) { text_words(sample)[0] = begin - 8; },
      [&](Sample& sample, std::byte*) { text_words(sample)[0] = end - 4; },
      [&](Sample& sample, std::byte*) { text_words(sample)[0] = reinterpret_cast<std::uintptr_t>(&published); },
      [&](Sample& sample, std::byte*) { text_words(sample)[1] = text_words(sample)[2] = std::numeric_limits<std::uintptr_t>::max() / 2; },
      [&](Sample& sample, std::byte*) { text_words(sample)[1] = text_words(sample)[2] + 1; },
      [&](Sample&, std::byte* storage) { storage[text_for(1).size()] = std::byte{'x'}; },  // no zero at the end
      [&](Sample& sample, std::byte*) { vector_words(sample)[1] = begin + 10; },           // an end without a beginning
      [&](Sample& sample, std::byte*) {
        vector_words(sample)[0] = begin + 100;
        vector_words(sample)[1] = begin + 50;
        vector_words(sample)[2] = begin + 200;
      },
      [&](Sample& sample, std::byte*) {
        vector_words(sample)[0] = begin;
        vector_words(sample)[1] = vector_words(sample)[2] = end + 1;
      },
      [&](Sample& sample, std::byte*) {
        vector_words(sample)[0] = 0x1000;
        vector_words(sample)[1] = vector_words(sample)[2] = 0x2000;
      },
  };
  std::uint64_t bad = 0;
  for (const auto& damage : damages) {
    offer(damage);
    ++bad;
    EXPECT_TRUE(eventually([&] { return rejected() == bad; })) << "damage " << bad << " was not noticed";
  }
  for (const std::uintptr_t root : {std::uintptr_t{0}, std::uintptr_t{8}, begin - 4096, begin + 4097, end - 8, end, ~std::uintptr_t{7}}) {
    publisher.publish(root);
    ++bad;
    EXPECT_TRUE(eventually([&] { return rejected() == bad; })) << "root " << root << " was not noticed";
  }
  offer([](Sample&, std::byte*) {});
  EXPECT_TRUE(eventually([&] { return from_stranger == 2; })) << "what is right is still heard";
  expect_goes_on();
}

TEST_F(StrangePublisher, WhoseHeadRunsAwayOrBackCostsNothingButItsOwnMessages) {
  auto& publisher = serving();
  auto& head = publisher.ring.as<shm::RingLayout>().header.head;
  auto& entries = publisher.ring.as<shm::RingLayout>().entries;
  std::mt19937_64 random(1);
  for (const std::uint64_t nonsense :
       {std::uint64_t{1} << 62, std::uint64_t{3}, std::numeric_limits<std::uint64_t>::max(), std::uint64_t{0}, std::uint64_t{7}}) {
    for (auto& entry : entries) {
      entry.seq.store(random() % 3 == 0 ? nonsense - random() % 1024 : random());
      entry.root.store(random());
      entry.newest_chunk.store(random() % 2);
    }
    head.store(nonsense);
    os::ring(publisher.bell_eventfd.get());
    for (int i = 0; i < 5; ++i) expect_goes_on();
  }
}

class StrangeTime : public Domain {};

TEST_F(StrangeTime, AMessageWhosePublisherSaysThatItIsOlderThanAnyNumberHasExpired) {
  auto node = Node::create("receiver");
  auto subscriber = node->create_subscriber<Sample>("topic");
  Stranger stranger("stranger");
  HandPublisher publisher(stranger.meet_subscriber<Sample>("topic", {.depth = 8, .lifespan = 3'600'000'000'000}), stranger.window);
  ASSERT_TRUE(publisher.take_attach());
  publisher.send_ring();
  publisher.send_chunk();
  publisher.publish(publisher.lay(4096, 1), 1, shm::pieces_unknown, std::numeric_limits<std::int64_t>::min());
  publisher.publish(publisher.lay(8192, 2));
  const auto message = take_soon(*subscriber);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->number, 2u);
  EXPECT_EQ(subscriber->statistics().expired, 1u);
}

}  // namespace
}  // namespace sinew::system
