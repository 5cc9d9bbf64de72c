#include "base/cut.hpp"

#include <gtest/gtest.h>

namespace sinew::base {
namespace {

TEST(Cut, a_text_that_is_short_enough_stays_as_it_is) {
  EXPECT_EQ(cut("", 0), "");
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("a\u00e9", 3), "a\u00e9");
}

TEST(Cut, a_longer_one_ends_with_a_whole_character) {
  EXPECT_EQ(cut("abcd", 3), "abc");
  EXPECT_EQ(cut("a\u00e9b", 2), "a");
  EXPECT_EQ(cut("a\U0001f600b", 4), "a");
  EXPECT_EQ(cut("a\U0001f600b", 5), "a\U0001f600");
}

TEST(Cut, what_is_no_character_at_all_is_cut_away) {
  EXPECT_EQ(cut("\x80\x80\x80", 2), "");
}

}  // namespace
}  // namespace sinew::base
