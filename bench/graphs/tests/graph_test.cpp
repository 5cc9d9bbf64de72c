// Runs the program itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "tests/program.hpp"

namespace {

using sinew::bench::Outcome;

Outcome bench_graph(const std::string& arguments) {
  return sinew::bench::run(SINEW_BENCH_GRAPH " " + arguments);
}

/// Timers leave out the periods for which the machine stands still: then it is measured again, and half of the messages are enough where it does each time.
nlohmann::json measure(const std::string& graph, const std::string& mode, unsigned seconds, unsigned least_sent) {
  const std::string arguments = "--graph " + graph + " --seconds " + std::to_string(seconds) + " --mode " + mode;
  nlohmann::json row;
  for (int attempt = 0; attempt < 5 && (row.is_null() || row["sent"] < least_sent); ++attempt) {
    const Outcome outcome = bench_graph(arguments);
    if (outcome.status != 0) throw std::runtime_error(outcome.output);
    row = outcome.row();
  }
  return row;
}

class Mode : public testing::TestWithParam<const char*> {};

TEST_P(Mode, carries_the_messages_of_sierra_nevada) {
  const std::string mode = GetParam();
  const nlohmann::json row = measure("sierra_nevada", mode, 2, 2 * 654);
  EXPECT_EQ(row["experiment"], "graph");
  EXPECT_EQ(row["graph"], "sierra_nevada");
  EXPECT_EQ(row["mode"], mode);
  const unsigned manager = mode.starts_with("sinew") ? 1 : 0;
  EXPECT_EQ(row["processes"], (mode.ends_with("each") ? 10 : 1) + manager);

  // 654 messages and 1054 deliveries a second; a publisher that is late counts some from before.
  EXPECT_GE(row["sent"], 654);
  EXPECT_LE(row["sent"], 3 * 654);
  EXPECT_GE(row["received"], mode.starts_with("udp") ? 1054 / 2 : 1054);  // only UDP may lose some
  if (!mode.starts_with("udp")) {
    EXPECT_EQ(row["lost"], 0);
  }
  EXPECT_GE(row["big_received"].get<int>() + row["lost"].get<int>(), 10);

  for (const char* prefix : {"", "big_"}) {
    EXPECT_GT(row[std::string(prefix) + "p50_us"], 0);
    EXPECT_LE(row[std::string(prefix) + "p50_us"], row[std::string(prefix) + "p90_us"]);
    EXPECT_LE(row[std::string(prefix) + "p90_us"], row[std::string(prefix) + "p99_us"]);
    EXPECT_LE(row[std::string(prefix) + "p99_us"], row[std::string(prefix) + "max_us"]);
  }
  for (const char* key : {"cpu_cores", "cpu_us_per_message", "pss_first_kib", "pss_last_kib", "rss_first_kib", "rss_last_kib"}) {
    EXPECT_GT(row[key], 0) << key;
  }
  EXPECT_TRUE(row["growth_kib_per_s"].is_number());
  EXPECT_LE(row["pss_last_kib"], row["rss_last_kib"]);
}

// An image that came damaged, or without the mark of the node in the middle, would fail the run.
TEST_P(Mode, carries_images_through_a_node_that_changes_them_to_all_viewers) {
  const std::string mode = GetParam();
  const nlohmann::json row = measure("image_pipeline_two_viewers", mode, 1, 2 * 30);
  EXPECT_EQ(row["processes"], (mode.ends_with("each") ? 4 : 1) + (mode.starts_with("sinew") ? 1 : 0));
  EXPECT_EQ(row["publishers"], 2);
  EXPECT_EQ(row["subscriptions"], 3);
  EXPECT_GE(row["sent"], 30);
  EXPECT_LE(row["sent"], 3 * 30);
  // Who has an image is the node in the middle and two viewers; the last of them tells its latency.
  const int images = row["big_received"];
  EXPECT_GT(images, 0);
  EXPECT_EQ(row["p50_us"], row["big_p50_us"]);
  EXPECT_GT(row["p50_us"], 0);
  if (mode.starts_with("udp")) return;  // only UDP may lose some
  EXPECT_EQ(row["lost"], 0);
  EXPECT_EQ(row["sent"], 2 * images);
  EXPECT_EQ(row["received"], 3 * images);
}

INSTANTIATE_TEST_SUITE_P(All, Mode,
                         testing::Values("floor", "sinew-one", "sinew-threads", "sinew-each", "udp-one", "udp-threads", "udp-each"),
                         [](const auto& each) {
                           std::string name(each.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Graph, that_does_not_exist_is_refused_with_those_that_do) {
  const Outcome outcome = bench_graph("--graph everest --seconds 1");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.output.find("mont_blanc"), std::string::npos) << outcome.output;
}

TEST(Graph, modes_are_listed_when_asked_for_another) {
  const Outcome outcome = bench_graph("--mode pigeon");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.output.find("udp-each"), std::string::npos) << outcome.output;
}

}  // namespace
