// The graphs that are built in.
#include "topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

namespace sinew::bench::graphs {
namespace {

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

TEST(Topology, a_subscription_knows_the_publisher_of_its_topic_wherever_it_stands_and_each_message_has_a_size) {
  for (const BuiltIn& graph : built_in()) {
    const Topology topology = load(std::string(graph.name));
    for (const Subscription& each : topology.subscriptions) {
      const Publication& publication = topology.publications.at(each.publication);
      EXPECT_EQ(publication.topic, each.topic);
      EXPECT_EQ(publication.type, each.type);
      EXPECT_EQ(std::ranges::count(publication.subscriptions, each.index), 1);
    }
    for (const Publication& each : topology.publications) {
      EXPECT_GT(each.size, 0U) << each.topic;
      EXPECT_GT(each.period_ns, 0) << each.topic;
    }
  }
}

TEST(Topology, the_image_pipelines_are_as_the_intra_process_demo_of_ROS_2_has_them) {
  for (const auto& [name, viewers] : {std::pair("image_pipeline", 1U), std::pair("image_pipeline_two_viewers", 2U)}) {
    const Topology topology = load(name);
    EXPECT_EQ(topology.nodes.size(), 2U + viewers);
    ASSERT_EQ(topology.publications.size(), 2U);
    EXPECT_EQ(topology.publications[0].size, 320U * 240 * 3);
    EXPECT_EQ(topology.publications[0].subscriptions.size(), 1U);
    EXPECT_EQ(topology.publications[1].subscriptions.size(), viewers);
    EXPECT_NEAR(deliveries_a_second(topology), 30.0 * (1 + viewers), 0.001);
  }
}

TEST(Topology, what_a_node_gets_and_relays_is_known_on_both_sides_and_nobody_else_gets_what_it_changes) {
  for (const BuiltIn& graph : built_in()) {
    const Topology topology = load(std::string(graph.name));
    for (const Publication& each : topology.publications) {
      EXPECT_EQ(each.is_relayed,
                std::ranges::any_of(each.subscriptions, [&](unsigned index) { return topology.subscriptions[index].relay.has_value(); }));
      if (each.is_relayed) {
        EXPECT_EQ(each.subscriptions.size(), 1U) << each.topic;
      }
      for (const unsigned index : each.subscriptions) EXPECT_EQ(topology.subscriptions[index].is_changed, each.relays.has_value());
      if (!each.relays) continue;
      const Subscription& source = topology.subscriptions.at(*each.relays);
      EXPECT_EQ(source.relay, each.index);
      EXPECT_EQ(source.type, "stamped_vector");
      EXPECT_EQ(each.size, topology.publications.at(source.publication).size);
      EXPECT_EQ(each.period_ns, topology.publications.at(source.publication).period_ns);
    }
  }
}

}  // namespace
}  // namespace sinew::bench::graphs
