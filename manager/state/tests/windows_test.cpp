#include "manager/state/windows.hpp"

#include <gtest/gtest.h>

#include "manager/state/id_set.hpp"

namespace sinew::manager {
namespace {

using Released = Windows::Released;
constexpr os::AddressRange range{0x1000'0000, 0x10'0000, 3};

TEST(Windows, windows_lie_side_by_side_in_the_range_until_none_is_left) {
  Windows windows(range);
  EXPECT_EQ(windows.grant(1), (wire::Window{0x1000'0000, 0x10'0000}));
  EXPECT_EQ(windows.grant(1), (wire::Window{0x1010'0000, 0x10'0000}));
  EXPECT_EQ(windows.grant(2), (wire::Window{0x1020'0000, 0x10'0000}));
  EXPECT_EQ(windows.grant(2), std::nullopt);
}

TEST(Windows, F3_a_window_comes_back_only_after_its_owner_and_everybody_introduced_to_it_has_let_go) {
  Windows windows(range);
  const wire::Window window = *windows.grant(1);
  windows.introduce(window, 2, 10);
  windows.introduce(window, 3, 11);
  windows.retire(window);
  EXPECT_EQ(windows.release(window, 2, 10), Released::yes);
  EXPECT_EQ(windows.free(), 2u);
  windows.closed(3);
  EXPECT_EQ(windows.free(), 2u);  // the publisher's process may have moved storage out of a message
  EXPECT_EQ(windows.release(window, 1, 0), Released::yes);
  EXPECT_EQ(windows.free(), 3u);
}

TEST(Windows, F3_a_release_that_crossed_a_newer_introduction_changes_nothing) {
  Windows windows(range);
  const wire::Window window = *windows.grant(1);
  windows.introduce(window, 2, 10);
  windows.introduce(window, 2, 12);
  windows.retire(window);
  windows.closed(1);
  EXPECT_EQ(windows.release(window, 2, 10), Released::stale);
  EXPECT_EQ(windows.free(), 2u);
  EXPECT_EQ(windows.release(window, 2, 12), Released::yes);
  EXPECT_EQ(windows.free(), 3u);
}

TEST(Windows, F3_windows_come_back_in_the_order_in_which_they_were_let_go) {
  Windows windows(range);
  const wire::Window a = *windows.grant(1), b = *windows.grant(1), c = *windows.grant(1);
  for (const wire::Window& window : {b, c, a}) {
    windows.retire(window);
    ASSERT_EQ(windows.release(window, 1, 0), Released::yes);
  }
  EXPECT_EQ(windows.grant(2), b);
  EXPECT_EQ(windows.grant(2), c);
  EXPECT_EQ(windows.grant(2), a);
}

TEST(Windows, a_release_by_the_owner_a_stranger_or_of_what_is_no_window_is_wrong) {
  Windows windows(range);
  const wire::Window window = *windows.grant(1);
  windows.introduce(window, 2, 10);
  EXPECT_EQ(windows.release(window, 1, 0), Released::wrong);   // its publisher lives
  EXPECT_EQ(windows.release(window, 3, 10), Released::wrong);  // never introduced
  EXPECT_EQ(windows.release(window, 2, 11), Released::wrong);  // an introduction that never was
  EXPECT_EQ(windows.release({window.base + 1, window.size}, 2, 10), Released::wrong);
  EXPECT_EQ(windows.release({window.base, window.size - 1}, 2, 10), Released::wrong);
  EXPECT_EQ(windows.release({0, window.size}, 2, 10), Released::wrong);
  EXPECT_EQ(windows.release({range.end(), window.size}, 2, 10), Released::wrong);
  EXPECT_EQ(windows.release(window, 2, 10), Released::yes);
  EXPECT_EQ(windows.release(window, 2, 10), Released::wrong);  // a second time
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
