// The graphs that are built in, and what is said of files that are none.
#include "topology.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace sinew::bench::graphs {
namespace {

std::string complaint_about(const std::string& nodes) {
  try {
    parse("robot", "{ \"nodes\": [" + nodes + "] }");
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

double deliveries_a_second(const Topology& topology) {
  double sum = 0;
  for (const Publication& each : topology.publications) {
    sum += 1e9 / static_cast<double>(each.period_ns) * static_cast<double>(each.subscriptions.size());
  }
  return sum;
}

TEST(Topology, sierra_nevada_is_as_the_iRobot_benchmark_has_it) {
  const Topology topology = load("sierra_nevada");
  EXPECT_EQ(topology.nodes.size(), 10U);
  EXPECT_EQ(topology.publications.size(), 13U);
  EXPECT_EQ(topology.subscriptions.size(), 17U);
  EXPECT_DOUBLE_EQ(deliveries_a_second(topology), 1054);
}

TEST(Topology, mont_blanc_is_as_the_iRobot_benchmark_has_it) {
  const Topology topology = load("mont_blanc");
  EXPECT_EQ(topology.nodes.size(), 20U);
  EXPECT_EQ(topology.publications.size(), 23U);
  EXPECT_EQ(topology.subscriptions.size(), 35U);
  EXPECT_DOUBLE_EQ(deliveries_a_second(topology), 1263);
  std::size_t quarter_megabytes = 0;
  for (const Publication& each : topology.publications) quarter_megabytes += each.size >= 250'000 ? 1 : 0;
  EXPECT_EQ(quarter_megabytes, 2U);
}

TEST(Topology, a_subscription_knows_the_publisher_of_its_topic_wherever_it_stands) {
  const Topology topology = parse("robot", R"({ "nodes": [
      { "node_name": "b", "subscribers": [{ "topic_name": "t", "msg_type": "stamped_vector" }] },
      { "node_name": "a", "publishers": [{ "topic_name": "t", "msg_type": "stamped_vector", "msg_size": 5, "period_ms": 20 }] } ] })");
  EXPECT_EQ(topology.publications.at(topology.subscriptions.at(0).publication).topic, "t");
  EXPECT_EQ(topology.publications[0].subscriptions, std::vector<unsigned>{0});
  EXPECT_EQ(topology.publications[0].size, 5U);
  EXPECT_EQ(topology.publications[0].period_ns, 20'000'000);
}

TEST(Topology, says_what_is_wrong_with_a_file) {
  const std::string publisher =
      R"({ "node_name": "a", "publishers": [{ "topic_name": "t", "msg_type": "stamped100b", "period_ms": 10 }] })";
  EXPECT_NE(complaint_about(R"({ "node_name": "a", "publishers": [{ "topic_name": "t", "msg_type": "cube", "period_ms": 10 }] })")
                .find("\"cube\""),
            std::string::npos);
  EXPECT_NE(complaint_about(R"({ "node_name": "a", "publishers": [{ "topic_name": "t", "msg_type": "stamped100b", "period_ms": 0 }] })")
                .find("period_ms"),
            std::string::npos);
  EXPECT_NE(complaint_about(R"({ "node_name": "a", "publishers": [{ "topic_name": "t", "msg_type": "stamped_vector", "period_ms": 1 }] })")
                .find("msg_size"),
            std::string::npos);
  EXPECT_NE(complaint_about(publisher +
                            R"(, { "node_name": "b", "publishers": [{ "topic_name": "t", "msg_type": "stamped100b", "period_ms": 10 }] })")
                .find("two publishers"),
            std::string::npos);
  EXPECT_NE(complaint_about(R"({ "node_name": "a" }, { "node_name": "a" })").find("two nodes"), std::string::npos);
  EXPECT_NE(
      complaint_about(R"({ "node_name": "a", "subscribers": [{ "topic_name": "t", "msg_type": "stamped100b" }] })").find("no publisher"),
      std::string::npos);
  EXPECT_NE(complaint_about(publisher + R"(, { "node_name": "b", "subscribers": [{ "topic_name": "t", "msg_type": "stamped1kb" }] })")
                .find("stamped1kb"),
            std::string::npos);
  EXPECT_NE(complaint_about(publisher).find("nobody subscribes"), std::string::npos);
  EXPECT_NE(complaint_about("{").find("graph robot"), std::string::npos);
  EXPECT_THROW(load("no_such_graph"), std::runtime_error);
}

}  // namespace
}  // namespace sinew::bench::graphs
