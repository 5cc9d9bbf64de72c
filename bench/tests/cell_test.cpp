// Runs the programs themselves: every system and every part gives a whole row.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/program.hpp"

namespace {

using sinew::bench::Outcome, sinew::bench::run;

Outcome sinew_bench(const std::string& arguments) {
  return run(SINEW_BENCH_PROGRAM " " + arguments);
}

/// At 50 Hz subscribers that keep the last 8 lose nothing before the machine stands still for longer than an eighth of a second: then it is measured again.
Outcome bench_without_loss(const std::string& arguments) {
  Outcome outcome = sinew_bench(arguments);
  for (int again = 0; again < 5 && outcome.status == 0 && outcome.row()["lost"] != 0; ++again) outcome = sinew_bench(arguments);
  return outcome;
}

class System : public testing::TestWithParam<const char*> {};

TEST_P(System, gives_a_row_with_every_key) {
  const Outcome outcome = bench_without_loss(std::string("--rate 50 --count 25 --size 4096 --system ") + GetParam());
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const nlohmann::json row = outcome.row();
  for (const char* key : {"experiment", "system", "topology", "wait"}) EXPECT_TRUE(row.at(key).is_string()) << key;
  for (const char* key : {"size", "rate", "count", "lost", "min_us", "p50_us", "p90_us", "p99_us", "p999_us", "max_us", "publish_us",
                          "cpu_us_per_message", "bytes_copied_per_message", "messages_per_s"}) {
    EXPECT_TRUE(row.at(key).is_number()) << key;
  }
  EXPECT_TRUE(row.at("awake").is_boolean());
  EXPECT_EQ(row["system"], GetParam());
  EXPECT_EQ(row["count"], 25);
  EXPECT_EQ(row["lost"], 0);
  EXPECT_LE(row["min_us"], row["p50_us"]);
  EXPECT_LE(row["p50_us"], row["p99_us"]);
  EXPECT_LE(row["p99_us"], row["max_us"]);
}

// That they are containers is the kernel's promise; that messages pass between them, that of tests/isolation.
TEST(Containers, are_made_where_the_user_may_and_else_the_cell_says_what_it_needs) {
  const bool may_make_containers = run("unshare --mount --pid --ipc --net --fork true").status == 0;
  for (const std::string where : {"one", "each"}) {
    const Outcome outcome = bench_without_loss("--rate 50 --count 10 --size 4096 --system sinew-loan --containers " + where);
    if (may_make_containers) {
      ASSERT_EQ(outcome.status, 0) << outcome.output;
      EXPECT_EQ(outcome.row()["containers"], where);
      EXPECT_EQ(outcome.row()["lost"], 0);
    } else {
      EXPECT_EQ(outcome.status, 1);
      EXPECT_NE(outcome.output.find("needs root"), std::string::npos) << outcome.output;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, System, testing::Values("floor", "memcpy", "sinew-loan", "sinew-publish", "tcp", "unix"),
                         [](const auto& each) {
                           std::string name(each.param);
                           for (char& letter : name) letter = letter == '-' ? '_' : letter;
                           return name;
                         });

TEST(Bench, reaches_every_subscriber_from_every_publisher) {
  for (const char* system : {"floor", "sinew-loan", "sinew-publish", "tcp", "unix"}) {
    for (const char* topology : {"1p5s", "5p1s", "2p3s"}) {
      const Outcome outcome = bench_without_loss(std::string("--rate 50 --count 20 --system ") + system + " --topology " + topology);
      ASSERT_EQ(outcome.status, 0) << outcome.output;
      EXPECT_EQ(outcome.row()["lost"], 0) << system << " " << topology;
    }
  }
}

TEST(Bench, loses_nothing_flat_out_while_subscribers_spin) {
  for (const char* system : {"floor", "sinew-loan", "tcp", "unix"}) {
    const Outcome outcome = sinew_bench(std::string("--wait spin --rate 0 --count 500 --system ") + system);
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(outcome.row()["lost"], 0) << system;
  }
}

TEST(Bench, knows_what_a_transport_copies) {
  EXPECT_EQ(sinew_bench("--rate 500 --count 10 --size 1000 --system floor").row()["bytes_copied_per_message"], 0);
  EXPECT_EQ(sinew_bench("--rate 500 --count 10 --size 1000 --system memcpy").row()["bytes_copied_per_message"], 1000);
  EXPECT_EQ(sinew_bench("--rate 500 --count 10 --size 1000 --system sinew-loan").row()["bytes_copied_per_message"], 0);
  EXPECT_EQ(sinew_bench("--rate 500 --count 10 --size 1000 --topology 1p5s --system tcp").row()["bytes_copied_per_message"], 10000);
}

TEST(Bench, watches_an_idle_node) {
  const Outcome outcome = sinew_bench("--system sinew-idle --count 1");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const nlohmann::json row = outcome.row();
  EXPECT_TRUE(row["p50_us"].is_null());
  EXPECT_GT(row["private_kib"], 0);
  for (const char* key : {"idle_cpu_us", "idle_cpu_ticks", "idle_switches"}) EXPECT_TRUE(row.at(key).is_number()) << key;
}

void expect_times(const nlohmann::json& row, const std::string& prefix) {
  for (const char* key : {"p50_ns", "p99_ns", "max_ns"}) ASSERT_TRUE(row.at(prefix + key).is_number()) << row << prefix << key;
  EXPECT_LE(row[prefix + "p50_ns"], row[prefix + "p99_ns"]);
  EXPECT_LE(row[prefix + "p99_ns"], row[prefix + "max_ns"]);
}

nlohmann::json part(const std::string& program, const std::string& name, int count) {
  const Outcome outcome = run(program + " --part " + name + " --count " + std::to_string(count));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  nlohmann::json row = outcome.row();
  EXPECT_EQ(row["experiment"], "part");
  EXPECT_EQ(row["part"], name);
  EXPECT_EQ(row["count"], count);
  EXPECT_TRUE(row["awake"].is_boolean());
  return row;
}

TEST(Parts, with_a_floor_give_times_of_both) {
  std::vector<nlohmann::json> rows;
  for (const char* name : {"handle", "heap-16", "heap-256"}) rows.push_back(part(SINEW_BENCH_PARTS, name, 3));
  for (const char* name : {"audit-texts", "audit-texts-codec", "image-write", "image-read", "state-write", "state-read"}) {
    rows.push_back(part(SINEW_BENCH_INSIDE, name, 3));
  }
  for (const nlohmann::json& row : rows) {
    expect_times(row, "");
    expect_times(row, "floor_");
    EXPECT_GT(row["ratio"], 0) << row;
    EXPECT_TRUE(row["more_ns"].is_number()) << row;
  }
}

TEST(Parts, without_a_floor_give_times_and_no_ratio) {
  std::vector<nlohmann::json> rows;
  for (const char* name : {"publish", "publish-vector", "life", "take", "take-vector"}) rows.push_back(part(SINEW_BENCH_PARTS, name, 3));
  for (const char* name : {"audit-image", "cloud-pieces"}) rows.push_back(part(SINEW_BENCH_INSIDE, name, 3));
  for (const nlohmann::json& row : rows) {
    expect_times(row, "");
    for (const char* key : {"floor_p50_ns", "ratio", "more_ns"}) EXPECT_TRUE(row.at(key).is_null()) << key << row;
  }
}

TEST(Parts, say_what_becomes_of_memory) {
  const nlohmann::json churn = part(SINEW_BENCH_PARTS, "churn", 3000);
  EXPECT_GT(churn["resident_first_kib"], 0);
  EXPECT_LE(churn["resident_last_kib"], churn["resident_most_kib"]);
  for (const char* name : {"hour", "hour-one-window"}) {
    const nlohmann::json hour = part(SINEW_BENCH_PARTS, name, 2);
    EXPECT_GE(hour["mapped_most_ratio"], 1);
    EXPECT_LE(hour["mapped_last_ratio"], hour["mapped_most_ratio"]);
  }
}

TEST(Registration, gives_the_managers_time_in_each_way_that_a_domain_grows) {
  for (const std::string shape : {"topics", "readers", "clients"}) {
    const Outcome outcome = run(SINEW_BENCH_REGISTRATION " --interfaces 200 --rounds 2 --shape " + shape);
    ASSERT_EQ(outcome.status, 0) << outcome.output;
    const nlohmann::json row = outcome.row();
    EXPECT_EQ(row["shape"], shape);
    EXPECT_EQ(row["interfaces"], 200);
    for (const char* key : {"register_us", "delete_us", "node_us", "resident_kib"}) EXPECT_GT(row.at(key), 0) << key << row;
  }
  const Outcome outcome = run(SINEW_BENCH_REGISTRATION " --interfaces 20 --shape nodes");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_GT(outcome.row()["introduce_us"], 0) << outcome.output;
}

TEST(Scale, processes_that_come_up_at_once_are_matched_hear_each_other_and_leave_nothing_behind) {
  const Outcome outcome = run(SINEW_BENCH_SCALE " --topics 60 --processes 10 --interfaces 18");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const nlohmann::json row = outcome.row();
  EXPECT_EQ(row["unmatched"], 0);
  EXPECT_EQ(row["unheard"], 0);
  EXPECT_EQ(row["left_behind"], false);
  for (const char* key :
       {"created_s", "matched_s", "heard_s", "ended_s", "manager_kib", "manager_descriptors", "node_kib", "node_descriptors"}) {
    EXPECT_GT(row.at(key), 0) << key << row;
  }
}

TEST(Scale, says_that_there_are_too_few_interfaces_for_the_topics) {
  const Outcome outcome = run(SINEW_BENCH_SCALE " --topics 100 --processes 2 --interfaces 10");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.output.find("20 interfaces are too few for 100 topics"), std::string::npos) << outcome.output;
}

TEST(Bench, says_what_it_can_measure_when_asked_for_something_else) {
  const Outcome outcome = sinew_bench("--system pigeon");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.output.find("sinew-publish"), std::string::npos) << outcome.output;
}

}  // namespace
