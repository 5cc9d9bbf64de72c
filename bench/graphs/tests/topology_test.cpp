// The graphs that are built in.
#include "topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

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

}  // namespace
}  // namespace sinew::bench::graphs
