#include "os/account.hpp"

#include <gtest/gtest.h>

namespace sinew::os {
namespace {

TEST(Account, users_and_groups_are_found_by_their_names) {
  EXPECT_EQ(user_by_name("root"), 0u);
  EXPECT_EQ(group_by_name("root"), 0u);
  EXPECT_NE(user_by_name("daemon").value(), 0u);
}

TEST(Account, an_unknown_name_gives_nothing) {
  for (const char* name : {"nobody_has_this_name", "", "0"}) {
    EXPECT_FALSE(user_by_name(name)) << name;
    EXPECT_FALSE(group_by_name(name)) << name;
  }
}

}  // namespace
}  // namespace sinew::os
