#include "os/clock.hpp"

#include <gtest/gtest.h>

namespace sinew::os {
namespace {

TEST(Clock, a_time_that_is_too_late_for_the_clock_never_comes) {
  EXPECT_EQ(later(5, 7), 12);
  EXPECT_EQ(later(5, never), never);
  EXPECT_EQ(later(0, never), never);
  EXPECT_EQ(later(5, never - 6), never - 1);
  EXPECT_EQ(later(5, never - 5), never);
  EXPECT_EQ(later(never, 1), never);
  EXPECT_EQ(later(5, -7), -2);
  EXPECT_LT(later(5, -never), 0);
}

}  // namespace
}  // namespace sinew::os
