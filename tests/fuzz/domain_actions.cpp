// What the domain does, against what the model says that it may do.
#include <algorithm>
#include <string>
#include <variant>

#include "domain_model.hpp"
#include "wire/compatibility.hpp"
#include "wire/topic_name.hpp"

namespace sinew::manager {
namespace {

using fuzz::require;
using wire::Message;

template <class... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};

bool is_registration_answer(const Message& message) {
  return is_any_of<wire::NodeRegistered, wire::NodeRefused, wire::PublisherRegistered, wire::SubscriberRegistered, wire::PublisherRefused,
                   wire::SubscriberRefused>(message);
}

}  // namespace

// --- what the domain does --------------------------------------------------------------------------------------------------------

void DomainModel::follow(const Actions& actions, Session session, const Expected& expected, const Message* cause) {
  using Outcome = Expected::Outcome;
  misfits_.clear();
  const Outcome outcome = expected.outcome;
  const Session dropped = expected.whose.value_or(session);
  const bool told_why = outcome == Outcome::violation || outcome == Outcome::refusal_of_node;
  const std::size_t drop_at = told_why ? 1 : outcome == Outcome::end ? 0 : actions.size();
  require(!told_why || actions.size() >= 2, "who is dropped is told why");
  require(outcome != Outcome::end || !actions.empty(), "who ends the connection is dropped");
  for (std::size_t n = 0; n < actions.size(); ++n) {
    if (const auto* const drop = std::get_if<Drop>(&actions[n])) {
      require(n == drop_at && drop->session == dropped,
              "only who breaks the protocol, is refused, leaves, or is to be disconnected, is dropped");
      forget(dropped);
      continue;
    }
    require(n != drop_at, "who breaks the protocol, is refused, leaves, or is to be disconnected, is dropped");
    require(!std::holds_alternative<Finish>(actions[n]), "a domain finishes at a time only");
    if (const auto* const introduction = std::get_if<Introduce>(&actions[n])) {
      follow(*introduction);
      continue;
    }
    if (const auto* const show = std::get_if<Show>(&actions[n])) {
      follow(*show);
      continue;
    }
    const Send& send = std::get<Send>(actions[n]);
    const bool is_answer = n == 0 && (told_why || outcome >= Outcome::refusal_of_node);
    require(!is_answer || send.session == session, "an answer goes to who asked");
    require(is_answer || !(is_registration_answer(send.message) || std::holds_alternative<wire::ErrorText>(send.message)),
            "nobody is answered who has not asked");
    if (is_answer) {
      const Message& m = send.message;
      const std::uint32_t kind = static_cast<std::uint32_t>(expected.kind);
      const auto* const node = std::get_if<wire::NodeRefused>(&m);
      const auto* const publisher = std::get_if<wire::PublisherRefused>(&m);
      const auto* const subscriber = std::get_if<wire::SubscriberRefused>(&m);
      require((outcome == Outcome::violation) == std::holds_alternative<wire::ErrorText>(m),
              "a violation, and nothing else, ends in ErrorText");
      require((outcome == Outcome::refusal_of_node) == (node != nullptr), "nodes are refused for the reasons of the specification");
      require((outcome == Outcome::refusal_of_publisher) == (publisher != nullptr),
              "publishers are refused for the reasons of the specification");
      require((outcome == Outcome::refusal_of_subscriber) == (subscriber != nullptr),
              "subscribers are refused for the reasons of the specification");
      require(!node || node->kind == kind, "the kind of a node's refusal is that of its reason");
      require(!publisher || publisher->kind == kind, "the kind of a publisher's refusal is that of its reason");
      require(!subscriber || subscriber->kind == kind, "the kind of a subscriber's refusal is that of its reason");
    }
    follow(send, cause);
  }
  require(drop_at >= actions.size() || !nodes_.contains(dropped), "who is dropped is forgotten");
  require(outcome < Outcome::refusal_of_node || !actions.empty(), "who registers is answered");
  for (const auto& [told, count] : misfits_) require(count == 0, "both sides of a pair that does not fit are told");
  check();
}

