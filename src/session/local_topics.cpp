#include "session/local_topics.hpp"

#include <algorithm>
#include <random>

#include "session/publisher.hpp"
#include "session/subscription.hpp"
#include "wire/compatibility.hpp"
#include "wire/topic_name.hpp"

namespace sinew::session {
namespace {

void join(const LocalTopics::End& one, const std::shared_ptr<Publisher>& publisher, const LocalTopics::End& other,
          const std::shared_ptr<Subscription>& subscription) {
  // The same questions as the manager's, which introduces this pair when it is not joined here, and tells both sides when they do not fit.
  if (one.layout != other.layout || *one.lost || *other.lost) return;
  if (!wire::incompatible_policies(publisher->quality(), subscription->options().quality).empty()) return;
  const auto queue = publisher->add_local(*subscription, one.node, other.node);
  if (!queue) return;
  try {
    subscription->add(queue);
  } catch (...) {
    queue->close();  // nobody would ever take from it
    publisher->forget_closed_locals();
    throw;
  }
}

std::uint64_t random_number() {
  std::random_device random;
  return (std::uint64_t{random()} << 32U | random()) | 1U;
}

}  // namespace

LocalTopics& LocalTopics::instance() {
  static LocalTopics* const topics = new LocalTopics;
  return *topics;
}

LocalTopics::LocalTopics() : process_(random_number()) {}

void LocalTopics::add(const End& end, const std::shared_ptr<Publisher>& publisher) {
  const std::lock_guard lock(mutex_);
  Topic& topic = topics_[{end.domain, std::string(wire::canonical_topic_name(end.topic))}];
  topic.publishers.emplace_back(end, publisher);
  for (const auto& [other, subscription] : topic.subscriptions) join(end, publisher, other, subscription);
}

void LocalTopics::add(const End& end, const std::shared_ptr<Subscription>& subscription) {
  const std::lock_guard lock(mutex_);
  Topic& topic = topics_[{end.domain, std::string(wire::canonical_topic_name(end.topic))}];
  topic.subscriptions.emplace_back(end, subscription);
  for (const auto& [other, publisher] : topic.publishers) join(other, publisher, end, subscription);
}

void LocalTopics::remove(const Publisher& gone) {
  const std::lock_guard lock(mutex_);
  for (auto& [key, topic] : topics_) std::erase_if(topic.publishers, [&](const auto& each) { return each.second.get() == &gone; });
  std::erase_if(topics_, [](const auto& each) { return each.second.publishers.empty() && each.second.subscriptions.empty(); });
}

void LocalTopics::remove(const Subscription& gone) {
  const std::lock_guard lock(mutex_);
  for (auto& [key, topic] : topics_) {
    std::erase_if(topic.subscriptions, [&](const auto& each) { return each.second.get() == &gone; });
    for (const auto& [end, publisher] : topic.publishers) publisher->forget_closed_locals();
  }
  std::erase_if(topics_, [](const auto& each) { return each.second.publishers.empty() && each.second.subscriptions.empty(); });
}

}  // namespace sinew::session
