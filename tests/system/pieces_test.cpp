// When the entry of a message says where its pieces are, while readers of pieces come and go.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/point.hpp"
#include "msg/cdr/cdr.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

class Pieces : public Domain {};

SubscriberOptions views() {
  SubscriberOptions options;
  options.delivery = Delivery::view;
  return options;
}

ROLE(publisher_whose_reader_of_pieces_leaves) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  Stranger stranger("stranger");
  HandSubscriber native(stranger.meet_publisher<Sample>("topic"));
  require(native.attach(), "the publisher does not take it");
  auto reader = node->create_subscriber<Sample>("topic", Qos{}, views());
  await_subscribers(*publisher, 2);
  std::thread thread([&] { publish_in_place(*publisher, 1, 1, 1000); });
  require(eventually(base::is_held), "no pieces are written");
  reader.reset();
  await_subscribers(*publisher, 1);
  base::let_go();
  thread.join();
  native.pair.send(wire::ReadsPieces{});
  const auto& pieces = native.ring_layout().entries[1].pieces;
  require(eventually([&] { return pieces.load() > shm::pieces_impossible; }), "it waits for ever");
}

TEST_F(Pieces, AMessageWhoseReadersOfPiecesHaveLeftHasThemForTheNextOne) {
  Child("publisher_whose_reader_of_pieces_leaves", {}, {{"SINEW_AT", "publisher.pieces_written:1:hold"}}).end();
}

TEST_F(Pieces, M38_ThatCannotBeHadAreNotMadeLater) {
  auto node = Node::create("node");
  PublisherOptions small;
  small.memory_budget = 1 << 20;
  small.when_full = WhenFull::refuse;
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(8), small);
  Stranger stranger("stranger");
  HandSubscriber native(stranger.meet_publisher<Sample>("topic"));
  ASSERT_TRUE(native.attach());
  auto reader = node->create_subscriber<Sample>("topic", Qos{}.keep_last(8), views());
  await_subscribers(*publisher, 2);
  auto loan = publisher->loan();
  loan.build([](Sample& sample) { fill(sample, 1, 1, 700'000); });
  std::vector<Loan<Sample>> loans;  // until there is no room, but for the message that is built already
  for (std::uint64_t before = 0; before != publisher->statistics().memory_in_use;) {
    loans.push_back(publisher->loan());
    before = publisher->statistics().memory_in_use;
    loans.back()->text.resize(100);
  }
  ASSERT_EQ(publisher->publish(std::move(loan)), PublishResult::published);
  const auto& pieces = native.ring_layout().entries[1].pieces;
  ASSERT_EQ(pieces.load(), shm::pieces_impossible);
  loans.clear();
  native.pair.send(wire::ReadsPieces{});
  native.pair.send(wire::Unsubscribe{});
  await_subscribers(*publisher, 1);
  EXPECT_EQ(pieces.load(), shm::pieces_impossible);
}

TEST_F(Pieces, M38_OfMessagesThatWaitAreMadeInNewMemoryWhenWhatIsMappedIsUsedUp) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  Stranger stranger("stranger");
  HandSubscriber native(stranger.meet_publisher<Sample>("topic", {.depth = 1024}));
  ASSERT_TRUE(native.attach());
  // Almost all of a first chunk of 1 MiB: what is left is too little for the pieces of so many.
  ASSERT_EQ(publish_in_place(*publisher, 1, 1, 650'000), PublishResult::published);
  for (std::uint64_t number = 2; number <= 1000; ++number) {
    ASSERT_EQ(publish_in_place(*publisher, 1, number, 10), PublishResult::published);
  }
  native.pair.send(wire::ReadsPieces{});
  for (std::uint64_t sequence = 1; sequence <= 1000; ++sequence) {
    const auto& pieces = native.ring_layout().entries[sequence % shm::ring_capacity].pieces;
    ASSERT_TRUE(eventually([&] { return pieces.load() != shm::pieces_unknown; })) << sequence;
    ASSERT_NE(pieces.load(), shm::pieces_impossible) << sequence;
  }
  for (std::uint64_t id = 1; id <= 2; ++id) {
    EXPECT_EQ(native.pair.expect<wire::Chunk>().id, id);
    native.pair.send(wire::ChunkMapped{id});
  }
}

class PiecesInANewChunk : public Pieces {
 protected:
  void SetUp() override {
    Pieces::SetUp();
    node_ = Node::create("node");
    subscriber_ =
        node_->create_subscriber<Sample>("topic", [&](const Sample& sample) { last_ = sample.number; }, Qos{}.keep_last(8), views());
    Stranger stranger("stranger");
    publisher_.emplace(stranger.meet_subscriber<Sample>("topic"), stranger.window);
    ASSERT_TRUE(publisher_->take_attach());
    publisher_->send_ring();
    publisher_->send_chunk();
    publisher_->pair.expect<wire::ChunkMapped>();
  }
  void TearDown() override {
    publisher_.reset();
    subscriber_.reset();
    node_.reset();
    Pieces::TearDown();
  }
  /// A message of the first chunk; its pieces' table lies in the second, or not, and is to be found at the same place there.
  void publish(std::uint64_t number, bool in_second) {
    const Sample sample = sample_of(1, number, 100);
    const msg::cdr::Codec codec(*msg::message_of<Sample>().type);
    std::vector<std::byte> stream(codec.measure(&sample)->stream);
    codec.write(&sample, stream.data());
    const std::size_t table_at = 64 * number, stream_at = 1024 * (number + 1);
    std::memcpy(publisher_->at(stream_at), stream.data(), stream.size());
    const std::uint64_t table[] = {1, publisher_->address(stream_at), stream.size()};
    std::memcpy((in_second ? second_.mapping.data() : publisher_->chunk.mapping.data()) + table_at, table, sizeof table);
    publisher_->publish(publisher_->address(0), 1, publisher_->address((in_second ? publisher_->chunk.mapping.size() : 0) + table_at));
  }
  SubscriberStatistics statistics() const { return subscriber_->statistics(); }

  std::shared_ptr<Node> node_;
  std::atomic<std::uint64_t> last_{0};
  std::shared_ptr<Subscriber<Sample>> subscriber_;
  std::optional<HandPublisher> publisher_;
  Page second_;
};

TEST_F(PiecesInANewChunk, M38_AreWaitedForUntilItIsThere) {
  publish(1, true);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  publisher_->pair.send(wire::Chunk{2, publisher_->address(publisher_->chunk.mapping.size()), second_.mapping.size()},
                        {second_.file.get()});
  EXPECT_TRUE(eventually([&] { return last_ == 1; }));
  EXPECT_EQ(statistics().missed + statistics().rejected, 0U);
}

TEST_F(PiecesInANewChunk, M38_ThatNeverComesAreMissedWhenNewerMessagesPushThemOut) {
  publish(1, true);
  for (std::uint64_t number = 2; number <= 8; ++number) publish(number, false);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(last_, 0U);
  publish(9, false);
  EXPECT_TRUE(eventually([&] { return last_ == 9; }));
  EXPECT_EQ(statistics().missed, 1U);
  EXPECT_EQ(statistics().received, 8U);
}

TEST_F(PiecesInANewChunk, M38_ThatNeverComesAreMissedWhenThePublisherIsGone) {
  publish(1, true);
  publish(2, false);
  publisher_->pair.close();
  EXPECT_TRUE(eventually([&] { return last_ == 2; }));
  EXPECT_EQ(statistics().missed, 1U);
  EXPECT_EQ(statistics().rejected, 0U);
}

}  // namespace
}  // namespace sinew::system