void DomainModel::follow(const Send& send, const Message* cause) {
  const auto found = nodes_.find(send.session);
  require(found != nodes_.end(), "nothing is sent to a session that is gone");
  Node& node = found->second;
  require(wire::descriptors_of(send.message) == 0, "a message with descriptors is an introduction");
  wire::encode(send.message);  // throws at what would not be understood
  const bool is_about_registration = is_registration_answer(send.message) || std::holds_alternative<wire::ErrorText>(send.message);
  require(is_about_registration || node.stage == Stage::registered, "who is not there yet, or has said Goodbye, is told nothing");
  const auto watch = [&](const auto& message) {
    const auto its = node.watches.find(message.id);
    require(its != node.watches.end(), "only who watches is told of the domain");
    its->second.hear(message);
  };
  std::visit(
      Overloaded{
          [](const wire::ErrorText&) {},
          [](const wire::NodeRefused&) {},
          [&](const wire::NodeRegistered&) {
            node.stage = Stage::registered;
            node.name = std::get<wire::RegisterNode>(*cause).name;
          },
          [&](const wire::PublisherRefused& m) {
            require(m.id == std::get<wire::RegisterPublisher>(*cause).id, "a refusal names the publisher");
            node.publisher_ids.insert(m.id);
          },
          [&](const wire::SubscriberRefused& m) {
            require(m.id == std::get<wire::RegisterSubscriber>(*cause).id, "a refusal names the subscriber");
            node.subscriber_ids.insert(m.id);
          },
          [&](const wire::PublisherRegistered& m) {
            const auto& asked = std::get<wire::RegisterPublisher>(*cause);
            require(m.id == asked.id, "the answer names the publisher");
            require(is_of_range(m.window), "a window is one of the range");
            const bool has_window = asked.window != wire::Window{};
            require(!has_window || m.window == asked.window, "who has a window from another manager keeps it");
            require(has_window || !windows_.contains(m.window.base), "a window that somebody owns or holds is given to nobody");
            Holding& holding = windows_[m.window.base];
            ++holding.holders[send.session];
            ++holding.owners[send.session];
            add(send.session, asked, true).window = m.window;
            register_pairs({send.session, m.id}, true);
          },
          [&](const wire::SubscriberRegistered& m) {
            const auto& asked = std::get<wire::RegisterSubscriber>(*cause);
            require(m.id == asked.id, "the answer names the subscriber");
            add(send.session, asked, false);
            const InterfaceKey key{send.session, m.id};
            const bool late = asked.qos.durability == wire::Durability::transient_local;
            const auto kept =
                std::ranges::count_if(pairs_of(key, false), [&](const Pairing& pair) { return late && fit(pair) && !same_process(pair); });
            require(m.histories == static_cast<std::uint64_t>(kept), "a late subscriber is told how many keep something for it");
            register_pairs(key, false);
          },
          [&](const wire::Incompatible& m) {
            const auto& own = m.you_publish ? node.publishers : node.subscribers;
            require(own.contains(m.id), "it is about an interface that is there");
            const auto pairs = pairs_of({send.session, m.id}, m.you_publish);
            require(std::ranges::any_of(pairs,
                                        [&](const Pairing& pair) {
                                          const Session other = (m.you_publish ? pair.second : pair.first).first;
                                          const wire::Qos& its = m.you_publish ? subscriber(pair.second).qos : publisher(pair.first).qos;
                                          const std::uint64_t identity =
                                              m.you_publish ? subscriber(pair.second).identity : publisher(pair.first).identity;
                                          return !fit(pair) && its == m.qos && identity == m.identity && nodes_.at(other).name == m.peer;
                                        }),
                    "somebody does not fit it who is there");
            require(misfits_[send.session]-- > 0, "each pair that does not fit is told of once");
          },
          [&](const wire::Detached& m) {
            auto& own = m.you_publish ? node.publishers : node.subscribers;
            const auto ghost = own.find(m.id);
            require(ghost != own.end() && ghost->second.ghost != wire::Ghost::no && !ghost->second.topic.empty(),
                    "only a ghost loses its topic, and once");
            require(!topics_.contains(ghost->second.topic), "a topic ends with the last of its interfaces that is no ghost");
            ghost->second.topic.clear();
          },
          [&](const wire::DomainNode& m) { watch(m); },
          [&](const wire::DomainTopic& m) { watch(m); },
          [&](const wire::DomainInterface& m) { watch(m); },
          [&](const wire::DomainPair& m) { watch(m); },
          [&](const wire::DomainGone& m) { watch(m); },
          [&](const wire::DomainBatch& m) {
            watch(m);
            const WatchModel& its = node.watches.at(m.id);
            if (m.complete) require(its.picture() == picture(its.wants_counters()), "a complete picture is what there is");
          },
          [](const auto&) { require(false, "the manager sends what managers send"); },
      },
      send.message);
}

void DomainModel::follow(const Show& show) {
  const auto from = nodes_.find(show.from);
  require(from != nodes_.end() && show.index < from->second.counters.size() && from->second.counters[show.index] == show.message.size,
          "a file is shown of somebody who is there and has sent it");
  const auto watch = nodes_.at(show.session).watches.find(show.message.id);
  require(watch != nodes_.at(show.session).watches.end(), "only who watches is told of the domain");
  watch->second.hear(show.message);
}

