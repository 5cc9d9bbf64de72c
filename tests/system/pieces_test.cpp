// When the entry of a message says where its pieces are, while readers of pieces come and go.
#include <thread>

#include "base/point.hpp"
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
  small.when_full = WhenFull::worst_effort;
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

}  // namespace
}  // namespace sinew::system
