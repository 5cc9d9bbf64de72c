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
    options.events.deadline_missed = missed_.handler();
    subscriber_ = node_->create_subscriber<Sample>("topic", Qos{}.deadline(deadline), options);
  }

  std::shared_ptr<Node> node_;
  Told<DeadlineMissedEvent> missed_;
  std::shared_ptr<Subscriber<Sample>> subscriber_;

  void SetUp() override {
    EveryPath::SetUp();
    node_ = Node::create("viewer");
  }
  void TearDown() override {
    subscriber_.reset();
    node_.reset();
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
  EXPECT_EQ(missed_.total(), 0U) << "the first message has yet to come";
  publisher.obey("publish");
  EXPECT_TRUE(eventually([&] { return missed_.total() >= 3; }));
  publisher.obey("missed 3");
  // One more message does not make good what was missed.
  const std::uint64_t before = missed_.total();
  publisher.obey("publish");
  EXPECT_TRUE(eventually([&] { return missed_.total() > before; }));
  const std::uint64_t told = missed_.total();
  EXPECT_GE(subscriber_->statistics().deadlines_missed, told);
  EXPECT_EQ(subscriber_->statistics().received, 0U) << "what waits is not late";
  publisher.end();
}

TEST_P(Deadline, WhoKeepsItMissesNothing) {
  subscribe(1h);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create deadline 3600000");
  publisher.obey("subscribers 1 1");
  publisher.obey("publish");
  ASSERT_TRUE(take_soon(*subscriber_));
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(subscriber_->statistics().deadlines_missed, 0U);
  EXPECT_TRUE(missed_.all().empty());
  publisher.end();
}

TEST_P(Deadline, GoesOnToBeMissedWhenThePublisherIsDestroyed) {
  subscribe(20ms);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create deadline 20");
  publisher.obey("subscribers 1 1");
  publisher.obey("publish");
  publisher.obey("destroy");
  EXPECT_TRUE(eventually([&] { return missed_.total() >= 3; }));
  publisher.end();
}

TEST_P(DeadlineBetweenProcesses, IsMissedWhileThePublisherIsStopped) {
  subscribe(20ms);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create deadline 20");
  publisher.obey("subscribers 1 1");
  publisher.obey("publish");
  publisher.process().stop();
  const std::uint64_t before = missed_.total();
  EXPECT_TRUE(eventually([&] { return missed_.total() >= before + 3; }));
  publisher.process().go_on();
  publisher.end();
}

INSTANTIATE_TEST_SUITE_P(By, Deadline, ::testing::Values(Delivery::pointer, Delivery::native, Delivery::view, Delivery::copy),
                         name_of_path);
INSTANTIATE_TEST_SUITE_P(By, DeadlineBetweenProcesses, ::testing::Values(Delivery::native, Delivery::view, Delivery::copy), name_of_path);

}  // namespace
}  // namespace sinew::system
