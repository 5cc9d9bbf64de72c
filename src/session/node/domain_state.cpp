#include <algorithm>
#include <map>
#include <utility>

#include "sinew/domain.hpp"
#include "wire/topic_name.hpp"

namespace sinew {
namespace {

template <class T>
auto key_of(const T& thing) {
  if constexpr (requires { thing.id; }) {
    return thing.id;
  } else {
    return std::pair(thing.publisher, thing.subscriber);
  }
}

// Mostly they are new, and so behind all others.
template <class T>
void put(std::vector<T>& all, const T& thing) {
  const auto at = std::ranges::lower_bound(all, key_of(thing), {}, key_of<T>);
  if (at != all.end() && key_of(*at) == key_of(thing)) {
    *at = thing;
  } else {
    all.insert(at, thing);
  }
}

template <class T>
void erase(std::vector<T>& all, std::uint64_t id) {
  const auto at = std::ranges::lower_bound(all, id, {}, key_of<T>);
  if (at != all.end() && at->id == id) all.erase(at);
}

}  // namespace

void apply(const DomainUpdate& update, DomainState& state) {
  if (update.anew) state = {};
  for (const DomainNode& node : update.nodes) put(state.nodes, node);
  for (const DomainTopic& topic : update.topics) put(state.topics, topic);
  for (const DomainEndpoint& endpoint : update.endpoints) put(state.endpoints, endpoint);
  for (const DomainPair& pair : update.pairs) put(state.pairs, pair);
  for (const std::uint64_t id : update.gone) {
    erase(state.nodes, id);
    erase(state.topics, id);
    erase(state.endpoints, id);
  }
  // A ghost that is on no topic any more is there, but in no pair.
  std::vector<std::uint64_t> gone = update.gone;
  for (const DomainEndpoint& endpoint : update.endpoints) {
    if (endpoint.topic == 0) gone.push_back(endpoint.id);
  }
  const auto is_gone = [&](std::uint64_t id) { return std::ranges::find(gone, id) != gone.end(); };
  if (gone.empty()) return;
  std::erase_if(state.pairs, [&](const DomainPair& pair) { return is_gone(pair.publisher) || is_gone(pair.subscriber); });
}

std::vector<DomainService> services_of(const DomainState& state) {
  std::map<std::string, DomainService> services;
  std::map<std::uint64_t, std::pair<DomainService*, bool>> topics;  // of services; and whether they are the requests
  for (const DomainTopic& topic : state.topics) {
    const std::string name(wire::service_of(topic.name));
    if (name.empty()) continue;
    DomainService& service = services[name];
    service.name = name;
    const bool requests = topic.name == wire::request_topic(name);
    (requests ? service.requests : service.responses) = topic.id;
    topics[topic.id] = {&service, requests};
  }
  for (const DomainEndpoint& endpoint : state.endpoints) {
    const auto topic = topics.find(endpoint.topic);
    if (topic == topics.end() || !endpoint.publishes) continue;
    const auto& [service, requests] = topic->second;
    (requests ? service->clients : service->providers).push_back(endpoint.node);
  }
  std::vector<DomainService> all;
  all.reserve(services.size());
  for (auto& [name, service] : services) all.push_back(std::move(service));
  return all;
}

}  // namespace sinew
