#include "session/node/local_topics.hpp"

#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "session/publisher/publisher.hpp"
#include "session/subscriber/subscription.hpp"
#include "wire/compatibility.hpp"
#include "wire/topic_name.hpp"

namespace sinew::session {
namespace {

/// What is to be let go of when ends were joined, with users' deleters: so without the lock.
struct Left {
  std::vector<std::shared_ptr<Publisher>> publishers;  // whose histories have let go of something
  std::vector<std::vector<std::shared_ptr<LocalQueue>>> queues;

  ~Left() {
    for (const auto& publisher : publishers) publisher->let_go_of_history();
  }
};

void join(const LocalTopics::End& one, const std::shared_ptr<Publisher>& publisher, const LocalTopics::End& other,
          const std::shared_ptr<Subscription>& subscription, Left& left) {
  // The same questions as the manager's, which introduces this pair when it is not joined here, and tells both sides when they do not fit.
  if (one.layout != other.layout) return;
  if (!wire::incompatible_policies(publisher->qos(), subscription->options().qos).empty()) return;
  left.publishers.push_back(publisher);
  left.queues.emplace_back();
  const auto queue = publisher->add_local(*subscription, one.node, other.node);
  if (!queue) return;
  try {
    left.queues.back() = subscription->add(queue);
  } catch (...) {
    queue->close();  // nobody would ever take from it
    publisher->forget_closed_locals();
    throw;
  }
}

}  // namespace

LocalTopics& LocalTopics::instance() {
  static LocalTopics* const topics = new LocalTopics;
  return *topics;
}

std::uint64_t LocalTopics::process(const std::string& domain) {
  const std::lock_guard lock(mutex_);
  const auto known = processes_.find(domain);
  return known != processes_.end() ? known->second : processes_.emplace(domain, base::random_number()).first->second;
}

LocalTopics::Topic& LocalTopics::enter_locked(const End& end, const void* who) {
  const auto topic = topics_.try_emplace({end.domain, std::string(wire::canonical_topic_name(end.topic))}).first;
  try {
    places_.emplace(who, topic);
  } catch (...) {
    forget_if_unused_locked(topic);
    throw;
  }
  return topic->second;
}

// The end of topics_ for one that never came so far.
LocalTopics::Topics::iterator LocalTopics::leave_locked(const void* who) noexcept {
  const auto place = places_.find(who);
  if (place == places_.end()) return topics_.end();
  const auto topic = place->second;
  places_.erase(place);
  return topic;
}

void LocalTopics::forget_if_unused_locked(Topics::iterator topic) noexcept {
  if (topic->second.publishers.empty() && topic->second.subscriptions.empty()) topics_.erase(topic);
}

void LocalTopics::add(const End& end, const std::shared_ptr<Publisher>& publisher) {
  Left left;
  const std::lock_guard lock(mutex_);
  Topic& topic = enter_locked(end, publisher.get());
  topic.publishers.emplace_back(end, publisher);
  for (const auto& [other, subscription] : topic.subscriptions) join(end, publisher, other, subscription, left);
}

void LocalTopics::add(const End& end, const std::shared_ptr<Subscription>& subscription) {
  Left left;
  const std::lock_guard lock(mutex_);
  Topic& topic = enter_locked(end, subscription.get());
  topic.subscriptions.emplace_back(end, subscription);
  for (const auto& [other, publisher] : topic.publishers) join(other, publisher, end, subscription, left);
}

void LocalTopics::remove(const Publisher& gone) {
  const std::lock_guard lock(mutex_);
  const auto topic = leave_locked(&gone);
  if (topic == topics_.end()) return;
  std::erase_if(topic->second.publishers, [&](const auto& each) { return each.second.get() == &gone; });
  forget_if_unused_locked(topic);
}

void LocalTopics::remove(const Subscription& gone) {
  const std::lock_guard lock(mutex_);
  const auto topic = leave_locked(&gone);
  if (topic == topics_.end()) return;
  std::erase_if(topic->second.subscriptions, [&](const auto& each) { return each.second.get() == &gone; });
  for (const auto& [end, publisher] : topic->second.publishers) publisher->forget_closed_locals();
  forget_if_unused_locked(topic);
}

}  // namespace sinew::session
