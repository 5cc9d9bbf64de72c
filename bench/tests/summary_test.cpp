#include "summary.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "percentile.hpp"

namespace sinew::bench {
namespace {

TEST(Percentile, is_always_a_sample_that_occurred) {
  const std::vector<std::int64_t> two{10, 1000};
  EXPECT_EQ(percentile(two, 0.5), 10);
  EXPECT_EQ(percentile(two, 0.51), 1000);
  EXPECT_EQ(percentile(std::vector<std::int64_t>{7}, 0.99), 7);
}

TEST(Percentile, counts_ranks_from_the_smallest) {
  std::vector<std::int64_t> hundred;
  for (std::int64_t i = 1; i <= 100; ++i) hundred.push_back(i);
  EXPECT_EQ(percentile(hundred, 0), 1);
  EXPECT_EQ(percentile(hundred, 0.5), 50);
  EXPECT_EQ(percentile(hundred, 0.9), 90);
  EXPECT_EQ(percentile(hundred, 0.99), 99);
  EXPECT_EQ(percentile(hundred, 0.999), 100);
  EXPECT_EQ(percentile(hundred, 1), 100);
}

TEST(Topology, is_read_and_written_alike) {
  Cell cell;
  set_topology(cell, "5p1s");
  EXPECT_EQ(cell.publishers, 5u);
  EXPECT_EQ(cell.subscribers, 1u);
  EXPECT_EQ(topology_of(cell), "5p1s");
}

TEST(Topology, says_what_is_allowed_when_it_is_not_one) {
  for (const char* bad : {"", "1p", "p1s", "1p1", "1p1s ", "0p1s", "1p65s", "-1p1s", "1s1p", "99999999999p1s"}) {
    Cell cell;
    EXPECT_THROW(set_topology(cell, bad), std::invalid_argument) << bad;
  }
}

TEST(Row, counts_everything_per_published_message) {
  Cell cell;
  cell.system = "floor";
  set_topology(cell, "1p5s");
  cell.count = 4;
  Samples samples;
  samples.latency.assign(19, 3000);  // in no order, and one of twenty lost
  samples.latency.front() = 9000;
  samples.publish.assign(4, 500);
  samples.lost = 1;
  samples.cpu = 40'000;
  samples.bytes_copied = 800;
  samples.seconds = 2;
  const nlohmann::json row = make_row(cell, samples, true);
  EXPECT_EQ(row["p50_us"], 3.0);
  EXPECT_EQ(row["max_us"], 9.0);
  EXPECT_NEAR(row["variation"], 0.404, 0.001);  // of 18 times 3 and once 9: mean 3.316, deviation 1.340
  EXPECT_EQ(row["publish_us"], 0.5);
  EXPECT_EQ(row["cpu_us_per_message"], 10.0);
  EXPECT_EQ(row["bytes_copied_per_message"], 200.0);
  EXPECT_EQ(row["messages_per_s"], 1.9);
  EXPECT_EQ(row["lost"], 1);
  EXPECT_EQ(row["awake"], true);
}

TEST(Row, has_no_latency_when_nothing_arrived) {
  const nlohmann::json row = make_row(Cell{}, Samples{}, false);
  EXPECT_TRUE(row["p50_us"].is_null());
  EXPECT_TRUE(row["publish_us"].is_null());
  EXPECT_EQ(row["awake"], false);
}

}  // namespace
}  // namespace sinew::bench
