// Timers of users.
#include <atomic>
#include <thread>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Timers : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    node_ = Node::create("node");
  }
  void TearDown() override {
    node_.reset();
    Domain::TearDown();
  }

  std::shared_ptr<Node> node_;
};

TEST_F(Timers, ATimerCallsAgainAndAgainFirstAfterAPeriod) {
  std::atomic<Clock::time_point> first{};
  std::atomic<int> ticks{0};
  const auto before = Clock::now();
  auto timer = node_->create_timer(20ms, [&] {
    if (++ticks == 1) first = Clock::now();
  });
  EXPECT_TRUE(eventually([&] { return ticks >= 5; }));
  EXPECT_GE(first.load() - before, 20ms);
  EXPECT_GE(Clock::now() - before, 100ms);
}

TEST_F(Timers, PeriodsThatACallbackTookAreLeftOutAndCounted) {
  std::atomic<int> ticks{0};
  auto timer = node_->create_timer(10ms, [&] {
    if (++ticks == 1) std::this_thread::sleep_for(55ms);
  });
  EXPECT_TRUE(eventually([&] { return ticks >= 2; }));
  EXPECT_GE(timer->missed(), 4U);
}

TEST_F(Timers, ACancelledTimerCallsNoMoreUntilItIsReset) {
  std::atomic<int> ticks{0};
  std::atomic<Timer*> itself{nullptr};
  const auto timer = node_->create_timer(1ms, [&] {
    Timer* const known = itself;
    if (!known) return;
    known->cancel();
    ++ticks;
  });
  itself = timer.get();
  EXPECT_TRUE(eventually([&] { return ticks == 1; }));
  EXPECT_TRUE(timer->is_cancelled());
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(ticks, 1);
  timer->reset();
  EXPECT_TRUE(eventually([&] { return ticks == 2; }));
}

TEST_F(Timers, WhoDestroysATimerWaitsForItsCallback) {
  std::atomic<bool> inside{false}, over{false};
  auto timer = node_->create_timer(1ms, [&] {
    inside = true;
    std::this_thread::sleep_for(50ms);
    over = true;
  });
  ASSERT_TRUE(eventually([&] { return inside.load(); }));
  timer.reset();
  EXPECT_TRUE(over);
}

TEST_F(Timers, ACallbackMayDestroyItsTimerAndItsNode) {
  auto node = Node::create("other");
  const auto kept = std::make_shared<std::atomic<int>>(0);
  std::atomic<bool> made{false};
  std::shared_ptr<Timer> timer;
  timer = node->create_timer(1ms, [&, kept] {
    if (!made) return;
    timer.reset();
    node.reset();
    ++*kept;  // what it captured lives as long as it runs
  });
  made = true;
  EXPECT_TRUE(eventually([&] { return kept.use_count() == 1; }));
  EXPECT_EQ(*kept, 1);
}

TEST_F(Timers, ATimerOfANodeThatIsGoneIsInert) {
  std::atomic<int> ticks{0};
  auto node = Node::create("other");
  auto timer = node->create_timer(1ms, [&] { ++ticks; });
  EXPECT_TRUE(eventually([&] { return ticks > 0; }));
  node.reset();
  const int then = ticks;
  timer->reset();
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(ticks, then);
}

TEST_F(Timers, TimersAndMessagesOfOneThreadDoNotKeepEachOtherWaiting) {
  auto publisher = node_->create_publisher<Sample>("topic", lossless());
  std::atomic<int> ticks{0}, received{0};
  auto subscriber = node_->create_subscriber<Sample>("topic", [&](const Sample&) { ++received; }, lossless());
  auto timer = node_->create_timer(1ns, [&] { ++ticks; });  // always due
  EXPECT_TRUE(eventually([&] {
    publisher->publish(sample_of(1, 1, 10));
    return received > 1000 && ticks > 1000;
  }));
}

}  // namespace
}  // namespace sinew::system
