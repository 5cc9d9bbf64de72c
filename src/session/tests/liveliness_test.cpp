#include "session/qos/liveliness.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace sinew::session {
namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t lease = 100 * ms;

TEST(Lease, is_alive_until_no_sign_came_for_its_duration) {
  Lease one(lease, ms);
  EXPECT_FALSE(one.look(lease + ms, 0));
  EXPECT_TRUE(one.is_alive());
  EXPECT_EQ(one.next(), lease + ms + 1);
  EXPECT_TRUE(one.look(lease + ms + 1, 0));
  EXPECT_FALSE(one.is_alive());
  EXPECT_FALSE(one.look(10 * lease, 0)) << "told once";
}

TEST(Lease, every_sign_begins_it_again_and_brings_back_to_life) {
  Lease one(lease, 0);
  EXPECT_FALSE(one.look(lease + ms, 2 * ms));
  EXPECT_EQ(one.next(), lease + 2 * ms + 1);
  EXPECT_TRUE(one.look(3 * lease, 2 * ms));
  EXPECT_GT(one.next(), 3 * lease);
  EXPECT_LT(one.next(), 4 * lease) << "a dead one is looked at sooner";
  EXPECT_TRUE(one.look(3 * lease + 2, 3 * lease + 1));
  EXPECT_TRUE(one.is_alive());
}

TEST(Lease, without_a_duration_never_ends) {
  Lease one(0, 0);
  EXPECT_FALSE(one.look(std::numeric_limits<std::int64_t>::max() - 1, 0));
  EXPECT_TRUE(one.is_alive());
  EXPECT_EQ(one.next(), LoopTimer::never);
}

TEST(Lease, believes_no_sign_that_has_yet_to_come) {
  Lease one(lease, 0);
  EXPECT_FALSE(one.look(ms, std::numeric_limits<std::int64_t>::max()));
  EXPECT_TRUE(one.look(lease + ms + 1, 0));
}

TEST(Lease, no_shorter_one_than_timers_can_keep_is_taken_at_its_word) {
  Lease one(1, 0);
  EXPECT_FALSE(one.look(shortest_lease, 0));
  EXPECT_TRUE(one.look(shortest_lease + 1, 0));
}

Sighting sighting(const int& publisher, const std::string& node, std::int64_t its_lease, std::int64_t sign) {
  return {.publisher = &publisher, .node = node, .lease = its_lease, .sign = sign};
}

TEST(PublisherLiveliness, are_counted_by_whether_they_are_alive_and_forgotten_when_they_are_gone) {
  const int a = 0, b = 0;
  PublisherLiveliness all;
  EXPECT_FALSE(all.look(0, {}));
  EXPECT_EQ(all.next(), LoopTimer::never);
  EXPECT_TRUE(all.look(ms, std::vector{sighting(a, "a", 0, 0)}));
  EXPECT_EQ(all.next(), LoopTimer::never);
  EXPECT_EQ(all.last_changed(), "a");
  const auto both = [&](std::int64_t sign) { return std::vector{sighting(a, "a", 0, 0), sighting(b, "b", lease, sign)}; };
  EXPECT_TRUE(all.look(2 * ms, both(0)));
  EXPECT_EQ(all.alive(), 2U);
  EXPECT_EQ(all.next(), 2 * ms + lease + 1);
  EXPECT_FALSE(all.look(3 * ms, both(3 * ms)));
  EXPECT_TRUE(all.look(4 * ms + lease, both(3 * ms)));
  EXPECT_EQ(all.last_changed(), "b");
  EXPECT_EQ(all.alive(), 1U);
  EXPECT_EQ(all.not_alive(), 1U);
  EXPECT_TRUE(all.look(5 * ms + lease, both(5 * ms + lease)));
  EXPECT_EQ(all.not_alive(), 0U);
  auto gone = both(5 * ms + lease);
  gone[0].is_connected = false;
  EXPECT_TRUE(all.look(6 * ms + lease, gone));
  EXPECT_EQ(all.last_changed(), "a");
  EXPECT_EQ(all.alive(), 1U);
  EXPECT_EQ(all.ever(), 2U);
  EXPECT_TRUE(all.look(7 * ms + lease, both(7 * ms + lease)));
  EXPECT_EQ(all.ever(), 3U) << "who comes back counts again";
}

}  // namespace
}  // namespace sinew::session
