// Which sets there are, compared with what follows from the properties that are promised, by trying all.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "message_filters/tests/fed.hpp"

namespace sinew::message_filters::detail {
namespace {

using Stamps = std::vector<std::vector<std::int64_t>>;  // of each topic
constexpr std::int64_t far = 1'000'000;

std::int64_t size_of(const std::vector<std::int64_t>& set) {
  const auto [begin, end] = std::ranges::minmax(set);
  return end - begin;
}

/// Some topics with about so many messages each, as regular or irregular as chance has it, and a last one that is far from all others.
Stamps random_stamps(std::mt19937& random, std::size_t topics, int messages) {
  const auto among = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  Stamps stamps(topics);
  for (auto& each : stamps) {
    const int period = among(1, 20), jitter = among(0, 20);
    std::int64_t at = among(0, 30);
    for (int i = among(messages / 2, messages); i > 0; --i) {
      each.push_back(at);
      at += period + among(0, jitter);
    }
    each.push_back(far);
  }
  return stamps;
}

/// Fed in some order in which each topic's messages come in theirs.
Sets sets_of(const Stamps& stamps, std::mt19937& random, Fed matcher) {
  std::vector<std::size_t> turns;
  for (std::size_t topic = 0; topic < stamps.size(); ++topic) turns.insert(turns.end(), stamps[topic].size(), topic);
  std::ranges::shuffle(turns, random);
  std::vector<std::size_t> next(stamps.size(), 0);
  for (const std::size_t topic : turns) matcher.add(topic, stamps[topic][next[topic]++]);
  return matcher.sets();
}

/// The smallest size of the sets behind `begin`, the places of the first messages, that have one of those: all others leave messages of every topic out.
std::int64_t smallest_behind(const Stamps& stamps, const std::vector<std::size_t>& begin) {
  std::int64_t smallest = INT64_MAX;
  std::vector<std::size_t> at = begin;
  for (;;) {
    bool is_contiguous = false;
    std::vector<std::int64_t> set;
    for (std::size_t i = 0; i < at.size(); ++i) {
      is_contiguous |= at[i] == begin[i];
      set.push_back(stamps[i][at[i]]);
    }
    if (is_contiguous) smallest = std::min(smallest, size_of(set));
    std::size_t i = 0;
    while (i < at.size() && ++at[i] == stamps[i].size()) {
      at[i] = begin[i];
      ++i;
    }
    if (i == at.size()) return smallest;
  }
}

/// In strictly increasing stamps a stamp says which message it is.
void expect_promised(const Stamps& stamps, const Sets& sets) {
  std::vector<std::size_t> begin(stamps.size(), 0);
  for (const auto& set : sets) {
    std::vector<std::size_t> places;
    bool is_contiguous = false;
    for (std::size_t i = 0; i < stamps.size(); ++i) {
      const auto place = static_cast<std::size_t>(std::ranges::find(stamps[i], set[i]) - stamps[i].begin());
      ASSERT_LT(place, stamps[i].size());
      ASSERT_GE(place, begin[i]) << "a message is used twice, or sets cross";
      is_contiguous |= place == begin[i];
      places.push_back(place);
    }
    EXPECT_TRUE(is_contiguous);
    ASSERT_EQ(size_of(set), smallest_behind(stamps, begin));
    for (std::size_t i = 0; i < places.size(); ++i) begin[i] = places[i] + 1;
  }
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.back(), std::vector<std::int64_t>(stamps.size(), far)) << "there was more to give out";
}

TEST(Approximate, sets_do_not_cross_are_contiguous_and_of_the_smallest_size_of_all_such_sets) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const std::size_t topics = 2 + static_cast<std::size_t>(round) % 3;
    const Stamps stamps = random_stamps(random, topics, topics == 2 ? 40 : topics == 3 ? 16 : 8);
    expect_promised(stamps, sets_of(stamps, random, Fed::approximate(topics)));
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

TEST(Approximate, sets_follow_from_the_stamps_and_not_from_when_messages_come) {
  std::mt19937 random(2);
  for (int round = 0; round < 400; ++round) {
    const std::size_t topics = 2 + static_cast<std::size_t>(round) % 8;
    const Stamps stamps = random_stamps(random, topics, 40);
    const ApproximateOptions options{
        .age_penalty = round % 2 == 0 ? 0 : 0.5, .max_interval = round % 3 == 0 ? 10 : INT64_MAX, .lower_bounds = {}};
    EXPECT_EQ(sets_of(stamps, random, Fed::approximate(topics, options)), sets_of(stamps, random, Fed::approximate(topics, options)));
  }
}

TEST(Approximate, lower_bounds_that_hold_change_nothing_but_when_sets_are_given_out) {
  std::mt19937 random(3);
  for (int round = 0; round < 400; ++round) {
    const std::size_t topics = 2 + static_cast<std::size_t>(round) % 4;
    const Stamps stamps = random_stamps(random, topics, 40);
    ApproximateOptions bounded{.age_penalty = 0, .lower_bounds = {}};
    for (const auto& each : stamps) {
      std::int64_t least = INT64_MAX;
      for (std::size_t i = 1; i < each.size(); ++i) least = std::min(least, each[i] - each[i - 1]);
      bounded.lower_bounds.push_back(least);
    }
    EXPECT_EQ(sets_of(stamps, random, Fed::approximate(topics, bounded)), sets_of(stamps, random, Fed::approximate(topics)));
  }
}

TEST(Approximate, no_set_is_larger_than_the_largest_interval_and_with_it_none_is_lost_that_fits) {
  std::mt19937 random(4);
  for (int round = 0; round < 200; ++round) {
    const Stamps stamps = random_stamps(random, 3, 40);
    const Sets sets = sets_of(stamps, random, Fed::approximate(3, {.age_penalty = 0, .max_interval = 5, .lower_bounds = {}}));
    for (const auto& set : sets) EXPECT_LE(size_of(set), 5);
    EXPECT_EQ(sets.back(), std::vector<std::int64_t>(3, far));
    // Behind the last set there is none, nor between two, that fits.
    std::vector<std::int64_t> behind(3, INT64_MIN);
    for (const auto& set : sets) {
      for (const std::int64_t a : stamps[0]) {
        for (const std::int64_t b : stamps[1]) {
          for (const std::int64_t c : stamps[2]) {
            const bool is_between = a > behind[0] && a < set[0] && b > behind[1] && b < set[1] && c > behind[2] && c < set[2];
            EXPECT_TRUE(!is_between || size_of({a, b, c}) > 5);
          }
        }
      }
      behind = set;
    }
  }
}

TEST(Approximate, a_set_is_given_out_when_no_later_message_can_make_a_better_one_and_not_before) {
  Fed matcher = Fed::approximate(2);
  matcher.add(0, 0);
  matcher.add(1, 10);
  EXPECT_EQ(matcher.sets(), Sets{});  // the next one of topic 0 may be from 10
  matcher.add(0, 19);
  EXPECT_EQ(matcher.sets(), (Sets{{19, 10}}));  // there is none between, and 10 is in the next set
  matcher.add(1, 21);
  matcher.add(0, 21);
  EXPECT_EQ(matcher.sets(), (Sets{{19, 10}, {21, 21}}));  // nothing is better than that
}

TEST(Approximate, a_lower_bound_makes_a_set_known_sooner) {
  Fed patient = Fed::approximate(2, {.age_penalty = 0, .lower_bounds = {19, 0}}),
      quick = Fed::approximate(2, {.age_penalty = 0, .lower_bounds = {20, 0}});
  for (Fed* each : {&patient, &quick}) {
    each->add(0, 0);
    each->add(1, 10);
  }
  EXPECT_EQ(patient.sets(), Sets{});
  EXPECT_EQ(quick.sets(), (Sets{{0, 10}}));
}

TEST(Approximate, an_age_penalty_prefers_the_earlier_set_of_two_of_about_the_same_size) {
  for (const double penalty : {0.0, 0.1}) {
    Fed matcher = Fed::approximate(2, {.age_penalty = penalty, .lower_bounds = {}});
    matcher.add(0, 0);
    matcher.add(1, 100);
    matcher.add(0, 195);
    EXPECT_EQ(matcher.sets(), penalty == 0.0 ? Sets({{195, 100}}) : Sets({{0, 100}}));
  }
}

TEST(Approximate, what_is_too_far_from_all_that_may_come_is_let_go_at_once) {
  Fed matcher = Fed::approximate(2, {.age_penalty = 0, .max_interval = 5, .lower_bounds = {}});
  for (const int stamp : {0, 1, 2, 96}) matcher.add(0, stamp);
  EXPECT_EQ(matcher.held(), 4U);
  matcher.add(1, 100);
  EXPECT_EQ(matcher.held(), 2U);
}

TEST(Approximate, of_each_topic_the_newest_messages_are_held_and_no_more) {
  Fed matcher = Fed::approximate(3, {.age_penalty = 0, .lower_bounds = {}}, 4);
  for (int stamp = 0; stamp < 100; ++stamp) {
    matcher.add(0, stamp);
    matcher.add(1, stamp);
  }
  EXPECT_EQ(matcher.held(), 8U);
  matcher.add(2, 97);
  EXPECT_EQ(matcher.sets(), (Sets{{97, 97, 97}}));
}

TEST(Approximate, a_recording_that_is_played_again_is_matched_again) {
  Fed matcher = Fed::approximate(2, {.age_penalty = 0, .lower_bounds = {}}, 4);
  for (int round = 0; round < 3; ++round) {
    for (int stamp = 1000; stamp < 1010; ++stamp) {
      matcher.add(0, stamp);
      if (round > 0 || stamp < 1005) matcher.add(1, stamp);
    }
  }
  EXPECT_EQ(matcher.sets().size(), 5U + 10 + 10);
  Fed unmatched = Fed::approximate(2, {.age_penalty = 0, .lower_bounds = {}}, 4);
  for (int stamp = 1000; stamp < 1010; ++stamp) unmatched.add(0, stamp);
  for (int stamp = 0; stamp < 10; ++stamp) {
    unmatched.add(0, stamp);
    unmatched.add(1, stamp);
  }
  EXPECT_EQ(unmatched.sets().size(), 10U);
}

}  // namespace
}  // namespace sinew::message_filters::detail
