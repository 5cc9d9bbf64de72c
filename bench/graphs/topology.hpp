// A graph of nodes that publish at fixed rates, or what they get, and subscribe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::bench::graphs {

struct Publication {
  unsigned index;  ///< in Topology::publications
  std::string topic, type;
  std::size_t size;  ///< payload bytes
  std::int64_t period_ns;
  std::vector<unsigned> subscriptions;  ///< indices of those of its topic
  /// Index of the subscription whose messages its node changes and publishes by this, as they come. Size and period are those of what it gets.
  std::optional<unsigned> relays = {};
  bool is_relayed = false;  ///< who subscribes to it relays it
};

struct Subscription {
  unsigned index;  ///< in Topology::subscriptions
  std::string topic, type;
  unsigned publication;                ///< index of the one of its topic
  std::optional<unsigned> relay = {};  ///< index of the publication that relays it
  bool is_changed = false;             ///< a node on the way has changed what comes
};

struct GraphNode {
  std::string name;
  std::vector<unsigned> publications, subscriptions;  ///< indices
};

struct Topology {
  std::string name;
  std::vector<GraphNode> nodes;
  std::vector<Publication> publications;
  std::vector<Subscription> subscriptions;
};

/// The graphs that are part of this program.
struct BuiltIn {
  std::string_view name, text;
};
std::span<const BuiltIn> built_in();

/// REQUIRES: `graph` is the name of one that is built in.
Topology load(const std::string& graph);

}  // namespace sinew::bench::graphs
