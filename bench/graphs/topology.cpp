#include "topology.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "messages.hpp"

namespace sinew::bench::graphs {

namespace {

using nlohmann::json;

constexpr std::int64_t millisecond = 1'000'000;
constexpr std::int64_t longest_period_ms = 60'000;
constexpr std::int64_t largest_vector = 64'000'000;

[[noreturn]] void refuse(const std::string& sentence) {
  throw std::runtime_error(sentence);
}

std::string known_types() {
  std::string names;
  [&]<class... T>(TypeList<T...>) { ((names += " " + std::string(topology_name<T>())), ...); }(Types{});
  return names;
}

// Bytes of the payload; `vector_size` is for the type that has no size of its own.
std::size_t payload_of(const std::string& topic, const std::string& type, std::size_t vector_size) {
  std::size_t size = vector_size;
  const bool known = with_type(type, [&]<class T>() {
    if constexpr (requires { std::tuple_size<decltype(T::data)>::value; }) size = sizeof(T::data);
  });
  if (!known) refuse("topic " + topic + " has messages of type \"" + type + "\", which is none of:" + known_types());
  return size;
}

std::int64_t number_of(const json& entry, const char* key, const std::string& topic, std::int64_t most) {
  if (!entry.contains(key) || !entry[key].is_number_integer() || entry[key] < 1 || entry[key] > most) {
    refuse("the publisher of topic " + topic + " needs \"" + key + "\", a whole number from 1 to " + std::to_string(most));
  }
  return entry[key].get<std::int64_t>();
}

Publication publication_of(const json& entry, unsigned index) {
  const std::string topic = entry.at("topic_name"), type = entry.at("msg_type");
  const bool sized = type == topology_name<StampedVector>();
  const std::size_t vector_size = sized ? static_cast<std::size_t>(number_of(entry, "msg_size", topic, largest_vector)) : 0;
  return {.index = index,
          .topic = topic,
          .type = type,
          .size = payload_of(topic, type, vector_size),
          .period_ns = number_of(entry, "period_ms", topic, longest_period_ms) * millisecond,
          .subscriptions = {}};
}

void read_node(Topology& topology, const json& entry) {
  GraphNode node{.name = entry.at("node_name"), .publications = {}, .subscriptions = {}};
  for (const json& each : entry.value("publishers", json::array())) {
    node.publications.push_back(static_cast<unsigned>(topology.publications.size()));
    topology.publications.push_back(publication_of(each, node.publications.back()));
  }
  for (const json& each : entry.value("subscribers", json::array())) {
    node.subscriptions.push_back(static_cast<unsigned>(topology.subscriptions.size()));
    topology.subscriptions.push_back(
        {.index = node.subscriptions.back(), .topic = each.at("topic_name"), .type = each.at("msg_type"), .publication = 0});
  }
  if (std::ranges::count(topology.nodes, node.name, &GraphNode::name) > 0) refuse("there are two nodes with the name " + node.name);
  topology.nodes.push_back(std::move(node));
}

// Each topic has one publisher in all graphs of the iRobot benchmark, and sockets between pairs are counted on that.
void join(Topology& topology) {
  std::map<std::string, unsigned> by_topic;
  for (const Publication& publication : topology.publications) {
    if (!by_topic.emplace(publication.topic, publication.index).second) refuse("topic " + publication.topic + " has two publishers");
  }
  for (Subscription& subscription : topology.subscriptions) {
    const auto found = by_topic.find(subscription.topic);
    if (found == by_topic.end()) refuse("topic " + subscription.topic + " has a subscriber and no publisher");
    Publication& publication = topology.publications[found->second];
    if (publication.type != subscription.type) {
      refuse("topic " + publication.topic + " is published as " + publication.type + " and subscribed to as " + subscription.type);
    }
    subscription.publication = publication.index;
    publication.subscriptions.push_back(subscription.index);
  }
}

std::string names_of_built_in() {
  std::string names;
  for (const BuiltIn& each : built_in()) names += " " + std::string(each.name);
  return names;
}

}  // namespace

Topology parse(const std::string& name, std::string_view text) {
  try {
    Topology topology{.name = name, .nodes = {}, .publications = {}, .subscriptions = {}};
    const json file = json::parse(text);
    for (const json& entry : file.at("nodes")) read_node(topology, entry);
    join(topology);
    if (topology.subscriptions.empty()) refuse("nobody subscribes to anything");
    return topology;
  } catch (const std::exception& error) {
    throw std::runtime_error("graph " + name + ": " + error.what());
  }
}

Topology load(const std::string& graph) {
  for (const BuiltIn& each : built_in()) {
    if (each.name == graph) return parse(graph, each.text);
  }
  std::ifstream file(graph);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) {
    refuse("there is no graph \"" + graph + "\": it is neither a file nor one of:" + names_of_built_in());
  }
  return parse(std::filesystem::path(graph).stem().string(), text.str());
}

}  // namespace sinew::bench::graphs
