#include "session/qos/deadline.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace sinew::session {
namespace {

TEST(Deadline, counts_nothing_before_the_first_message) {
  Deadline deadline(100);
  EXPECT_EQ(deadline.look(1000, 0), 0U);
  EXPECT_EQ(deadline.look(5000, 0), 0U);
  EXPECT_EQ(deadline.next(), 5100);
}

TEST(Deadline, counts_each_whole_period_after_a_message_once) {
  Deadline deadline(100);
  EXPECT_EQ(deadline.look(1000, 1000), 0U);
  EXPECT_EQ(deadline.next(), 1101);
  EXPECT_EQ(deadline.look(1100, 1000), 0U) << "no further apart than that: in time";
  EXPECT_EQ(deadline.look(1101, 1000), 1U);
  EXPECT_EQ(deadline.next(), 1201);
  EXPECT_EQ(deadline.look(1150, 1000), 0U);
  EXPECT_EQ(deadline.look(1450, 0), 3U) << "merged, when it was looked at late, and also when its publisher is gone";
  EXPECT_EQ(deadline.next(), 1501);
}

TEST(Deadline, begins_again_with_each_message) {
  Deadline deadline(100);
  deadline.look(1000, 1000);
  EXPECT_EQ(deadline.look(1250, 1000), 2U);
  EXPECT_EQ(deadline.look(1300, 1290), 0U);
  EXPECT_EQ(deadline.next(), 1391);
  EXPECT_EQ(deadline.look(1391, 1290), 1U);
}

TEST(Deadline, who_looks_late_does_not_take_gaps_for_missed_that_have_closed) {
  Deadline deadline(100);
  deadline.look(1000, 1000);
  EXPECT_EQ(deadline.look(1'000'000, 999'990), 0U);
}

TEST(Deadline, who_closes_a_gap_looks_before_and_nothing_is_counted_twice) {
  Deadline deadline(100);
  deadline.look(1000, 1000);
  EXPECT_EQ(deadline.look(1350, 1000), 3U) << "by who is about to publish at 1350";
  EXPECT_EQ(deadline.look(1250, 1000), 0U) << "by one that had read the time before";
  EXPECT_EQ(deadline.look(1390, 1000), 0U);
  EXPECT_EQ(deadline.look(1400, 1350), 0U);
  EXPECT_EQ(deadline.look(1451, 1350), 1U);
}

TEST(Deadline, believes_no_time_that_has_yet_to_come_and_none_that_goes_back) {
  Deadline deadline(100);
  EXPECT_EQ(deadline.look(1000, 1000), 0U);
  EXPECT_EQ(deadline.look(1050, std::numeric_limits<std::int64_t>::max()), 0U);
  EXPECT_EQ(deadline.look(1101, std::numeric_limits<std::int64_t>::min()), 1U);
  EXPECT_EQ(deadline.look(1201, 500), 1U);
}

}  // namespace
}  // namespace sinew::session
