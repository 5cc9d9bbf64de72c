// Qos::deadline between publishers and subscribers.
#include "tests/system/events.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

/// A node with a publisher and a subscriber of its own, which publishes as long as it may. Says what each has counted in the end, and of the pauses that it has noticed between its publications how
/// many periods there were in them: at least, and at most.
ROLE(hears_itself) {
  using Clock = std::chrono::steady_clock;
  constexpr auto period = 20ms;
  const auto node = Node::create("both");
  const auto publisher = node->create_publisher<Sample>("topic", Qos{}.deadline(period));
  const auto subscriber = node->create_subscriber<Sample>("topic", [](const Sample&) {}, Qos{}.deadline(period));
  require(eventually([&] { return publisher->statistics().subscribers == 1; }), "it does not hear itself");
  std::atomic<bool> ended{false};
  std::thread orders([&] {
    until_finished();
    ended = true;
  });
  std::int64_t at_least = 0, at_most = 0;
  Clock::time_point before, after;
  for (; !ended; std::this_thread::sleep_for(1ms)) {
    const Clock::time_point begin = Clock::now();
    require(publisher->publish(sample_of(1, 1, 10)) == PublishResult::published, "not published");
    const Clock::time_point end = Clock::now();
    if (after != Clock::time_point()) at_least += (begin - after - 1ns) / period, at_most += (end - before) / period;
    if (before == Clock::time_point()) say("publishes");
    before = begin, after = end;
  }
  orders.join();
  const std::uint64_t published = publisher->statistics().deadlines_missed, heard = subscriber->statistics().deadlines_missed;
  for (const std::uint64_t missed : {published, heard}) say(std::to_string(missed));
  say(std::to_string(at_least));
  say(std::to_string(at_most + (Clock::now() - before) / period));
}

class Deadline : public Paths {
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
    Paths::SetUp();
    if (IsSkipped()) return;
    node_ = Node::create("viewer");
  }
  void TearDown() override {
    subscriber_.reset();
    node_.reset();
    Paths::TearDown();
  }
};
class DeadlineBetweenProcesses : public Deadline {};

TEST_P(Deadline, EachPeriodWithoutAMessageIsToldToBothSidesFromTheFirstMessageOn) {
  subscribe(20ms);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create deadline=20");
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
  publisher.obey("create deadline=3600000");
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
  publisher.obey("create deadline=20");
  publisher.obey("subscribers 1 1");
  publisher.obey("publish");
  publisher.obey("destroy");
  const std::uint64_t before = missed_.total();
  EXPECT_TRUE(eventually([&] { return missed_.total() >= before + 3; }));
  publisher.end();
}

TEST_P(DeadlineBetweenProcesses, IsMissedWhileThePublisherIsStopped) {
  subscribe(20ms);
  PublisherSomewhere publisher(GetParam());
  publisher.obey("create deadline=20");
  publisher.obey("subscribers 1 1");
  publisher.obey("publish");
  publisher.process().stop();
  const std::uint64_t before = missed_.total();
  EXPECT_TRUE(eventually([&] { return missed_.total() >= before + 3; }));
  publisher.process().go_on();
  publisher.end();
}

class DeadlineOfOneProcess : public Domain {};

TEST_F(DeadlineOfOneProcess, PeriodsInWhichItWasStoppedAreCountedOnceByItsPublishersAndItsSubscribers) {
  Child both("hears_itself");
  both.expect("publishes");
  for (int stopped = 0; stopped < 5; ++stopped) {
    std::this_thread::sleep_for(50ms);
    both.stop();
    std::this_thread::sleep_for(200ms);
    both.go_on();
  }
  both.finish();
  const auto said = [&] { return std::stoull(both.line().value_or("0")); };
  const std::uint64_t published = said(), heard = said(), at_least = said(), at_most = said();
  EXPECT_GT(at_least, 0U) << "not always was it stopped while it published";
  EXPECT_GE(published, at_least);
  EXPECT_LE(published, at_most);
  EXPECT_GE(heard, at_least);
  EXPECT_LE(heard, at_most);
  both.end();
}

TEST_P(Deadline, OfASubscriberIsKeptByAnyOfItsPublishersAndThatOfEachPublisherByItself) {
  using Clock = std::chrono::steady_clock;
  PublisherSomewhere lively(GetParam(), "lively"), silent(GetParam(), "silent");
  lively.obey("create deadline=200");
  silent.obey("create deadline=200");
  // On a loaded machine the lively one may be late, too: then it is tried again.
  EXPECT_TRUE(eventually([&] {
    subscribe(200ms);
    require(eventually([&] { return subscriber_->statistics().publishers == 2; }), "the publishers do not come");
    const auto first = Clock::now();  // from the silent one's message on the lively one is waited for
    silent.obey("publish");
    Clock::duration longest{};
    std::uint64_t missed = 0;
    for (auto last = first, end = last + 900ms; last < end;) {
      const auto begin = Clock::now();
      lively.obey("publish");
      missed = subscriber_->statistics().deadlines_missed;
      longest = std::max(longest, Clock::now() - last);
      last = begin;
    }
    const bool in_time = longest < 150ms;
    EXPECT_TRUE(!in_time || missed == 0) << missed;
    return in_time;
  }));
  silent.obey("missed 3");
  EXPECT_TRUE(eventually([&] { return subscriber_->statistics().deadlines_missed >= 3; })) << "both are silent";
  lively.obey("missed 3");
  lively.end();
  silent.end();
}

SINEW_ON_ALL_PATHS(Deadline);
SINEW_ON_PATHS_BETWEEN_PROCESSES(DeadlineBetweenProcesses);

}  // namespace
}  // namespace sinew::system
