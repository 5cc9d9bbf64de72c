#include "domain_model.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "manager/state/names.hpp"
#include "wire/compatibility.hpp"
#include "wire/topic_name.hpp"

namespace sinew::manager {
namespace {

using fuzz::require;
using wire::Message;

}  // namespace

DomainModel::DomainModel(AccessRules access) : access_(access), domain_(range, our_user, std::move(access), linger, 0) {}

std::size_t DomainModel::interfaces() const {
  std::size_t sum = 0;
  for (const auto& [session, node] : nodes_) sum += node.publishers.size() + node.subscribers.size();
  return sum;
}

// --- events ----------------------------------------------------------------------------------------------------------------------

void DomainModel::open(const manager::Who& who) {
  nodes_[++last_session_].who = who;
  follow(domain_.opened(now_, last_session_, who), last_session_, {}, nullptr);
}

void DomainModel::close(Session session) {
  const Actions actions = domain_.closed(now_, session);
  if (nodes_.contains(session)) forget(session);
  follow(actions, session, {}, nullptr);
}

void DomainModel::violate(Session session) {
  Expected expected;
  if (nodes_.contains(session)) expected.outcome = Expected::Outcome::violation;
  follow(domain_.violated(now_, session, "its bytes are no message"), session, expected, nullptr);
}

void DomainModel::wait(Time nanoseconds) {
  now_ += std::min(nanoseconds, std::numeric_limits<Time>::max() / 2 - now_);
  const Actions actions = domain_.tick(now_);
  const bool is_time = nodes_.empty() && now_ - empty_since_ >= linger;
  require(actions.size() == (is_time ? 1 : 0), "a manager that nobody uses finishes when it has lingered, and at no other time");
  require(!is_time || std::holds_alternative<Finish>(actions[0]), "time alone leads to nothing but the end");
  require(domain_.deadline().has_value() == nodes_.empty(), "only an empty domain waits for a time");
}

void DomainModel::say(Session session, const Message& message) {
  const Expected forecast = nodes_.contains(session) ? expected(session, message) : Expected{};
  const Actions actions = domain_.message(now_, session, message);
  if (nodes_.contains(session) && forecast.outcome == Expected::Outcome::nothing) apply(session, message);
  follow(actions, session, forecast, &message);
}

void DomainModel::end() {
  while (!nodes_.empty()) close(nodes_.begin()->first);
}

// --- what must come of a message -------------------------------------------------------------------------------------------------

DomainModel::Expected DomainModel::expected(Session session, const Message& message) const {
  using Outcome = Expected::Outcome;
  const Node& node = nodes_.at(session);
  const auto violation_unless = [](bool is_right) { return Expected{is_right ? Outcome::nothing : Outcome::violation}; };
  if (std::holds_alternative<wire::ErrorText>(message)) return {Outcome::end};
  if (const auto* const m = std::get_if<wire::RegisterNode>(&message)) {
    if (node.stage != Stage::unknown) return {Outcome::violation};
    const auto refusal = refusal_of_node(node, *m);
    return refusal ? Expected{Outcome::refusal_of_node, *refusal} : Expected{Outcome::node};
  }
  const bool may_follow_goodbye =
      is_any_of<wire::WindowReleased, wire::ConnectTaken, wire::PathChosen, wire::MemoryMapped, wire::DomainTaken, wire::Counters>(message);
  if (node.stage == Stage::unknown || (node.stage == Stage::departed && !may_follow_goodbye)) return {Outcome::violation};
  if (is_any_of<wire::Goodbye, wire::MemoryMapped, wire::DomainTaken>(message)) return {};
  if (std::holds_alternative<wire::Counters>(message)) {
    return violation_unless(node.stage == Stage::departed || node.counters.size() < Domain::max_counters);
  }
  if (const auto* const m = std::get_if<wire::RegisterPublisher>(&message)) {
    if (node.publisher_ids.contains(m->id)) return {Outcome::violation};
    return expected_of_registration(session, node, Access::publish, *m);
  }
  if (const auto* const m = std::get_if<wire::RegisterSubscriber>(&message)) {
    if (node.subscriber_ids.contains(m->id)) return {Outcome::violation};
    return expected_of_registration(session, node, Access::subscribe, *m);
  }
  if (const auto* const m = std::get_if<wire::DeletePublisher>(&message)) return violation_unless(node.publishers.contains(m->id));
  if (const auto* const m = std::get_if<wire::DeleteSubscriber>(&message)) return violation_unless(node.subscribers.contains(m->id));
  if (const auto* const m = std::get_if<wire::WindowReleased>(&message)) return violation_unless(may_release(session, m->window));
  if (const auto* const m = std::get_if<wire::ConnectTaken>(&message)) {
    return violation_unless(std::ranges::find(node.unanswered, m->connection) != node.unanswered.end());
  }
  if (const auto* const m = std::get_if<wire::PathChosen>(&message)) return violation_unless(may_choose_path(session, m->connection));
  if (const auto* const m = std::get_if<wire::WatchDomain>(&message)) {
    return violation_unless(!node.watch_ids.contains(m->id) && node.watches.size() < Watches::most);
  }
  if (const auto* const m = std::get_if<wire::UnwatchDomain>(&message)) return violation_unless(node.watches.contains(m->id));
  if (const auto* const m = std::get_if<wire::DisconnectNode>(&message)) {
    const auto has_it = [&](const auto& each) { return each.second.stage == Stage::registered && each.second.name == m->name; };
    const auto named = std::ranges::find_if(nodes_, has_it);
    if (named == nodes_.end()) return {};
    const uid_t asks = node.who.uid, has = named->second.who.uid;
    if (asks != 0 && asks != our_user && (asks != has || asks == 65534)) return {Outcome::violation};
    return {Outcome::end, {}, named->first};
  }
  return {Outcome::violation};  // not a node's to say
}

template <class Register>
DomainModel::Expected DomainModel::expected_of_registration(Session session, const Node& node, Access access,
                                                            const Register& message) const {
  using Outcome = Expected::Outcome;
  const bool publishes = access == Access::publish;
  const auto refused = [&](ErrorKind kind) {
    return Expected{publishes ? Outcome::refusal_of_publisher : Outcome::refusal_of_subscriber, kind};
  };
  if (complaint_about_topic_name(message.topic)) return refused(ErrorKind::invalid_argument);
  const std::string name(wire::canonical_topic_name(message.topic));
  if (decide(access_, access, name, node.who.uid, node.who.gid)) return refused(ErrorKind::denied);
  const auto known = topics_.find(name);
  if (known == topics_.end() && message.ghost != wire::Ghost::no) return refused(ErrorKind::unavailable);
  if (known != topics_.end() && known->second != message.type.hash) return refused(ErrorKind::type_mismatch);
  if (message.endpoint != 0 && is_anothers_endpoint(session, name, message.endpoint)) return refused(ErrorKind::invalid_argument);
  if constexpr (std::is_same_v<Register, wire::RegisterPublisher>) {
    const bool has_window = message.window != wire::Window{};
    if (has_window ? !is_of_range(message.window) : windows_.size() == range.count) return refused(ErrorKind::exhausted);
  }
  return {publishes ? Outcome::publisher : Outcome::subscriber};
}

std::optional<ErrorKind> DomainModel::refusal_of_node(const Node& node, const wire::RegisterNode& message) const {
  if (message.version != wire::protocol_version) return ErrorKind::incompatible;
  const bool may_join = access_.join && includes(*access_.join, node.who.uid, node.who.gid);
  if (node.who.uid != our_user && !may_join) return ErrorKind::denied;
  if (complaint_about_node_name(message.name)) return ErrorKind::invalid_argument;
  const auto has_it = [&](const auto& each) { return each.second.stage == Stage::registered && each.second.name == message.name; };
  if (std::ranges::any_of(nodes_, has_it)) return ErrorKind::name_taken;
  return std::nullopt;
}

bool DomainModel::is_anothers_endpoint(Session session, const std::string& topic, std::uint64_t endpoint) const {
  const std::string service(wire::service_of(topic));
  const auto has_it = [&](const auto& each) {
    const Interface& interface = each.second;
    if (interface.endpoint != endpoint || interface.topic.empty()) return false;
    return interface.topic == topic || (!service.empty() && wire::service_of(interface.topic) == service);
  };
  return std::ranges::any_of(nodes_, [&](const auto& node) {
    return node.first != session &&
           (std::ranges::any_of(node.second.publishers, has_it) || std::ranges::any_of(node.second.subscribers, has_it));
  });
}

bool DomainModel::is_of_range(const wire::Window& window) {
  const std::uint64_t offset = window.base - range.base;
  return window.size == range.window_size && offset % range.window_size == 0 && offset / range.window_size < range.count;
}

bool DomainModel::may_release(Session session, const wire::Window& window) const {
  const auto held = windows_.find(window.base);
  if (held == windows_.end() || window.size != range.window_size) return false;
  const auto holder = held->second.holders.find(session);
  const auto owner = held->second.owners.find(session);
  return holder != held->second.holders.end() && (owner == held->second.owners.end() || holder->second > owner->second);
}

bool DomainModel::may_choose_path(Session session, std::uint64_t connection) const {
  const auto meeting = meetings_.find(connection);
  return meeting == meetings_.end() ? connection <= newest_connection_ : meeting->second.pair.second.first == session;
}

// --- what is known ---------------------------------------------------------------------------------------------------------------

void DomainModel::apply(Session session, const Message& message) {
  Node& node = nodes_.at(session);
  if (std::holds_alternative<wire::Goodbye>(message)) {
    node.stage = Stage::departed;
    node.counters.clear();
    node.watches.clear();
    forget_interfaces(session);
  } else if (const auto* const published = std::get_if<wire::DeletePublisher>(&message)) {
    forget_interface({session, published->id}, true);
    after_deletion();
  } else if (const auto* const subscribed = std::get_if<wire::DeleteSubscriber>(&message)) {
    forget_interface({session, subscribed->id}, false);
    after_deletion();
  } else if (const auto* const released = std::get_if<wire::WindowReleased>(&message)) {
    auto& holders = windows_.at(released->window.base).holders;
    if (--holders.at(session) == 0) holders.erase(session);
    after_deletion();
  } else if (const auto* const taken = std::get_if<wire::ConnectTaken>(&message)) {
    node.unanswered.erase(std::ranges::find(node.unanswered, taken->connection));
  } else if (const auto* const chosen = std::get_if<wire::PathChosen>(&message)) {
    if (const auto meeting = meetings_.find(chosen->connection); meeting != meetings_.end()) meeting->second.path = chosen->path;
  } else if (const auto* const mapped = std::get_if<wire::MemoryMapped>(&message)) {
    if (const auto its = node.publishers.find(mapped->id); its != node.publishers.end()) its->second.memory = mapped->bytes;
  } else if (const auto* const counters = std::get_if<wire::Counters>(&message)) {
    if (node.stage == Stage::registered) node.counters.push_back(counters->size);
  } else if (const auto* const watch = std::get_if<wire::WatchDomain>(&message)) {
    node.watch_ids.insert(watch->id);
    node.watches.try_emplace(watch->id, watch->counters);
  } else if (const auto* const unwatch = std::get_if<wire::UnwatchDomain>(&message)) {
    node.watches.erase(unwatch->id);
  } else if (const auto* const answer = std::get_if<wire::DomainTaken>(&message)) {
    if (const auto its = node.watches.find(answer->id); its != node.watches.end()) its->second.answer();
  }
}

void DomainModel::forget_interface(const InterfaceKey& key, bool publishes) {
  const auto is_of = [&](const Pairing& pair) { return (publishes ? pair.first : pair.second) == key; };
  std::erase_if(waiting_, is_of);
  std::erase_if(meetings_, [&](const auto& meeting) { return is_of(meeting.second.pair); });
  if (publishes) {
    auto& owners = windows_.at(publisher(key).window.base).owners;
    if (--owners.at(key.first) == 0) owners.erase(key.first);
  }
  Node& node = nodes_.at(key.first);
  (publishes ? node.publishers : node.subscribers).erase(key.second);
}

void DomainModel::forget_interfaces(Session session) {
  const Node& node = nodes_.at(session);
  while (!node.publishers.empty()) forget_interface({session, node.publishers.begin()->first}, true);
  while (!node.subscribers.empty()) forget_interface({session, node.subscribers.begin()->first}, false);
  after_deletion();
}

void DomainModel::forget(Session session) {
  for (auto& [base, holding] : windows_) holding.holders.erase(session);
  forget_interfaces(session);
  nodes_.erase(session);
  if (nodes_.empty()) empty_since_ = now_;
}

// Windows that nobody holds are free, and topics end with the last of their interfaces that is no ghost.
void DomainModel::after_deletion() {
  std::erase_if(windows_, [](const auto& each) { return each.second.owners.empty() && each.second.holders.empty(); });
  std::set<std::string> anchored;
  for (const auto& [session, node] : nodes_) {
    for (const auto* const all : {&node.publishers, &node.subscribers}) {
      for (const auto& [id, interface] : *all) {
        if (interface.ghost == wire::Ghost::no) anchored.insert(interface.topic);
      }
    }
  }
  std::erase_if(topics_, [&](const auto& topic) { return !anchored.contains(topic.first); });
  // Ghosts of it that were a pair are there, and no pair any more.
  const auto is_off = [&](const Pairing& pair) { return !topics_.contains(publisher(pair.first).topic); };
  std::erase_if(waiting_, is_off);
  std::erase_if(meetings_, [&](const auto& meeting) { return is_off(meeting.second.pair); });
}

bool DomainModel::same_user(const Pairing& pair) const {
  const uid_t one = nodes_.at(pair.first.first).who.uid;
  return one == nodes_.at(pair.second.first).who.uid && one != 65534;
}

bool DomainModel::same_process(const Pairing& pair) const {
  const std::uint64_t process = publisher(pair.first).process;
  return same_user(pair) && same_layout(pair) && process != 0 && process == subscriber(pair.second).process;
}

bool DomainModel::fit(const Pairing& pair) const {
  return wire::incompatible_policies(publisher(pair.first).qos, subscriber(pair.second).qos).empty();
}

std::vector<DomainModel::Pairing> DomainModel::pairs_of(const InterfaceKey& key, bool publishes) const {
  std::vector<Pairing> pairs;
  const std::string& topic = (publishes ? publisher(key) : subscriber(key)).topic;
  for (const auto& [session, node] : nodes_) {
    for (const auto& [id, other] : publishes ? node.subscribers : node.publishers) {
      const InterfaceKey its{session, id};
      const Pairing pair = publishes ? Pairing{key, its} : Pairing{its, key};
      if (!topic.empty() && other.topic == topic && !are_carriers(pair)) pairs.push_back(pair);
    }
  }
  return pairs;
}

}  // namespace sinew::manager
