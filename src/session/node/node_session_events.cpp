// What the manager says to a node.
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/point.hpp"
#include "base/printable.hpp"
#include "session/node/manager.hpp"
#include "session/node/node_session.hpp"
#include "session/publisher/foreign_end.hpp"
#include "session/publisher/publisher_end.hpp"
#include "session/subscriber/subscriber_end.hpp"

namespace sinew::session {
namespace {

template <class End>
void start(Publisher& publisher, const std::shared_ptr<End>& end) {
  publisher.peers_away().met(end->peer());
  if (!publisher.add_connecting(end)) return;
  try {
    end->start();
  } catch (...) {
    end->stop();
    publisher.forget(end);
    throw;
  }
}

/// Once for each peer, until an introduction to it is not lost: it comes again after a while, for as long as there is no room. Null: it is gone, and nobody misses the peer.
template <class Interface>
void log_lost_introduction(const std::shared_ptr<Interface>& of, const std::string& node, const std::string& peer) {
  if (!of || !of->peers_away().lost(peer)) return;
  base::log(base::LogLevel::warn,
            "topic '" + of->topic() + "': node '" + node + "' is not connected with node '" + peer +
                "', as its process has no room for one more descriptor, and tries again after a while: raise its limit "
                "(ulimit -n), or let it have fewer publishers and subscribers");
}

std::string not_received(const std::string& topic, const std::string& peer) {
  return "topic '" + topic + "': messages of node '" + peer + "' are not received: ";
}

}  // namespace

void NodeSession::on_event(const os::Poller::Event& event) {
  if (link_.manager() == 0) return;  // it was lost a moment ago
  bool is_read = false;
  try {
    if (event.writable) link_.channel().flush();
    for (int turn = 0; turn < Channel::turns_per_event; ++turn) {
      auto input = link_.channel().receive(true);
      if (!input) break;
      is_read = true;
      handle(*input);
      is_read = false;
    }
    if (link_.channel().state() == Channel::State::closed) lose_manager("it is gone");
  } catch (const Violation& violation) {
    lose_manager(violation.what());
  } catch (const std::bad_alloc&) {
    // What it said is gone, and it may wait for the answer: the next one, which may be the same, begins anew.
    if (!is_read) return lose_manager("there was no memory for what it said");
    watch_anew();  // it may have been for one of them
    throw;
  }
}

void NodeSession::lose_manager(const char* why) {
  const std::lock_guard one_at_a_time(watching_);
  for_each_watch([](DomainWatch& watch) { watch.is_known = false; });
  link_.lose(why);
}

void NodeSession::handle(Channel::Input& input) {
  const wire::Message& message = input.message;
  if (const auto* publisher = std::get_if<wire::PublisherRegistered>(&message)) {
    on_registered(*publisher);
  } else if (const auto* subscriber = std::get_if<wire::SubscriberRegistered>(&message)) {
    on_registered(*subscriber);
  } else if (const auto* no_publisher = std::get_if<wire::PublisherRefused>(&message)) {
    on_refused({Kind::publisher, no_publisher->id}, *no_publisher);
  } else if (const auto* no_subscriber = std::get_if<wire::SubscriberRefused>(&message)) {
    on_refused({Kind::subscriber, no_subscriber->id}, *no_subscriber);
  } else if (const auto* to_subscriber = std::get_if<wire::ConnectPublisher>(&message)) {
    link_.tell(wire::ConnectTaken{to_subscriber->connection});  // first: it is owed whatever comes of the introduction
    if (input.lost_descriptors) {                               // the other end was closed with it
      link_.renew(link_.announced_as({Kind::publisher, to_subscriber->id}));
      return log_lost_introduction(publisher_of(to_subscriber->id), name(), to_subscriber->peer);
    }
    connect(Kind::publisher, *to_subscriber, std::move(input.descriptors[0]));
  } else if (const auto* to_publisher = std::get_if<wire::ConnectSubscriber>(&message)) {
    link_.tell(wire::ConnectTaken{to_publisher->connection});
    connect(Kind::subscriber, *to_publisher, input.lost_descriptors ? os::Fd() : std::move(input.descriptors[0]));
  } else if (const auto* peer = std::get_if<wire::Incompatible>(&message)) {
    on_incompatible(*peer);
  } else if (const auto* ghost = std::get_if<wire::Detached>(&message)) {
    on_detached(*ghost);
  } else if (const auto watch = DomainWatch::addressee(message)) {
    on_domain_state(*watch, input);
  } else if (const auto* error = std::get_if<wire::ErrorText>(&message)) {
    throw Violation(error->text);
  } else {
    throw Violation(std::string(wire::name_of(message)) + " is not for a node");
  }
}

void NodeSession::on_registered(const wire::PublisherRegistered& publisher) {
  const Question question{Kind::publisher, publisher.id};
  switch (link_.registered(question, publisher.window)) {
    case ManagerLink::Answer::violation:
      throw Violation("PublisherRegistered names another window than the publisher has");
    case ManagerLink::Answer::expected:
      SINEW_POINT("node_session.registered");
      answered(question, publisher);  // or it was told to a manager that has followed another
      break;
    case ManagerLink::Answer::unexpected:
      link_.take_back(question);
      release_window(publisher.window, link_.manager());
  }
}

void NodeSession::on_registered(const wire::SubscriberRegistered& subscriber) {
  const Question question{Kind::subscriber, subscriber.id};
  if (link_.registered(question) == ManagerLink::Answer::expected) {
    answered(question, subscriber);
  } else {
    link_.take_back(question);
  }
}

template <class Refused>
void NodeSession::on_refused(const Question& question, const Refused& refused) {
  const bool is_news = link_.refused(question, error_kind_of(refused.kind), refused.text);
  if (answered(question, refused, Refusal{error_kind_of(refused.kind), refused.text}) || !is_news) return;
  if (error_kind_of(refused.kind) == ErrorKind::unavailable) {  // a ghost, whose topic went while there was no manager
    link_.forget(link_.announced_as(question));
    return on_detached({refused.id, question.first == Kind::publisher});
  }
  base::log(base::LogLevel::error, "node '" + name() +
                                       "': another manager does not take what the one before took, which stays connected as it is, and is "
                                       "announced to it again as long as that may help: " +
                                       refused.text);
}

std::shared_ptr<Publisher> NodeSession::publisher_of(std::uint64_t id) {
  id = link_.announced_as({Kind::publisher, id}).second;
  const std::lock_guard lock(mutex_);
  const auto found = publishers_.find(id);
  return found == publishers_.end() ? nullptr : found->second.lock();
}

std::shared_ptr<Subscription> NodeSession::subscription_of(std::uint64_t id) {
  id = link_.announced_as({Kind::subscriber, id}).second;
  const std::lock_guard lock(mutex_);
  const auto found = subscriptions_.find(id);
  return found == subscriptions_.end() ? nullptr : found->second.lock();
}

void NodeSession::on_incompatible(const wire::Incompatible& peer) {
  if (peer.you_publish) {
    if (const auto publisher = publisher_of(peer.id)) publisher->incompatible(peer);
  } else if (const auto subscription = subscription_of(peer.id)) {
    subscription->incompatible(peer);
  }
}

void NodeSession::on_detached(const wire::Detached& ghost) {
  link_.detached({ghost.you_publish ? Kind::publisher : Kind::subscriber, ghost.id});
  if (ghost.you_publish) {
    if (const auto publisher = publisher_of(ghost.id)) publisher->status().detach();
  } else if (const auto subscription = subscription_of(ghost.id)) {
    subscription->detach();
  }
}

template <class Introduction>
void NodeSession::connect(Kind kind, const Introduction& introduction, os::Fd socket) {
  try {
    on_connect(introduction, std::move(socket));
  } catch (...) {
    link_.renew(link_.announced_as({kind, introduction.id}));
    throw;
  }
}

void NodeSession::on_connect(const wire::ConnectPublisher& introduction, os::Fd socket) {
  const std::shared_ptr<Publisher> publisher = publisher_of(introduction.id);
  // Closing the socket is the answer when the publisher has gone meanwhile.
  if (!publisher) return os::close_connection(std::move(socket));
  if (introduction.same_user) {
    start(*publisher,
          std::make_shared<PublisherEnd>(publisher, loop_, std::move(socket), introduction, publisher->is_held_back_by(introduction.qos)));
  } else {
    start(*publisher, std::make_shared<ForeignEnd>(publisher, loop_, std::move(socket), introduction));
  }
}

void NodeSession::on_connect(const wire::ConnectSubscriber& introduction, os::Fd socket) {
  const std::shared_ptr<Subscription> subscription = subscription_of(introduction.id);
  const std::uint64_t manager = link_.manager();
  std::shared_ptr<SubscriberEnd> standing;
  bool is_anothers_endpoint = false;
  try {
    if (subscription) standing = subscription->end_of(introduction);
    if (subscription && !standing) is_anothers_endpoint = subscription->is_served_by(introduction.endpoint);
  } catch (const std::bad_alloc&) {
    release_window(introduction.window, manager);
    throw;
  }
  if (standing) {
    if (socket) os::close_connection(std::move(socket));
    if (!standing->introduced_again(introduction.connection, manager)) release_window(introduction.window, manager);
    return;
  }
  if (!socket) {
    release_window(introduction.window, manager);
    tell_path(introduction.connection, wire::Path::none, "the subscriber's process has no descriptor left for it (ulimit -n)");
    if (subscription) introduce_again(*subscription);
    return log_lost_introduction(subscription, name(), introduction.peer);
  }
  if (subscription && subscription->awaits_left_over(introduction.identity)) {  // else its messages came out of order
    tell_path(introduction.connection, wire::Path::none, "the subscriber has yet to take what the connection before this one has left");
    introduce_again(*subscription);
    os::close_connection(std::move(socket));
    return release_window(introduction.window, manager);
  }
  const Reading reading = subscription ? subscription->options().reading : Reading::by_pointer_only;
  const bool cannot_be_in_place = reading == Reading::native && !(introduction.same_user && introduction.same_layout);
  if (reading == Reading::by_pointer_only || cannot_be_in_place || is_anothers_endpoint) {
    release_window(introduction.window, manager);  // first: there may be no memory for the words
    std::string why = "the subscriber takes messages of its own process only";
    if (is_anothers_endpoint) {
      why = "its endpoint is that of another publisher";
      subscription->peers_away().say(not_received(subscription->topic(), introduction.peer) + why);
    } else if (cannot_be_in_place) {
      why = std::string("the subscriber wants them in place, and ") +
            (introduction.same_user ? "they were built with another layout of the type (compiler flags or standard library differ)"
                                    : "their publisher belongs to another user");
      subscription->peers_away().say(not_received(subscription->topic(), introduction.peer) + why +
                                     ": let it ask for no delivery, or for Delivery::view");
    }
    if (subscription) tell_path(introduction.connection, wire::Path::none, why.c_str());
    return os::close_connection(std::move(socket));
  }
  if (!introduction.same_user && !subscription->has_room_for_stranger()) {
    tell_path(introduction.connection, wire::Path::none, subscription->turn_stranger_away(introduction.peer).c_str());
    return os::close_connection(std::move(socket));
  }
  std::shared_ptr<SubscriberEnd> end;
  try {
    end = std::make_shared<SubscriberEnd>(subscription, shared_from_this(), std::move(socket), introduction, manager,
                                          counters_->of_pair(subscription->identity(), introduction.identity),
                                          subscription->options().thinning, reading, subscription->options().in_place);
  } catch (...) {
    release_window(introduction.window, manager);  // from here on the end itself does it
    tell_path(introduction.connection, wire::Path::none, "the subscriber's process could not make its end of the connection");
    throw;
  }
  end->tell_losses_to(subscription->status().loss_listener());
  end->follow(subscription->decided_of(introduction.identity));
  end->start(subscription->doorbell());
  subscription->peers_away().met(introduction.peer);
  subscription->add(std::move(end));
}

}  // namespace sinew::session
