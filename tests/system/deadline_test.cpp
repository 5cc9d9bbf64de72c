// Qos::deadline between publishers and subscribers.
#include "tests/system/events.hpp"

#include <thread>

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

class Deadline : public EveryPath {
 protected:
  void subscribe(std::chrono::nanoseconds deadline) {
    SubscriberOptions options = by(GetParam());
    options.events.deadline_missed = missed.handler();
    subscriber = node->create_subscriber<Sample>("topic", Qos{}.deadline(deadline), options);
  }

  std::shared_ptr<Node> node;
  Told<DeadlineMissedEvent> missed;
  std::shared_ptr<Subscriber<Sample>> subscriber;

  void SetUp() override {
    EveryPath::SetUp();
    node = Node::create("viewer");
  }
  void TearDown() override {
    subscriber.reset();
    node.reset();
    EveryPath::TearDown();
  }
};
class DeadlineBetweenProcesses : public Deadline {};

TEST_P(Deadline, EachPeriodWithoutAMessageIsToldToBothSidesFromTheFirstMessageOn) {
  subscribe(20ms);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create deadline 20");
  publisher.obey("subscribers 1 1");
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(missed.total(), 0U) << "the first message has yet to come";
  publisher.obey("publish");
  EXPECT_TRUE(eventually([&] { return missed.total() >= 3; }));
  publisher.obey("missed 3");
  // One more message does not make good what was missed.
  const std::uint64_t before = missed.total();
  publisher.obey("publish");
  EXPECT_TRUE(eventually([&] { return missed.total() > before; }));
  EXPECT_GE(subscriber->statistics().deadlines_missed, missed.total());
  EXPECT_EQ(subscriber->statistics().received, 0U) << "what waits is not late";
  publisher.end();
}

TEST_P(Deadline, WhoKeepsItMissesNothing) {
  subscribe(1h);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create deadline 3600000");
  publisher.obey("subscribers 1 1");
  publisher.obey("publish");
  ASSERT_TRUE(take_soon(*subscriber));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(subscriber->statistics().deadlines_missed, 0U);
  EXPECT_TRUE(missed.all().empty());
  publisher.end();
}

TEST_P(Deadline, GoesOnToBeMissedWhenThePublisherIsDestroyed) {
  subscribe(20ms);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create deadline 20");
  publisher.obey("subscribers 1 1");
  publisher.obey("publish");
  publisher.obey("destroy");
  EXPECT_TRUE(eventually([&] { return missed.total() >= 3; }));
  publisher.end();
}

TEST_P(DeadlineBetweenProcesses, IsMissedWhileThePublisherIsStopped) {
  subscribe(20ms);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create deadline 20");
  publisher.obey("subscribers 1 1");
  publisher.obey("publish");
  publisher.process().stop();
  const std::uint64_t before = missed.total();
  EXPECT_TRUE(eventually([&] { return missed.total() >= before + 3; }));
  publisher.process().go_on();
  publisher.end();
}

INSTANTIATE_TEST_SUITE_P(By, Deadline, ::testing::Values(Delivery::pointer, Delivery::native, Delivery::view, Delivery::copy),
                         name_of_path);
INSTANTIATE_TEST_SUITE_P(By, DeadlineBetweenProcesses, ::testing::Values(Delivery::native, Delivery::view, Delivery::copy), name_of_path);

}  // namespace
}  // namespace sinew::system
