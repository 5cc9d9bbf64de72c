// Subscribers to which something of a message has yet to come: its chunk, or its pieces.
#include <poll.h>

#include <atomic>
#include <cstring>

#include "msg/cdr/cdr.hpp"
#include "os/event.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

class Stalled : public Domain {};

// As when the publisher learns that they are needed when the newer one is there, and writes no more than the reader asks for.
TEST_F(Stalled, OneWhosePiecesAreNeverWrittenKeepsNoNewerOneFromAReaderThatWantsTheNewest) {
  auto node = Node::create("node");
  SubscriberOptions options;
  options.delivery = Delivery::view;
  std::atomic<std::uint64_t> number{0};
  auto subscriber =
      node->create_subscriber<Sample>("topic", [&](const Sample& sample) { number = sample.number; }, Qos{}.keep_last(1), options);
  Stranger stranger("publisher");
  HandPublisher publisher(stranger.meet_subscriber<Sample>("topic"), stranger.window);
  ASSERT_TRUE(publisher.take_attach());
  publisher.send_ring();
  publisher.send_chunk();
  const Sample sample = sample_of(1, 2, 100);
  const msg::cdr::Codec codec(*msg::message_of<Sample>().type);
  std::vector<std::byte> stream(codec.measure(&sample)->stream);
  codec.write(&sample, stream.data());
  constexpr std::size_t table_at = 256, stream_at = 4096;
  const std::uint64_t table[] = {1, publisher.address(stream_at), stream.size()};
  std::memcpy(publisher.at(table_at), table, sizeof table);
  std::memcpy(publisher.at(stream_at), stream.data(), stream.size());
  publisher.publish(publisher.address(0), 1, shm::pieces_unknown);
  EXPECT_TRUE(eventually([&] {
    pollfd bell{publisher.bell_eventfd.get(), POLLIN, 0};
    return ::poll(&bell, 1, 0) == 0;
  })) << "it does not look";
  publisher.publish(publisher.address(0), 1, publisher.address(table_at));
  EXPECT_TRUE(eventually([&] { return number == 2; }));
  EXPECT_EQ(subscriber->statistics().missed, 1U);
}

// It may have died with the announcement on its way.
TEST_F(Stalled, OfMessagesWhoseChunkNeverComesOnlyTheWantedOnesAreMissed) {
  auto node = Node::create("receiver");
  SubscriberOptions options;
  options.every = 10;
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_all(), options);
  {
    Stranger stranger("stranger");
    HandPublisher publisher(stranger.meet_subscriber<Sample>("topic"), stranger.window);
    ASSERT_TRUE(publisher.take_attach());
    publisher.send_ring();
    for (int i = 0; i < 100; ++i) publisher.publish(publisher.lay(4096, 1), 1);
    ASSERT_TRUE(eventually([&] { return subscriber->statistics().publishers == 1; }));
  }
  EXPECT_TRUE(eventually([&] { return !subscriber->take() && subscriber->statistics().missed > 0; }));
  EXPECT_EQ(subscriber->statistics().missed, 10u);
  EXPECT_EQ(subscriber->statistics().skipped, 90u);
}

// The other one is waited for half a second, and then for ever only where nobody looks again.
TEST_F(Stalled, OneThatIsStoppedBeforeItBringsWhatItHasKeptKeepsNoOtherPublishersMessagesFromASubscriber) {
  auto node = Node::create("receiver");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.transient_local());
  Stranger stopped_node("stopped"), other_node("other");
  const wire::Qos kept{.depth = 8, .durability = wire::Durability::transient_local};
  HandPublisher stopped(stopped_node.meet_subscriber<Sample>("topic", kept), stopped_node.window);
  HandPublisher other(other_node.meet_subscriber<Sample>("topic", kept), other_node.window);
  for (HandPublisher* publisher : {&stopped, &other}) {
    ASSERT_TRUE(publisher->take_attach());
    publisher->writer->publish(
        {.root = publisher->lay(4096, publisher == &other ? 2 : 1), .size = sizeof(Sample), .source_time = 1, .newest_chunk = 1});
    publisher->send_ring();
  }
  other.send_chunk();
  os::ring(other.bell_eventfd.get());
  ASSERT_TRUE(eventually([&] { return subscriber->statistics().publishers == 2; }));
  const auto message = subscriber->take(std::chrono::hours(1));  // sleeps, and does not look by itself
  ASSERT_TRUE(message);
  EXPECT_EQ(message->number, 2u);
}

}  // namespace
}  // namespace sinew::system
