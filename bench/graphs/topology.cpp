#include "topology.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "messages.hpp"

namespace sinew::bench::graphs {

namespace {

using nlohmann::json;

constexpr double millisecond = 1e6;

Publication publication_of(const json& entry, unsigned index) {
  Publication publication{.index = index,
                          .topic = entry.at("topic_name"),
                          .type = entry.at("msg_type"),
                          .size = entry.value("msg_size", std::size_t{0}),
                          .period_ns = std::llround(entry.value("period_ms", 0.0) * millisecond),
                          .subscriptions = {}};
  with_type(publication.type, [&]<class T>() {
    if constexpr (requires { std::tuple_size<decltype(T::data)>::value; }) publication.size = sizeof(T::data);
  });
  return publication;
}

void read_node(Topology& topology, const json& entry) {
  GraphNode node{.name = entry.at("node_name"), .publications = {}, .subscriptions = {}};
  for (const json& each : entry.value("subscribers", json::array())) {
    node.subscriptions.push_back(static_cast<unsigned>(topology.subscriptions.size()));
    topology.subscriptions.push_back(
        {.index = node.subscriptions.back(), .topic = each.at("topic_name"), .type = each.at("msg_type"), .publication = 0});
  }
  for (const json& each : entry.value("publishers", json::array())) {
    node.publications.push_back(static_cast<unsigned>(topology.publications.size()));
    Publication& publication = topology.publications.emplace_back(publication_of(each, node.publications.back()));
    if (!each.contains("relays")) continue;
    publication.relays = *std::ranges::find_if(
        node.subscriptions, [&](unsigned index) { return topology.subscriptions[index].topic == each.at("relays").get<std::string>(); });
    topology.subscriptions[*publication.relays].relay = publication.index;
  }
  topology.nodes.push_back(std::move(node));
}

// Each topic has one publisher in all graphs, and sockets between pairs are counted on that.
void join(Topology& topology) {
  std::map<std::string, unsigned> by_topic;
  for (const Publication& publication : topology.publications) by_topic.emplace(publication.topic, publication.index);
  for (Subscription& subscription : topology.subscriptions) {
    subscription.publication = by_topic.at(subscription.topic);
    topology.publications[subscription.publication].subscriptions.push_back(subscription.index);
  }
}

// Nodes stand behind those whose messages they relay.
void join_relays(Topology& topology) {
  for (Publication& publication : topology.publications) {
    if (!publication.relays) continue;
    Publication& source = topology.publications[topology.subscriptions[*publication.relays].publication];
    source.is_relayed = true;
    publication.size = source.size;
    publication.period_ns = source.period_ns;
    for (const unsigned index : publication.subscriptions) topology.subscriptions[index].is_changed = true;
  }
}

}  // namespace

Topology load(const std::string& graph) {
  Topology topology{.name = graph, .nodes = {}, .publications = {}, .subscriptions = {}};
  const json file = json::parse(std::ranges::find(built_in(), std::string_view(graph), &BuiltIn::name)->text);
  for (const json& entry : file.at("nodes")) read_node(topology, entry);
  join(topology);
  join_relays(topology);
  return topology;
}

}  // namespace sinew::bench::graphs
