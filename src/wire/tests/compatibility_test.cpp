// Every cell of every policy: what a publisher offers against what a subscriber asks for.
#include "wire/compatibility.hpp"

#include <gtest/gtest.h>

namespace sinew::wire {
namespace {

constexpr std::int64_t ms = 1'000'000;

/// One policy's values, and which offer is enough for which wish: a row per offer, a column per wish, '+' where it is and '-' where it is not.
struct Table {
  Policy policy;
  std::vector<Qos> values;
  std::vector<std::string> rows;
};

std::vector<Table> tables() {
  return {
      {Policy::reliability,
       {{.reliable = false}, {.reliable = true}},
       {"+-",  //
        "++"}},
      {Policy::durability,
       {{.durability = Durability::volatile_}, {.durability = Durability::transient_local}},
       {"+-",  //
        "++"}},
      {Policy::deadline,
       {{.deadline = 0}, {.deadline = 1}, {.deadline = 50 * ms}, {.deadline = 50 * ms + 1}, {.deadline = max_duration}},
       {"+----",  // none is the longest
        "+++++",  //
        "+-+++",  //
        "+--++",  //
        "+---+"}},
      {Policy::liveliness,
       {{.lease = 0},
        {.lease = 50 * ms},
        {.lease = 100 * ms},
        {.liveliness = Liveliness::manual_by_topic, .lease = 0},
        {.liveliness = Liveliness::manual_by_topic, .lease = 50 * ms},
        {.liveliness = Liveliness::manual_by_topic, .lease = 100 * ms}},
       {"+-----",  // automatic is never enough for by-topic
        "+++---",  //
        "+-+---",  //
        "+--+--",  // without a lease, by-topic is not enough for one
        "++++++",  //
        "+-++-+"}},
  };
}

TEST(Compatibility, each_policy_fits_exactly_where_at_least_as_much_is_offered_as_asked_for) {
  for (const Table& table : tables()) {
    ASSERT_EQ(table.rows.size(), table.values.size());
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      ASSERT_EQ(table.rows[row].size(), table.values.size());
      for (std::size_t column = 0; column < table.values.size(); ++column) {
        const Qos &offered = table.values[row], &asked = table.values[column];
        const std::vector<Policy> expected = table.rows[row][column] == '+' ? std::vector<Policy>{} : std::vector{table.policy};
        EXPECT_EQ(incompatible_policies(offered, asked), expected) << explain(table.policy, offered, asked);
      }
    }
  }
}

TEST(Compatibility, history_and_lifespan_are_each_sides_own) {
  const Qos some{.depth = 1, .lifespan = 1}, others{.depth = 0, .lifespan = 0};
  EXPECT_TRUE(incompatible_policies(some, others).empty());
  EXPECT_TRUE(incompatible_policies(others, some).empty());
}

TEST(Compatibility, every_policy_that_does_not_fit_is_named) {
  const Qos nothing{};
  const Qos everything{.reliable = true,
                       .durability = Durability::transient_local,
                       .deadline = 100 * ms,
                       .liveliness = Liveliness::manual_by_topic,
                       .lease = 1000 * ms};
  EXPECT_EQ(incompatible_policies(nothing, everything),
            (std::vector{Policy::reliability, Policy::durability, Policy::deadline, Policy::liveliness}));
  EXPECT_TRUE(incompatible_policies(everything, nothing).empty());
}

TEST(Compatibility, the_explanation_has_the_policy_and_both_values) {
  const Qos less{.deadline = 0, .lease = 1500 * ms};
  const Qos more{.reliable = true,
                 .durability = Durability::transient_local,
                 .deadline = 33'333'333,
                 .liveliness = Liveliness::manual_by_topic,
                 .lease = 1000 * ms};
  EXPECT_EQ(explain(Policy::reliability, less, more), "reliability: the publisher offers best_effort, the subscriber asks for reliable");
  EXPECT_EQ(explain(Policy::durability, less, more), "durability: the publisher offers volatile, the subscriber asks for transient_local");
  EXPECT_EQ(explain(Policy::deadline, less, more), "deadline: the publisher offers none, the subscriber asks for 33.333333 ms");
  EXPECT_EQ(
      explain(Policy::liveliness, less, more),
      "liveliness: the publisher offers automatic with a lease of 1.5 s, the subscriber asks for manual_by_topic with a lease of 1 s");
  EXPECT_EQ(explain(Policy::liveliness, {}, {.lease = 1}),
            "liveliness: the publisher offers automatic without a lease, the subscriber asks for automatic with a lease of 1 ns");
}

TEST(Compatibility, durations_are_told_to_the_nanosecond) {
  const auto told = [](std::int64_t deadline) {
    const std::string text = explain(Policy::deadline, {.deadline = deadline}, {});
    return text.substr(0, text.find(','));
  };
  EXPECT_EQ(told(1), "deadline: the publisher offers 1 ns");
  EXPECT_EQ(told(1'050), "deadline: the publisher offers 1.05 us");
  EXPECT_EQ(told(10 * ms), "deadline: the publisher offers 10 ms");
  EXPECT_EQ(told(1000 * ms + 1), "deadline: the publisher offers 1.000000001 s");
  EXPECT_EQ(told(max_duration), "deadline: the publisher offers 3155760000 s");
}

}  // namespace
}  // namespace sinew::wire
