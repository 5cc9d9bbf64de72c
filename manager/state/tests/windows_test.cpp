#include "manager/state/windows.hpp"

#include <gtest/gtest.h>

#include "manager/state/id_set.hpp"

namespace sinew::manager {
namespace {

constexpr WindowRange range{0x1000'0000, 0x10'0000, 3};

TEST(Windows, windows_lie_side_by_side_in_the_range_until_none_is_left) {
  Windows windows(range);
  EXPECT_EQ(windows.grant(1), (wire::Window{0x1000'0000, 0x10'0000}));
  EXPECT_EQ(windows.grant(1), (wire::Window{0x1010'0000, 0x10'0000}));
  EXPECT_EQ(windows.grant(2), (wire::Window{0x1020'0000, 0x10'0000}));
  EXPECT_EQ(windows.grant(2), std::nullopt);
}

TEST(Windows, F3_each_manager_begins_with_another_window_since_those_of_a_dead_one_may_be_in_use) {
  Windows windows(range, 3 * 1000 + 2);
  EXPECT_EQ(windows.grant(1), (wire::Window{0x1020'0000, 0x10'0000}));
  EXPECT_EQ(windows.grant(1), (wire::Window{0x1000'0000, 0x10'0000}));
  EXPECT_EQ(windows.grant(1), (wire::Window{0x1010'0000, 0x10'0000}));
  EXPECT_EQ(windows.grant(1), std::nullopt);
}

TEST(Windows, F3_a_window_comes_back_only_after_its_owner_and_everybody_introduced_to_it_has_let_go) {
  Windows windows(range);
  const wire::Window window = *windows.grant(1);
  windows.introduce(window, 2);
  windows.introduce(window, 3);
  windows.retire(window, 1);
  EXPECT_TRUE(windows.release(window, 2));
  EXPECT_EQ(windows.free(), 2u);
  windows.closed(3);
  EXPECT_EQ(windows.free(), 2u);  // the publisher's process may have moved storage out of a message
  EXPECT_TRUE(windows.release(window, 1));
  EXPECT_EQ(windows.free(), 3u);
}

TEST(Windows, F3_what_a_publisher_has_from_another_manager_is_given_to_nobody_until_it_lets_go) {
  Windows windows(range);
  const wire::Window window{0x1010'0000, 0x10'0000};
  ASSERT_TRUE(windows.contains(window));
  windows.claim(window, 1);
  EXPECT_EQ(windows.free(), 2u);
  EXPECT_EQ(windows.grant(2), (wire::Window{0x1000'0000, 0x10'0000}));
  EXPECT_EQ(windows.grant(2), (wire::Window{0x1020'0000, 0x10'0000}));
  EXPECT_EQ(windows.grant(2), std::nullopt);
  windows.introduce(window, 3);
  EXPECT_FALSE(windows.release(window, 1)) << "it owns it";
  windows.retire(window, 1);
  EXPECT_TRUE(windows.release(window, 1));
  EXPECT_TRUE(windows.release(window, 3));
  EXPECT_EQ(windows.grant(2), window);
}

TEST(Windows, F3_a_window_that_somebody_else_got_meanwhile_is_held_by_both) {
  Windows windows(range);
  const wire::Window window = *windows.grant(1);
  windows.claim(window, 2);
  windows.retire(window, 1);
  EXPECT_TRUE(windows.release(window, 1));
  EXPECT_EQ(windows.free(), 2u);
  EXPECT_FALSE(windows.release(window, 2)) << "its publisher is still there";
  windows.retire(window, 2);
  EXPECT_TRUE(windows.release(window, 2));
  EXPECT_EQ(windows.free(), 3u);
}

TEST(Windows, what_is_no_window_of_the_range_is_told_apart) {
  const Windows windows(range);
  EXPECT_TRUE(windows.contains({0x1020'0000, 0x10'0000}));
  EXPECT_FALSE(windows.contains({0x1030'0000, 0x10'0000}));
  EXPECT_FALSE(windows.contains({0x0ff0'0000, 0x10'0000}));
  EXPECT_FALSE(windows.contains({0x1000'0001, 0x10'0000}));
  EXPECT_FALSE(windows.contains({0x1000'0000, 0x20'0000}));
  EXPECT_FALSE(windows.contains({0, 0}));
}

TEST(Windows, F3_who_was_introduced_twice_holds_it_until_the_second_release) {
  Windows windows(range);
  const wire::Window window = *windows.grant(1);
  windows.introduce(window, 2);
  windows.introduce(window, 2);
  windows.retire(window, 1);
  windows.closed(1);
  EXPECT_TRUE(windows.release(window, 2));
  EXPECT_EQ(windows.free(), 2u);
  EXPECT_TRUE(windows.release(window, 2));
  EXPECT_EQ(windows.free(), 3u);
}

TEST(Windows, F3_an_owner_gives_back_what_its_own_subscribers_hold_but_not_what_it_owns) {
  Windows windows(range);
  const wire::Window window = *windows.grant(1);
  windows.introduce(window, 1);
  EXPECT_TRUE(windows.release(window, 1));
  EXPECT_FALSE(windows.release(window, 1));
  windows.introduce(window, 1);
  windows.retire(window, 1);
  EXPECT_TRUE(windows.release(window, 1));
  EXPECT_EQ(windows.free(), 2u);
  EXPECT_TRUE(windows.release(window, 1));
  EXPECT_EQ(windows.free(), 3u);
}

TEST(Windows, F3_windows_come_back_in_the_order_in_which_they_were_let_go) {
  Windows windows(range);
  const wire::Window a = *windows.grant(1), b = *windows.grant(1), c = *windows.grant(1);
  for (const wire::Window& window : {b, c, a}) {
    windows.retire(window, 1);
    ASSERT_TRUE(windows.release(window, 1));
  }
  EXPECT_EQ(windows.grant(2), b);
  EXPECT_EQ(windows.grant(2), c);
  EXPECT_EQ(windows.grant(2), a);
}

TEST(Windows, a_release_by_the_owner_by_a_stranger_of_what_is_no_window_or_one_too_many_is_refused) {
  Windows windows(range);
  const wire::Window window = *windows.grant(1);
  windows.introduce(window, 2);
  EXPECT_FALSE(windows.release(window, 1));  // its publisher lives
  EXPECT_FALSE(windows.release(window, 3));  // never introduced
  EXPECT_FALSE(windows.release({window.base + 1, window.size}, 2));
  EXPECT_FALSE(windows.release({window.base, window.size - 1}, 2));
  EXPECT_FALSE(windows.release({0, window.size}, 2));
  EXPECT_FALSE(windows.release({range.end(), window.size}, 2));
  EXPECT_TRUE(windows.release(window, 2));
  EXPECT_FALSE(windows.release(window, 2));
}

TEST(IdSet, an_id_is_taken_once_in_whatever_order_they_come) {
  IdSet ids;
  for (const std::uint64_t id : {5u, 3u, 4u, 0u, 9u}) EXPECT_TRUE(ids.add(id)) << id;
  for (const std::uint64_t id : {5u, 3u, 4u, 0u, 9u}) EXPECT_FALSE(ids.add(id)) << id;
  EXPECT_TRUE(ids.add(~std::uint64_t{0}));
  EXPECT_FALSE(ids.add(~std::uint64_t{0}));
  EXPECT_TRUE(ids.add(1));
}

TEST(IdSet, a_million_ids_in_a_row_take_one_range) {
  IdSet ids;
  for (std::uint64_t id = 0; id < 1'000'000; id += 2) ids.add(id + 1), ids.add(id);
  EXPECT_EQ(ids.ranges(), 1u);
}

}  // namespace
}  // namespace sinew::manager
