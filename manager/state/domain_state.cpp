// What the domain tells of itself.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "base/cut.hpp"
#include "base/printable.hpp"
#include "manager/state/domain.hpp"
#include "wire/compatibility.hpp"

namespace sinew::manager {
namespace {

/// So many things, or bytes, are told to a watch before it must answer: all watches of a session together stay far below what may wait for it.
constexpr std::size_t told_at_once = 64, bytes_at_once = std::size_t{64} * 1024;
/// Of descriptors as few as everywhere ([W44]).
constexpr std::size_t descriptors_at_once = 2;

constexpr std::size_t longest_reason = 255;  // there may be very many

}  // namespace

// --- numbers ---------------------------------------------------------------------------------------------------------------------

// What refers to others has a greater number than they: it is told of later.
std::uint64_t Domain::give_number(Thing thing) {
  things_.emplace_hint(things_.end(), ++last_number_, std::move(thing));
  watches_.came();
  return last_number_;
}

void Domain::take_number(std::uint64_t number) {
  things_.erase(number);
  watches_.changed(number);
}

void Domain::lose_number(std::uint64_t number) {
  things_.erase(number);
  watches_.lost(number);
}

const Domain::Thing* Domain::find(std::uint64_t number) const {
  const auto found = things_.find(number);
  return found == things_.end() ? nullptr : &found->second;
}

const Domain::Interface* Domain::find_interface(std::uint64_t number) const {
  const Thing* const thing = find(number);
  if (!thing) return nullptr;
  const auto& [key, publishes] = std::get<InterfaceRef>(*thing);
  const Node& node = nodes_.at(key.first);
  return &(publishes ? node.publishers : node.subscribers).at(key.second);
}

// --- pairs -----------------------------------------------------------------------------------------------------------------------

void Domain::met(const Pair& pair, std::uint64_t connection, bool in_place) {
  const Sides sides = sides_of(pair);
  const PairNumbers numbers{sides.offered.number, sides.asked.number};
  meetings_[numbers] = {connection, in_place ? wire::Path::native : wire::Path::none,
                        in_place ? "" : "they have been introduced, and have yet to agree"};
  introduced_[connection] = numbers;
  met_.insert({numbers, {numbers.second, numbers.first}});
  watches_.changed(numbers);
}

// By those that there are, not by all others on its topic, of which there may be very many.
void Domain::forget_meetings(const Interface& interface, bool publishes) {
  const auto first = met_.lower_bound({interface.number, 0});
  auto end = first;
  for (; end != met_.end() && end->first == interface.number; ++end) {
    const PairNumbers reverse{end->second, end->first};
    const auto meeting = meetings_.find(publishes ? *end : reverse);
    introduced_.erase(meeting->second.connection);
    meetings_.erase(meeting);
    met_.erase(reverse);
  }
  met_.erase(first, end);
}

void Domain::handle(Session session, Node&, const wire::PathChosen& message) {
  const auto introduced = introduced_.find(message.connection);
  if (introduced == introduced_.end()) {
    if (message.connection <= last_connection_) return;  // one of the two has gone meanwhile
    return complain(session, "PathChosen names introduction " + std::to_string(message.connection) + ", which was never made.");
  }
  const PairNumbers pair = introduced->second;
  if (std::get<InterfaceRef>(*find(pair.second)).key.first != session) {
    return complain(session,
                    "PathChosen names introduction " + std::to_string(message.connection) + ", whose subscriber is another node's.");
  }
  Meeting& meeting = meetings_.at(pair);
  meeting.path = message.path;
  meeting.why = base::printable(base::cut(message.why, longest_reason));
  watches_.changed(pair);
}

// One that is deleted on another thread of the node at the same time may have gone already.
void Domain::handle(Session, Node& node, const wire::MemoryMapped& message) {
  const auto publisher = node.publishers.find(message.id);
  if (publisher == node.publishers.end()) return;
  publisher->second.memory = message.bytes;
  watches_.changed(publisher->second.number);
}

// Its file is with the session, which is closed with all of them.
void Domain::handle(Session session, Node& node, const wire::Counters& message) {
  if (node.stage == Stage::departed) return;
  if (node.counters.size() == max_counters)
    return complain(session, "it sent more than " + std::to_string(max_counters) + " files of counters.");
  node.counters.push_back({give_number(CountersRef{session, node.counters.size()}), message.size});
}

// --- watches ---------------------------------------------------------------------------------------------------------------------

void Domain::handle(Session session, Node& node, const wire::WatchDomain& message) {
  if (!node.watch_ids.add(message.id)) return complain(session, "watch id " + std::to_string(message.id) + " came a second time.");
  if (!watches_.add({session, message.id}, message.counters))
    complain(session, "it watches the domain more than " + std::to_string(Watches::most) + " times.");
}

void Domain::handle(Session session, Node&, const wire::UnwatchDomain& message) {
  if (watches_.remove({session, message.id})) return;
  complain(session, "UnwatchDomain names watch " + std::to_string(message.id) + ", which does not exist.");
}

// What crosses the end of a watch is answered by a node that does not know yet, or not at all.
void Domain::handle(Session session, Node&, const wire::DomainTaken& message) {
  watches_.answered({session, message.id});
}

void Domain::tell_watches() {
  while (const auto watch = watches_.next()) watches_.told(*watch, tell(*watch));
}

// False when there is nothing to tell.
bool Domain::tell(const Watches::Key& key) {
  Watch& watch = watches_.at(key);
  std::size_t told = 0, bytes = 0, descriptors = 0;
  const auto has_room = [&] { return told < told_at_once && bytes < bytes_at_once && descriptors < descriptors_at_once; };
  const auto say = [&](wire::Message message) {
    ++told;
    bytes += wire::encode(message).size();
    send(key.first, std::move(message));
  };
  while (!watch.things.empty() && has_room()) {
    const std::uint64_t number = watch.things.extract(watch.things.begin()).value();
    const Thing* const thing = find(number);
    say(thing ? describe(number, *thing, key.second) : wire::DomainGone{key.second, number, watch.lost.erase(number) > 0});
  }
  // Before new things, so that there are never many of them.
  const auto tell_pairs = [&] {
    while (!watch.pairs.empty() && has_room()) {
      const PairNumbers pair = watch.pairs.extract(watch.pairs.begin()).value();
      if (auto message = describe_pair(pair, key.second)) say(std::move(*message));
    }
  };
  tell_pairs();
  for (auto next = things_.upper_bound(watch.cursor); next != things_.end() && has_room(); ++next) {
    watch.cursor = next->first;
    if (const auto* const counters = std::get_if<CountersRef>(&next->second)) {
      if (!watch.wants_counters) continue;
      const Node& node = nodes_.at(counters->session);
      actions_.emplace_back(
          Show{key.first, {key.second, next->first, node.number, node.counters[counters->index].size}, counters->session, counters->index});
      ++told;
      ++descriptors;
      continue;
    }
    say(describe(next->first, next->second, key.second));
    if (const auto* const interface = std::get_if<InterfaceRef>(&next->second)) add_pairs_before(next->first, *interface, watch.pairs);
    tell_pairs();
  }
  const bool complete = watch.things.empty() && watch.pairs.empty() && things_.upper_bound(watch.cursor) == things_.end();
  if (told == 0 && complete == watch.complete) return false;
  watch.complete = complete;
  send(key.first, wire::DomainBatch{key.second, complete});
  return true;
}

// With those that the watch has been told of already; of the others when it is told of them.
void Domain::add_pairs_before(std::uint64_t number, const InterfaceRef& interface, std::set<PairNumbers>& pairs) const {
  const auto& [key, publishes] = interface;
  const Node& node = nodes_.at(key.first);
  const Interface& own = (publishes ? node.publishers : node.subscribers).at(key.second);
  if (own.topic.empty()) return;
  const Topic& topic = topics_.at(own.topic);
  for (const auto& [endpoint, other] : publishes ? topic.subscribers : topic.publishers) {
    const Node& its_node = nodes_.at(other.first);
    const Interface& its = (publishes ? its_node.subscribers : its_node.publishers).at(other.second);
    const std::uint64_t before = its.number;
    if (before < number && !own.never_meets(its)) pairs.insert(publishes ? PairNumbers{number, before} : PairNumbers{before, number});
  }
}

wire::Message Domain::describe(std::uint64_t number, const Thing& thing, std::uint64_t watch) const {
  if (const auto* const session = std::get_if<Session>(&thing)) {
    const Node& node = nodes_.at(*session);
    return wire::DomainNode{watch, number, node.name, node.who.pid, node.who.uid, node.who.gid, node.container};
  }
  if (const auto* const name = std::get_if<std::string>(&thing)) return wire::DomainTopic{watch, number, *name, topics_.at(*name).type};
  const auto& [key, publishes] = std::get<InterfaceRef>(thing);
  const Node& node = nodes_.at(key.first);
  const Interface& interface = (publishes ? node.publishers : node.subscribers).at(key.second);
  const std::uint64_t topic = interface.topic.empty() ? 0 : topics_.at(interface.topic).number;
  return wire::DomainInterface{watch,         number,           node.number,       topic, publishes, interface.ghost,
                               interface.qos, interface.memory, interface.identity};
}

std::optional<wire::Message> Domain::describe_pair(const PairNumbers& numbers, std::uint64_t watch) const {
  const auto& [publisher, subscriber] = numbers;
  const Interface *const offered = find_interface(publisher), *const asked = find_interface(subscriber);
  if (!offered || !asked || offered->topic.empty() || offered->topic != asked->topic) return std::nullopt;
  const Sides sides = sides_of({std::get<InterfaceRef>(*find(publisher)).key, std::get<InterfaceRef>(*find(subscriber)).key});
  if (sides.never_meet()) return std::nullopt;
  wire::DomainPair pair{watch, publisher, subscriber, wire::Path::none, {}};
  if (const auto policies = wire::incompatible_policies(offered->qos, asked->qos); !policies.empty()) {
    for (const wire::Policy policy : policies) {
      pair.why += (pair.why.empty() ? "" : "; ") + wire::explain(policy, offered->qos, asked->qos);
    }
  } else if (sides.same_process()) {
    pair.path = wire::Path::pointer;
  } else if (const auto meeting = meetings_.find(numbers); meeting != meetings_.end()) {
    pair.path = meeting->second.path;
    pair.why = meeting->second.why;
  } else {
    pair.why = "they wait to be introduced";
  }
  return pair;
}

}  // namespace sinew::manager
