#include "session/callbacks/periodic_timer.hpp"

#include <gtest/gtest.h>

#include "os/clock.hpp"
#include "session/callbacks/execution_thread.hpp"

namespace sinew::session {
namespace {

constexpr std::int64_t period = 1'000'000'000;

class PeriodicTimerTest : public ::testing::Test {
 protected:
  int calls_ = 0;
  const std::shared_ptr<ExecutionThread> thread_ = std::make_shared<ExecutionThread>(ThreadOptions{});
  PeriodicTimer timer_{period, [this] { ++calls_; }, thread_};
};

TEST_F(PeriodicTimerTest, KeepsItsTimesHoweverLateItRuns) {
  timer_.reset();
  const std::int64_t first = timer_.due();
  EXPECT_FALSE(timer_.run(first - 1));
  EXPECT_TRUE(timer_.run(first + period / 2));
  EXPECT_EQ(timer_.due(), first + period);
  EXPECT_TRUE(timer_.run(first + period));
  EXPECT_EQ(timer_.due(), first + 2 * period);
  EXPECT_EQ(timer_.missed(), 0U);
  EXPECT_EQ(calls_, 2);
}

TEST_F(PeriodicTimerTest, LeavesOutWholePeriodsAndCountsThem) {
  timer_.reset();
  const std::int64_t first = timer_.due();
  EXPECT_TRUE(timer_.run(first + 3 * period + 1));
  EXPECT_EQ(timer_.due(), first + 4 * period);
  EXPECT_EQ(timer_.missed(), 3U);
  EXPECT_EQ(calls_, 1);
}

TEST_F(PeriodicTimerTest, RunsNoMoreWhenItIsClosed) {
  timer_.reset();
  const std::int64_t due = timer_.due();
  timer_.close();
  EXPECT_FALSE(timer_.run(due));
  timer_.reset();
  EXPECT_EQ(timer_.due(), PeriodicTimer::never);
}

TEST_F(PeriodicTimerTest, APeriodLongerThanTimeItselfIsNever) {
  PeriodicTimer timer(INT64_MAX, [] {}, thread_);
  timer.reset();
  EXPECT_EQ(timer.due(), PeriodicTimer::never);
}

}  // namespace
}  // namespace sinew::session
