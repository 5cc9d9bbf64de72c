#include "session/qos/thinning.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace sinew::session {
namespace {

constexpr std::int64_t second = 1'000'000'000;

/// The sequences that are wanted of `count` messages, the first at `begin`, one every `step` nanoseconds.
std::vector<std::uint64_t> wanted(Thinning thinning, std::uint64_t count, std::int64_t begin, std::int64_t step) {
  std::vector<std::uint64_t> taken;
  for (std::uint64_t sequence = 1; sequence <= count; ++sequence) {
    if (thinning.next_from(sequence) != sequence) continue;
    if (thinning.wants(sequence, begin + static_cast<std::int64_t>(sequence - 1) * step)) taken.push_back(sequence);
  }
  return taken;
}

TEST(Thinning, wants_everything_unless_told_otherwise) {
  EXPECT_EQ(wanted(Thinning({}), 5, second, 1), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
}

TEST(Thinning, every_third_begins_with_the_first) {
  EXPECT_EQ(wanted(Thinning({.every = 3}), 10, second, 1), (std::vector<std::uint64_t>{1, 4, 7, 10}));
}

TEST(Thinning, counts_from_the_message_that_was_taken_when_one_was_lost) {
  Thinning thinning({.every = 3});
  EXPECT_TRUE(thinning.wants(1, second));
  EXPECT_EQ(thinning.next_from(2), 4U);
  EXPECT_TRUE(thinning.wants(5, second));  // 4 was lost
  EXPECT_EQ(thinning.next_from(6), 8U);
}

TEST(Thinning, a_rate_that_does_not_divide_the_publishers_holds_on_average) {
  for (const double jitter : {-0.001, 0.0, 0.001}) {
    const auto step = static_cast<std::int64_t>(1e9 / 30 * (1 + jitter));
    const std::size_t taken = wanted(Thinning({.period = second / 10}), 30 * 60, second, step).size();
    EXPECT_GE(taken, 598U);
    EXPECT_LE(taken, 602U);
  }
}

TEST(Thinning, messages_slower_than_the_rate_all_come_and_no_burst_follows_a_pause) {
  EXPECT_EQ(wanted(Thinning({.period = second}), 4, second, 2 * second).size(), 4U);
  Thinning thinning({.period = second});
  EXPECT_TRUE(thinning.wants(1, 10 * second));
  EXPECT_TRUE(thinning.wants(2, 100 * second));
  EXPECT_FALSE(thinning.wants(3, 100 * second + second / 2));
  EXPECT_TRUE(thinning.wants(4, 101 * second));
}

TEST(Thinning, a_period_longer_than_the_machine_is_up_counts_from_the_first_message) {
  Thinning thinning({.period = 100 * second});
  EXPECT_TRUE(thinning.wants(1, 10 * second));
  EXPECT_FALSE(thinning.wants(2, 109 * second));
  EXPECT_TRUE(thinning.wants(3, 110 * second));
}

TEST(Thinning, of_every_second_message_only_as_many_as_the_rate_allows) {
  EXPECT_EQ(wanted(Thinning({.every = 2, .period = second}), 9, second, second / 4), (std::vector<std::uint64_t>{1, 5, 9}));
}

TEST(Thinning, survives_whatever_times_a_publisher_says) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t period : {std::int64_t{0}, std::int64_t{second}, most}) {
    Thinning thinning({.period = period});
    std::uint64_t sequence = 0;
    for (const std::int64_t time : {least, most, most, least, std::int64_t{0}, most}) static_cast<void>(thinning.wants(++sequence, time));
    EXPECT_EQ(thinning.next_from(1), 7U);
  }
}

}  // namespace
}  // namespace sinew::session
