#include "manager/state/domain.hpp"

#include <algorithm>

#include "base/printable.hpp"
#include "manager/state/names.hpp"
#include "msg/walk.hpp"
#include "wire/compatibility.hpp"
#include "wire/topic_name.hpp"
#include "wire/users.hpp"

namespace sinew::manager {
namespace {

std::uint32_t number(ErrorKind kind) {
  return static_cast<std::uint32_t>(kind);
}

template <class... Kinds>
bool is_any_of(const wire::Message& message) {
  return (std::holds_alternative<Kinds>(message) || ...);
}

/// What another thread of the node may have been about to say.
bool may_follow_goodbye(const wire::Message& message) {
  return is_any_of<wire::WindowReleased, wire::ConnectTaken, wire::PathChosen, wire::MemoryMapped, wire::DomainTaken, wire::Counters,
                   wire::ErrorText>(message);
}

/// "process 4711 in container 'b1946ac92492'". The kernel has no number for a process whose PID namespace cannot be seen from here.
std::string process_text(std::int64_t pid, const std::string& container) {
  std::string process = pid != 0 ? "process " + std::to_string(pid) : "a process that the manager cannot see, as one of another container";
  if (container.empty()) return process;
  return process + (container.starts_with("pid namespace ") ? " in " + container : " in container '" + container + "'");
}

}  // namespace

Domain::Domain(const WindowRange& range, User user, AccessRules access, std::optional<Time> linger, Time now)
    : user_(user),
      access_(std::move(access)),
      linger_(linger),
      windows_(range, static_cast<std::uint64_t>(now)),
      last_connection_(static_cast<std::uint64_t>(now)),
      empty_since_(now) {}

// --- events ----------------------------------------------------------------------------------------------------------------------

Actions Domain::opened(Time now, Session session, const Who& who, const std::string& container) {
  Node& node = nodes_[session];
  node.who = who;
  node.container = container;
  return end_event(now);
}

Actions Domain::message(Time now, Session session, const wire::Message& message) {
  const auto node = nodes_.find(session);
  if (node == nodes_.end()) return {};
  const Stage stage = node->second.stage;
  const bool is_error = std::holds_alternative<wire::ErrorText>(message);
  if (stage == Stage::unknown && !std::holds_alternative<wire::RegisterNode>(message) && !is_error) {
    complain(session, std::string(wire::name_of(message)) + " came before RegisterNode.");
  } else if (stage == Stage::departed && !may_follow_goodbye(message)) {
    complain(session, std::string(wire::name_of(message)) + " came after Goodbye.");
  } else {
    std::visit([&](const auto& m) { handle(session, node->second, m); }, message);
  }
  return end_event(now);
}

Actions Domain::violated(Time now, Session session, const std::string& complaint) {
  if (nodes_.contains(session)) complain(session, complaint);
  return end_event(now);
}

Actions Domain::closed(Time now, Session session) {
  if (nodes_.contains(session)) forget(session);
  return end_event(now);
}

Actions Domain::tick(Time now) {
  if (const auto due = deadline(); due && now >= *due) actions_.emplace_back(Finish{});
  return end_event(now);
}

std::optional<Time> Domain::deadline() const {
  if (!linger_ || !empty_since_) return std::nullopt;
  return *empty_since_ + *linger_;
}

Actions Domain::end_event(Time now) {
  forget_detached();
  tell_watches();
  if (!nodes_.empty()) {
    empty_since_.reset();
  } else if (!empty_since_) {
    empty_since_ = now;
  }
  return std::exchange(actions_, {});
}

// --- nodes -----------------------------------------------------------------------------------------------------------------------

std::optional<Domain::Refusal> Domain::refusal_of_node(const Node& node, const wire::RegisterNode& message) const {
  if (message.version != wire::protocol_version) {
    return Refusal{ErrorKind::incompatible,
                   "node '" + message.name + "' speaks version " + std::to_string(message.version) +
                       " of the protocol and the running manager speaks version " + std::to_string(wire::protocol_version) +
                       ": use the same version of sinew everywhere. First end the nodes of the other "
                       "version, which would start their sinewd again, and then that, so that the right one starts."};
  }
  if (!wire::is_same_user(node.who.uid, user_) && !(access_.join && includes(*access_.join, node.who.uid, node.who.gid))) {
    return Refusal{ErrorKind::denied,
                   "node '" + message.name + "' runs as user " + std::to_string(node.who.uid) +
                       (node.who.uid == wire::overflow_user ? " (a user that is unknown here, as one of a container may be)" : "") +
                       " and this domain belongs to user " + std::to_string(user_) +
                       ": run the node as that user, choose a domain of its own with SINEW_DOMAIN, or let it in with \"join\" in the "
                       "manager's configuration."};
  }
  if (auto complaint = complaint_about_node_name(message.name)) return Refusal{ErrorKind::invalid_argument, *complaint};
  if (const auto holder = names_.find(message.name); holder != names_.end()) {
    const Node& other = nodes_.at(holder->second);
    return Refusal{ErrorKind::name_taken, "node name '" + message.name + "' is taken by " + process_text(other.who.pid, other.container) +
                                              ": choose another name, or start this program with SINEW_NODE set to one."};
  }
  return std::nullopt;
}

void Domain::handle(Session session, Node& node, const wire::RegisterNode& message) {
  if (node.stage != Stage::unknown) return complain(session, "RegisterNode came a second time.");
  if (const auto refusal = refusal_of_node(node, message)) {
    send(session, wire::NodeRefused{number(refusal->kind), refusal->text});
    actions_.emplace_back(Drop{session, refusal->text});
    return forget(session);
  }
  node.stage = Stage::registered;
  node.name = message.name;
  names_[node.name] = session;
  const WindowRange& range = windows_.range();
  node.number = give_number(session);
  send(session, wire::NodeRegistered{range.base, range.window_size, range.count});
}

void Domain::handle(Session session, Node& node, const wire::Goodbye&) {
  depart(session, node, false);
}

void Domain::handle(Session session, Node& node, const wire::DisconnectNode& message) {
  const auto named = names_.find(message.name);
  if (named == names_.end()) return;
  const Session other = named->second;
  const User asks = node.who.uid;
  if (asks != 0 && !wire::is_same_user(asks, user_) && !wire::is_same_user(asks, nodes_.at(other).who.uid)) {
    return complain(session, "DisconnectNode names node '" + message.name + "', which is another user's.");
  }
  actions_.emplace_back(Drop{other, "node '" + node.name + "' asked for it"});
  forget(other);
}

void Domain::handle(Session session, Node&, const wire::ErrorText& message) {
  actions_.emplace_back(Drop{session, "it ended the connection: " + base::printable(message.text)});
  forget(session);
}

template <class NotFromNodes>
void Domain::handle(Session session, Node&, const NotFromNodes& message) {
  complain(session, std::string(wire::name_of(message)) + " is not a message that nodes send to the manager.");
}

void Domain::depart(Session session, Node& node, bool lost) {
  if (node.stage == Stage::registered) {
    names_.erase(node.name);
    lost ? lose_number(node.number) : take_number(node.number);
  }
  node.stage = Stage::departed;
  for (const Node::Counters& file : std::exchange(node.counters, {})) take_number(file.number);
  watches_.closed(session);
  introductions_.forget_interfaces(session);  // all at once: one by one takes a look at every waiting pair for each
  while (!node.publishers.empty()) delete_publisher(session, node, node.publishers.begin()->first);
  while (!node.subscribers.empty()) delete_subscriber(session, node, node.subscribers.begin()->first);
}

void Domain::forget(Session session) {
  const auto node = nodes_.find(session);
  depart(session, node->second, true);
  windows_.closed(session);
  introductions_.closed(session);
  nodes_.erase(node);
}

void Domain::complain(Session session, const std::string& what) {
  send(session,
       wire::ErrorText{number(ErrorKind::invalid_argument), "the manager ends this connection, the protocol was violated: " + what});
  actions_.emplace_back(Drop{session, "it violated the protocol: " + what});
  forget(session);
}

// --- interfaces ------------------------------------------------------------------------------------------------------------------

template <class Register>
std::optional<Domain::Refusal> Domain::refusal_of_interface(Session session, const Node& node, Access access,
                                                            const Register& message) const {
  const std::string& topic = message.topic;
  if (auto complaint = complaint_about_topic_name(topic)) return Refusal{ErrorKind::invalid_argument, *complaint};
  const std::string name(wire::canonical_topic_name(topic));
  // Before the type, which is none of the business of who may not take part.
  if (auto complaint = decide(access_, access, name, node.who.uid, node.who.gid)) return Refusal{ErrorKind::denied, *complaint};
  const auto known = topics_.find(name);
  if (known == topics_.end() && message.ghost != wire::Ghost::no) {
    return Refusal{ErrorKind::unavailable,
                   "topic '" + name +
                       "' does not exist, and a ghost does not make it: wait until the domain's state shows it, or create the " +
                       (access == Access::publish ? "publisher" : "subscriber") + " without the option ghost."};
  }
  if (known != topics_.end() && known->second.type.hash != message.type.hash) {
    return Refusal{ErrorKind::type_mismatch, msg::explain_difference(name, known->second.type.signature, message.type.signature)};
  }
  if (message.endpoint != 0 && is_anothers_endpoint(session, name, message.endpoint)) {
    return Refusal{ErrorKind::invalid_argument, "topic '" + name + "': another node has this endpoint number; draw one by lot."};
  }
  return std::nullopt;
}

bool Domain::is_anothers_endpoint(Session session, const std::string& topic, std::uint64_t endpoint) const {
  const auto has_it = [&](const Interfaces& all) {
    const auto first = all.lower_bound({endpoint, {}});  // of those with this endpoint, which are all of one session
    return first != all.end() && first->first == endpoint && first->second.first != session;
  };
  const auto is_on = [&](const std::string& name) {
    const auto known = topics_.find(name);
    return known != topics_.end() && (has_it(known->second.publishers) || has_it(known->second.subscribers));
  };
  const std::string_view service = wire::service_of(topic);
  return service.empty() ? is_on(topic) : is_on(wire::request_topic(service)) || is_on(wire::response_topic(service));
}

template <class Register>
Domain::Interface Domain::interface_of(std::uint64_t number, const std::string& topic, const Register& message) {
  return {.number = number,
          .topic = topic,
          .layout = message.type.layout,
          .qos = message.qos,
          .process = message.process,
          .endpoint = message.endpoint,
          .ghost = message.ghost,
          .identity = message.identity};
}

void Domain::handle(Session session, Node& node, const wire::RegisterPublisher& message) {
  if (!node.publisher_ids.add(message.id)) return complain(session, "publisher id " + std::to_string(message.id) + " came a second time.");
  auto refusal = refusal_of_interface(session, node, Access::publish, message);
  const bool has_window = message.window != wire::Window{};
  if (!refusal && has_window && !windows_.contains(message.window)) {
    refusal = Refusal{ErrorKind::exhausted, "topic '" + message.topic +
                                                "': the publisher has a window of addresses from another manager that is none of this "
                                                "domain: create it again."};
  }
  std::optional<wire::Window> window = message.window;
  if (!refusal && !has_window && !(window = windows_.grant(session))) {
    refusal = Refusal{ErrorKind::exhausted, "no window of addresses is free for a publisher on topic '" + message.topic + "': all " +
                                                std::to_string(windows_.range().count) +
                                                " of this domain belong to publishers, or to former ones of which some process still holds "
                                                "messages. Destroy publishers, or release received messages."};
  }
  if (refusal) return send(session, wire::PublisherRefused{message.id, number(refusal->kind), refusal->text});

  const std::string name(wire::canonical_topic_name(message.topic));
  Topic& topic = join(name, message.type, message.ghost == wire::Ghost::no);
  const std::uint64_t number = give_number(InterfaceRef{{session, message.id}, true});
  Interface& publisher = node.publishers[message.id] = interface_of(number, name, message);
  publisher.window = *window;
  if (has_window) windows_.claim(*window, session);
  send(session, wire::PublisherRegistered{message.id, *window});
  topic.publishers.insert({message.endpoint, {session, message.id}});
  std::vector<Pair> pairs;
  pairs.reserve(topic.subscribers.size());
  for (const auto& [endpoint, subscriber] : topic.subscribers) pairs.push_back({{session, message.id}, subscriber});
  add_pairs(session, pairs);
}

void Domain::handle(Session session, Node& node, const wire::RegisterSubscriber& message) {
  if (!node.subscriber_ids.add(message.id))
    return complain(session, "subscriber id " + std::to_string(message.id) + " came a second time.");
  if (const auto refusal = refusal_of_interface(session, node, Access::subscribe, message)) {
    return send(session, wire::SubscriberRefused{message.id, number(refusal->kind), refusal->text});
  }
  const std::string name(wire::canonical_topic_name(message.topic));
  Topic& topic = join(name, message.type, message.ghost == wire::Ghost::no);
  const std::uint64_t number = give_number(InterfaceRef{{session, message.id}, false});
  node.subscribers[message.id] = interface_of(number, name, message);
  topic.subscribers.insert({message.endpoint, {session, message.id}});
  std::vector<Pair> pairs;
  pairs.reserve(topic.publishers.size());
  for (const auto& [endpoint, publisher] : topic.publishers) pairs.push_back({publisher, {session, message.id}});
  const auto histories = std::ranges::count_if(pairs, [&](const Pair& pair) { return has_history_for(pair); });
  send(session, wire::SubscriberRegistered{message.id, static_cast<std::uint32_t>(histories)});
  add_pairs(session, pairs);
}

bool Domain::Sides::same_user() const {
  return wire::is_same_user(from.who.uid, to.who.uid);
}

Domain::Sides Domain::sides_of(const Pair& pair) const {
  const Node& from = nodes_.at(pair.publisher.first);
  const Node& to = nodes_.at(pair.subscriber.first);
  return {from, to, from.publishers.at(pair.publisher.second), to.subscribers.at(pair.subscriber.second)};
}

bool Domain::has_history_for(const Pair& pair) const {
  const Sides sides = sides_of(pair);
  return sides.asked.qos.durability == wire::Durability::transient_local && !sides.same_process() && !sides.never_meet() &&
         wire::incompatible_policies(sides.offered.qos, sides.asked.qos).empty();
}

void Domain::add_pairs(Session session, const std::vector<Pair>& pairs) {
  std::set<Session> waiting;
  std::map<Session, std::size_t> told;
  for (const Pair& pair : pairs) {
    const Sides sides = sides_of(pair);
    if (sides.never_meet()) continue;
    watches_.changed(PairNumbers{sides.offered.number, sides.asked.number});
    if (!wire::incompatible_policies(sides.offered.qos, sides.asked.qos).empty()) {
      tell_incompatible(pair, told);
      continue;
    }
    if (sides.same_process()) continue;
    introductions_.add(pair);
    waiting.insert({pair.publisher.first, pair.subscriber.first});
  }
  std::erase_if(waiting, [&](Session side) { return !is_deaf(side); });
  introduce_waiting(session);
  for (const Session side : waiting) {
    const std::string why = "more than " + std::to_string(max_waiting) + " introductions wait for answers of this node.";
    send(side, wire::ErrorText{number(ErrorKind::exhausted), "the manager ends this connection: " + why});
    actions_.emplace_back(Drop{side, why});
    forget(side);
  }
}

// Never for what its partners leave unanswered: whoever makes a node lose its session can have its name.
bool Domain::is_deaf(Session session) const {
  if (introductions_.waiting(session) <= max_waiting) return false;
  const auto interfaces = [&](Session side) { return nodes_.at(side).publishers.size() + nodes_.at(side).subscribers.size(); };
  const auto has_fewer = [&](Session partner) { return interfaces(partner) <= interfaces(session); };
  return introductions_.waiting_for(session, has_fewer) > max_waiting;
}

void Domain::tell_incompatible(const Pair& pair, std::map<Session, std::size_t>& told) {
  const auto& [publisher, subscriber] = pair;
  const auto [from, to, offered, asked] = sides_of(pair);
  if (told[publisher.first]++ < max_incompatible) {
    send(publisher.first, wire::Incompatible{publisher.second, true, to.name, asked.qos, asked.identity});
  }
  if (told[subscriber.first]++ < max_incompatible) {
    send(subscriber.first, wire::Incompatible{subscriber.second, false, from.name, offered.qos, offered.identity});
  }
}

void Domain::introduce_waiting(Session session) {
  while (const auto pair = introductions_.next(session)) introduce(*pair);
}

void Domain::introduce(const Pair& pair) {
  const auto& [publisher, subscriber] = pair;
  const Sides sides = sides_of(pair);
  const auto& [from, to, offered, asked] = sides;
  const std::uint64_t connection = ++last_connection_;
  const bool same_user = sides.same_user(), same_layout = sides.same_layout();
  if (same_user) windows_.introduce(offered.window, subscriber.first);
  introductions_.made(pair, connection);
  met(pair, connection, same_user && same_layout);
  actions_.emplace_back(
      Introduce{publisher.first, subscriber.first,
                wire::ConnectPublisher{publisher.second, connection, to.name, same_user, same_layout, asked.qos, asked.endpoint},
                wire::ConnectSubscriber{subscriber.second, connection, from.name, same_user, same_layout, offered.qos,
                                        same_user ? offered.window : wire::Window{}, offered.endpoint, offered.identity}});
}

void Domain::handle(Session session, Node&, const wire::ConnectTaken& message) {
  if (!introductions_.answered(session, message.connection)) {
    return complain(session, "ConnectTaken answers introduction " + std::to_string(message.connection) + ", which is not unanswered here.");
  }
  introduce_waiting(session);
}

void Domain::handle(Session session, Node& node, const wire::DeletePublisher& message) {
  if (!node.publishers.contains(message.id))
    return complain(session, "DeletePublisher names publisher " + std::to_string(message.id) + ", which does not exist.");
  delete_publisher(session, node, message.id);
}

void Domain::handle(Session session, Node& node, const wire::DeleteSubscriber& message) {
  if (!node.subscribers.contains(message.id))
    return complain(session, "DeleteSubscriber names subscriber " + std::to_string(message.id) + ", which does not exist.");
  delete_subscriber(session, node, message.id);
}

void Domain::delete_publisher(Session session, Node& node, std::uint64_t id) {
  introductions_.forget_publisher({session, id});
  const Interface publisher = std::move(node.publishers.extract(id).mapped());
  take_number(publisher.number);
  windows_.retire(publisher.window, session);
  if (publisher.topic.empty()) return;
  Topic& topic = topics_.at(publisher.topic);
  topic.publishers.erase({publisher.endpoint, {session, id}});
  forget_meetings(publisher, true);
  leave(publisher);
}

void Domain::delete_subscriber(Session session, Node& node, std::uint64_t id) {
  introductions_.forget_subscriber({session, id});
  const Interface subscriber = std::move(node.subscribers.extract(id).mapped());
  take_number(subscriber.number);
  if (subscriber.topic.empty()) return;
  Topic& topic = topics_.at(subscriber.topic);
  topic.subscribers.erase({subscriber.endpoint, {session, id}});
  forget_meetings(subscriber, false);
  leave(subscriber);
}

Domain::Topic& Domain::join(const std::string& name, const wire::TypeDescription& type, bool anchors) {
  const auto [found, is_new] = topics_.try_emplace(name);
  Topic& topic = found->second;
  if (is_new) {
    topic.type = type;
    topic.number = give_number(name);
  }
  if (anchors) ++topic.anchors;
  return topic;
}

void Domain::leave(const Interface& interface) {
  const auto topic = topics_.find(interface.topic);
  if (!interface.is_ghost()) --topic->second.anchors;
  if (topic->second.anchors > 0) return;
  detach_ghosts(topic->second);
  take_number(topic->second.number);
  topics_.erase(topic);
}

void Domain::detach_ghosts(const Topic& topic) {
  const auto detach = [&](const InterfaceKey& key, bool publishes) {
    Node& node = nodes_.at(key.first);
    Interface& ghost = (publishes ? node.publishers : node.subscribers).at(key.second);
    ghost.topic.clear();
    watches_.changed(ghost.number);
    if (node.stage == Stage::registered) send(key.first, wire::Detached{key.second, publishes});
  };
  for (const auto& [endpoint, publisher] : topic.publishers) {
    forget_meetings(nodes_.at(publisher.first).publishers.at(publisher.second), true);
    detached_.insert(publisher.first);
    detach(publisher, true);
  }
  for (const auto& [endpoint, subscriber] : topic.subscribers) detach(subscriber, false);
}

// An observer and a carrier, which are a pair, go on without their topic. All that one event has detached together: one by one, or topic by topic, takes a look at every waiting pair for each.
void Domain::forget_detached() {
  for (const Session session : std::exchange(detached_, {})) {
    const auto is_detached = [&](std::uint64_t id) { return nodes_.at(session).publishers.at(id).topic.empty(); };
    introductions_.forget_publishers(session, is_detached);
  }
}

void Domain::handle(Session session, Node&, const wire::WindowReleased& message) {
  if (windows_.release(message.window, session)) return;
  complain(session, "WindowReleased names a window that this node does not hold any more, or that only its own publisher still uses.");
}

}  // namespace sinew::manager
