#include <gtest/gtest.h>

#include "message_filters/tests/fed.hpp"

namespace sinew::message_filters::detail {
namespace {

TEST(Exact, messages_with_equal_stamps_are_a_set_whatever_order_their_topics_come_in) {
  Fed matcher = Fed::exact(3, 10);
  for (const std::size_t topic : {2U, 0U, 1U}) {
    for (const int stamp : {1, 2, 3}) matcher.add(topic, stamp);
  }
  EXPECT_EQ(matcher.sets(), (Sets{{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}));
  EXPECT_EQ(matcher.held(), 0U);
}

TEST(Exact, a_set_lets_go_of_all_that_is_older) {
  Fed matcher = Fed::exact(2, 10);
  for (const int stamp : {1, 2, 3, 4}) matcher.add(0, stamp);
  matcher.add(1, 3);
  EXPECT_EQ(matcher.sets(), (Sets{{3, 3}}));
  EXPECT_EQ(matcher.held(), 1U);
}

TEST(Exact, the_newest_incomplete_sets_are_kept_and_no_more) {
  Fed matcher = Fed::exact(2, 3);
  for (int stamp = 0; stamp < 100; ++stamp) matcher.add(0, stamp);
  EXPECT_EQ(matcher.held(), 3U);
  for (const int stamp : {96, 97, 98, 99}) matcher.add(1, stamp);
  EXPECT_EQ(matcher.sets(), (Sets{{97, 97}, {98, 98}, {99, 99}}));
}

TEST(Exact, a_recording_that_is_played_again_is_matched_again) {
  Fed matcher = Fed::exact(2, 3);
  for (int round = 0; round < 2; ++round) {
    for (int stamp = 0; stamp < 10; ++stamp) {
      matcher.add(0, stamp);
      if (round > 0) matcher.add(1, stamp);
    }
  }
  EXPECT_EQ(matcher.sets().size(), 10U);
}

}  // namespace
}  // namespace sinew::message_filters::detail