void DomainModel::follow(const Introduce& introduction) {
  const auto& [from, to, offer, request] = introduction;
  const Pairing pair{{from, offer.id}, {to, request.id}};
  require(waiting_.erase(pair) == 1, "an introduction is of two that wait for it, once");
  require(offer.connection > newest_connection_ && offer.connection == request.connection, "each introduction has a new number");
  newest_connection_ = offer.connection;
  const bool same = same_user(pair);
  require(offer.same_user == same && request.same_user == same, "both are told whether they are of one user");
  require(offer.same_layout == same_layout(pair) && request.same_layout == same_layout(pair), "both are told whether the layouts agree");
  require(offer.qos == subscriber(pair.second).qos && request.qos == publisher(pair.first).qos, "each is told what the other wants");
  require(offer.endpoint == subscriber(pair.second).endpoint && request.endpoint == publisher(pair.first).endpoint,
          "each is told whose part the other is");
  require(request.identity == publisher(pair.first).identity, "a subscriber is told which publisher it is");
  require(offer.peer == nodes_.at(to).name && request.peer == nodes_.at(from).name, "each is told the other's name");
  require(request.window == (same ? publisher(pair.first).window : wire::Window{}), "the window is the publisher's, and not for strangers");
  wire::encode(offer);
  wire::encode(request);
  if (same) ++windows_.at(request.window.base).holders[to];
  for (const Session side : {from, to}) {
    require(nodes_.at(side).stage == Stage::registered, "only who is there is introduced");
    nodes_.at(side).unanswered.push_back(newest_connection_);
  }
  meetings_[newest_connection_] = {pair, same && same_layout(pair) ? wire::Path::native : wire::Path::none};
}

template <class Register>
DomainModel::Interface& DomainModel::add(Session session, const Register& message, bool publishes) {
  Node& node = nodes_.at(session);
  (publishes ? node.publisher_ids : node.subscriber_ids).insert(message.id);
  const std::string topic(wire::canonical_topic_name(message.topic));
  topics_.try_emplace(topic, message.type.hash);
  Interface& interface = (publishes ? node.publishers : node.subscribers)[message.id];
  interface = {.topic = topic,
               .layout = message.type.layout,
               .qos = message.qos,
               .process = message.process,
               .endpoint = message.endpoint,
               .ghost = message.ghost,
               .identity = message.identity,
               .window = {},
               .memory = 0};
  return interface;
}

void DomainModel::register_pairs(const InterfaceKey& key, bool publishes) {
  for (const Pairing& pair : pairs_of(key, publishes)) {
    if (!fit(pair)) {
      ++misfits_[pair.first.first];
      ++misfits_[pair.second.first];
    } else if (!same_process(pair)) {
      waiting_.insert(pair);
    }
  }
}

void DomainModel::check() const {
  require(domain_.sessions() == nodes_.size(), "the sessions are those that are open");
  require(domain_.topics() == topics_.size(), "the topics are those with an interface that is no ghost");
  require(domain_.free_windows() == range.count - windows_.size(), "the free windows are those that nobody owns or holds");
  for (const auto& [session, node] : nodes_) {
    require(node.unanswered.size() <= Introductions::room, "at most two introductions are unanswered");
    for (const auto* const all : {&node.publishers, &node.subscribers}) {
      for (const auto& [id, interface] : *all) {
        require(interface.topic.empty() || topics_.contains(interface.topic), "a ghost whose topic is gone is told so");
      }
    }
  }
  for (const auto& [publisher, subscriber] : waiting_) {
    const std::size_t here = nodes_.at(publisher.first).unanswered.size(), there = nodes_.at(subscriber.first).unanswered.size();
    const bool have_room = publisher.first == subscriber.first ? here == 0 : here < Introductions::room && there < Introductions::room;
    require(!have_room, "no pair waits that could be introduced");
  }
}

std::string DomainModel::in_words(const InterfaceKey& key, bool publishes) const {
  const Interface& i = publishes ? publisher(key) : subscriber(key);
  return interface_in_words(nodes_.at(key.first).name, i.topic, publishes, i.ghost, i.qos, i.memory);
}

Picture DomainModel::picture(bool with_counters) const {
  Picture picture;
  std::map<Pairing, wire::Path> met;
  for (const auto& [connection, meeting] : meetings_) met[meeting.pair] = meeting.path;
  for (const auto& [name, hash] : topics_) picture.topics.insert(name);
  for (const auto& [session, node] : nodes_) {
    if (node.stage == Stage::registered) picture.nodes.insert(node.name);
    for (const std::uint32_t size : node.counters) {
      if (with_counters) picture.counters.insert(node.name + " counts in " + std::to_string(size));
    }
    for (const auto& [id, interface] : node.subscribers) picture.interfaces.insert(in_words({session, id}, false));
    for (const auto& [id, interface] : node.publishers) {
      picture.interfaces.insert(in_words({session, id}, true));
      for (const Pairing& pair : pairs_of({session, id}, true)) {
        const auto path = met.find(pair);
        picture.pairs.insert(pair_in_words(in_words(pair.first, true), in_words(pair.second, false),
                                           !fit(pair)           ? wire::Path::none
                                           : same_process(pair) ? wire::Path::pointer
                                           : path == met.end()  ? wire::Path::none
                                                                : path->second));
      }
    }
  }
  return picture;
}

}  // namespace sinew::manager
