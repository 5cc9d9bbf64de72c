// What somebody knows who watches the domain, kept from what the manager tells it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "input.hpp"
#include "wire/messages.hpp"

namespace sinew::manager {

/// A domain in words: what its nodes, topics, interfaces and pairs look like to one who watches it.
struct Picture {
  std::set<std::string> nodes, topics;
  std::multiset<std::string> interfaces, pairs, counters;
  friend bool operator==(const Picture&, const Picture&) = default;
};

inline std::string interface_in_words(const std::string& node, const std::string& topic, bool publishes, wire::Ghost ghost,
                                      const wire::Qos& qos, std::uint64_t memory) {
  std::string words = node + (publishes ? " publishes " : " subscribes to ") + topic;
  for (const std::uint64_t number : {static_cast<std::uint64_t>(ghost), std::uint64_t{qos.depth}, std::uint64_t{qos.reliable},
                                     static_cast<std::uint64_t>(qos.durability), static_cast<std::uint64_t>(qos.deadline),
                                     static_cast<std::uint64_t>(qos.liveliness), static_cast<std::uint64_t>(qos.lease), memory}) {
    words += " " + std::to_string(number);
  }
  return words;
}
inline std::string pair_in_words(const std::string& publisher, const std::string& subscriber, wire::Path path) {
  return publisher + ", to " + subscriber + ", path " + std::to_string(static_cast<int>(path));
}

class WatchModel {
 public:
  explicit WatchModel(bool wants_counters) : wants_counters_(wants_counters) {}
  bool wants_counters() const { return wants_counters_; }
  void hear(const wire::DomainNode& node) {
    begin(node.number);
    nodes_[node.number] = node.name;
  }
  void hear(const wire::DomainTopic& topic) {
    begin(topic.number);
    topics_[topic.number] = topic.name;
  }
  void hear(const wire::DomainInterface& interface) {
    begin(interface.number);
    fuzz::require(nodes_.contains(interface.node) && interface.node < interface.number, "an interface comes after its node");
    fuzz::require(interface.topic == 0 || (topics_.contains(interface.topic) && interface.topic < interface.number),
                  "an interface comes after its topic");
    fuzz::require(interface.topic != 0 || interface.ghost != wire::Ghost::no, "only a ghost may be on no topic");
    interfaces_[interface.number] = interface;
    if (interface.topic == 0) forget_pairs(interface.number);
  }
  void hear(const wire::DomainPair& pair) {
    fuzz::require(!owes_answer_, "nothing is told before the batch before it was answered");
    const auto publisher = interfaces_.find(pair.publisher), subscriber = interfaces_.find(pair.subscriber);
    fuzz::require(publisher != interfaces_.end() && subscriber != interfaces_.end(), "a pair comes after both of its interfaces");
    fuzz::require(publisher->second.publishes && !subscriber->second.publishes, "a pair is a publisher and a subscriber");
    pairs_[{pair.publisher, pair.subscriber}] = pair.path;
  }
  void hear(const wire::DomainCounters& counters) {
    begin(counters.number);
    fuzz::require(wants_counters_, "files of counters are shown to who asks for them");
    fuzz::require(nodes_.contains(counters.node) && counters.node < counters.number, "a file of counters comes after its node");
    fuzz::require(++descriptors_ <= 2, "a batch has two descriptors at most");
    counters_[counters.number] = counters;
  }
  void hear(const wire::DomainGone& gone) {
    begin(gone.number);
    fuzz::require(!gone.lost || nodes_.contains(gone.number), "only nodes are lost");
    counters_.erase(gone.number);
    nodes_.erase(gone.number);
    topics_.erase(gone.number);
    interfaces_.erase(gone.number);
    forget_pairs(gone.number);
  }
  void hear(const wire::DomainBatch&) {
    fuzz::require(!owes_answer_, "no batch comes before the one before it was answered");
    owes_answer_ = true;
    descriptors_ = 0;
  }
  void answer() { owes_answer_ = false; }

  Picture picture() const {
    Picture picture;
    for (const auto& [number, name] : nodes_) picture.nodes.insert(name);
    for (const auto& [number, name] : topics_) picture.topics.insert(name);
    for (const auto& [number, interface] : interfaces_) picture.interfaces.insert(in_words(interface));
    for (const auto& [numbers, path] : pairs_) {
      picture.pairs.insert(pair_in_words(in_words(interfaces_.at(numbers.first)), in_words(interfaces_.at(numbers.second)), path));
    }
    for (const auto& [number, file] : counters_) picture.counters.insert(nodes_.at(file.node) + " counts in " + std::to_string(file.size));
    return picture;
  }

 private:
  void forget_pairs(std::uint64_t number) {
    std::erase_if(pairs_, [&](const auto& pair) { return pair.first.first == number || pair.first.second == number; });
  }
  void begin(std::uint64_t number) const {
    fuzz::require(!owes_answer_, "nothing is told before the batch before it was answered");
    fuzz::require(number != 0, "nothing has the number 0");
  }
  std::string in_words(const wire::DomainInterface& i) const {
    return interface_in_words(nodes_.at(i.node), i.topic == 0 ? "" : topics_.at(i.topic), i.publishes, i.ghost, i.qos, i.memory);
  }

  const bool wants_counters_;
  bool owes_answer_ = false;
  int descriptors_ = 0;
  std::map<std::uint64_t, wire::DomainCounters> counters_;
  std::map<std::uint64_t, std::string> nodes_, topics_;
  std::map<std::uint64_t, wire::DomainInterface> interfaces_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, wire::Path> pairs_;
};

}  // namespace sinew::manager
