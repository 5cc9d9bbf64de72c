// Random events against a plain model of what must be true afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "manager/state/tests/world.hpp"

namespace sinew::manager {
namespace {

using namespace wire;

/// What the nodes of the domain know: kept from the manager's answers alone, as real nodes would.
class Model {
 public:
  explicit Model(unsigned seed) : random_(seed) {}

  void step() {
    switch (pick(12)) {
      case 0:
        return come();
      case 1:
        return leave();
      case 2:
      case 3:
      case 4:
        return add_publisher();
      case 5:
      case 6:
        return add_subscriber();
      case 7:
        return remove_publisher();
      case 8:
        return remove_subscriber();
      case 9:
      case 10:
        return release();
      default:
        return break_protocol();
    }
  }

  void check() const {
    std::size_t used = 0;
    std::set<std::string> topics;
    for (const auto& [base, holders] : holders_) used += holders.empty() ? 0 : 1;
    for (const auto& [key, publisher] : publishers_) {
      ASSERT_TRUE(holders_.at(publisher.window.base).contains(key.first));
      topics.insert(publisher.topic);
    }
    for (const auto& [key, topic] : subscribers_) topics.insert(topic);
    ASSERT_EQ(world_.domain.free_windows(), four_windows.count - used);
    ASSERT_EQ(world_.domain.sessions(), nodes_.size());
    ASSERT_EQ(world_.domain.topics(), topics.size());
  }

  void close_everybody() {
    while (!nodes_.empty()) close(nodes_.begin()->first);
    check();
  }

  std::uint64_t introductions = 0, refusals = 0, stale_releases = 0;

 private:
  using Key = std::pair<Session, std::uint64_t>;
  struct Publisher {
    std::string topic;
    Window window;
  };
  struct Node {
    std::uint64_t next_id = 1;
    std::map<std::uint64_t, std::uint64_t> introduced;  // window base to newest connection this node has read
  };

  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  template <class Map>
  auto pick_from(Map& map) {
    return std::next(map.begin(), static_cast<std::ptrdiff_t>(pick(map.size())));
  }
  std::string some_topic() { return std::string("topic") + static_cast<char>('a' + pick(3)); }

  void come() {
    if (nodes_.size() < 6) nodes_[world_.node("node" + std::to_string(++names_))] = {};
  }

  void close(Session session) {
    world_.domain.closed(0, session);
    forget(session);
  }

  void leave() {
    if (!nodes_.empty()) close(pick_from(nodes_)->first);
  }

  void forget(Session session) {
    std::erase_if(publishers_, [&](const auto& p) { return p.first.first == session; });
    std::erase_if(subscribers_, [&](const auto& s) { return s.first.first == session; });
    for (auto& [base, holders] : holders_) holders.erase(session);
    nodes_.erase(session);
  }

  void expect_introductions(const Actions& actions, std::set<std::pair<Key, Key>> wanted) {
    for (std::size_t n = 1; n < actions.size(); ++n) {
      const Introduce& meet = at<Introduce>(actions, n);
      const Key publisher{meet.publisher, meet.to_publisher.id}, subscriber{meet.subscriber, meet.to_subscriber.id};
      ASSERT_EQ(wanted.erase({publisher, subscriber}), 1u);
      ASSERT_TRUE(connections_.insert(meet.to_publisher.connection).second);
      ASSERT_EQ(meet.to_subscriber.window, publishers_.at(publisher).window);
      holders_[meet.to_subscriber.window.base].insert(meet.subscriber);
      nodes_.at(meet.subscriber).introduced[meet.to_subscriber.window.base] = meet.to_subscriber.connection;
      ++introductions;
    }
    ASSERT_TRUE(wanted.empty());
  }

  void add_publisher() {
    if (nodes_.empty()) return;
    const auto node = pick_from(nodes_);
    const Key key{node->first, node->second.next_id++};
    const std::string topic = some_topic();
    const Actions actions = world_.publish(key.first, key.second, topic);
    const auto in_use = std::count_if(holders_.begin(), holders_.end(), [](const auto& h) { return !h.second.empty(); });
    if (static_cast<std::uint64_t>(in_use) == four_windows.count) {
      ASSERT_EQ(actions.size(), 1u);
      sent<PublisherRefused>(actions, 0, key.first);
      ++refusals;
      return;
    }
    const Window window = sent<PublisherRegistered>(actions, 0, key.first).window;
    ASSERT_TRUE(holders_[window.base].empty()) << "a window was given away while it was held";
    holders_[window.base] = {key.first};
    node->second.introduced[window.base] = 0;
    publishers_[key] = {topic, window};
    std::set<std::pair<Key, Key>> wanted;
    for (const auto& [subscriber, its_topic] : subscribers_) {
      if (its_topic == topic) wanted.insert({key, subscriber});
    }
    expect_introductions(actions, std::move(wanted));
  }

  void add_subscriber() {
    if (nodes_.empty()) return;
    const auto node = pick_from(nodes_);
    const Key key{node->first, node->second.next_id++};
    const std::string topic = some_topic();
    const Actions actions = world_.subscribe(key.first, key.second, topic);
    sent<SubscriberRegistered>(actions, 0, key.first);
    subscribers_[key] = topic;
    std::set<std::pair<Key, Key>> wanted;
    for (const auto& [publisher, its] : publishers_) {
      if (its.topic == topic) wanted.insert({publisher, key});
    }
    expect_introductions(actions, std::move(wanted));
  }

  void remove_publisher() {
    if (publishers_.empty()) return;
    const auto publisher = pick_from(publishers_);
    ASSERT_TRUE(world_.say(publisher->first.first, DeletePublisher{publisher->first.second}).empty());
    publishers_.erase(publisher);
  }

  void remove_subscriber() {
    if (subscribers_.empty()) return;
    const auto subscriber = pick_from(subscribers_);
    ASSERT_TRUE(world_.say(subscriber->first.first, DeleteSubscriber{subscriber->first.second}).empty());
    subscribers_.erase(subscriber);
  }

  void release() {
    if (nodes_.empty()) return;
    const auto node = pick_from(nodes_);
    if (node->second.introduced.empty()) return;
    const auto [base, newest] = *pick_from(node->second.introduced);
    for (const auto& [key, publisher] : publishers_) {
      if (key.first == node->first && publisher.window.base == base) return;  // its own, and in use
    }
    const bool stale = newest > 0 && pick(4) == 0;
    ASSERT_TRUE(world_.say(node->first, WindowReleased{{base, four_windows.window_size}, stale ? newest - 1 : newest}).empty());
    if (stale) {
      ++stale_releases;
      return;
    }
    holders_[base].erase(node->first);
    node->second.introduced.erase(base);
  }

  void break_protocol() {
    if (nodes_.empty() || pick(4) != 0) return;
    const Session session = pick_from(nodes_)->first;
    const std::vector<Message> bad = {RegisterNode{}, DeletePublisher{1'000'000}, Doorbell{}, WindowReleased{{1, 2}, 3}};
    world_.expect_dropped(world_.say(session, bad[pick(bad.size())]), session, "");
    forget(session);
  }

  std::mt19937 random_;
  World world_;
  std::map<Session, Node> nodes_;
  std::map<Key, Publisher> publishers_;
  std::map<Key, std::string> subscribers_;
  std::map<std::uint64_t, std::set<Session>> holders_;  // by window base
  std::set<std::uint64_t> connections_;
  int names_ = 0;
};

TEST(DomainModel, F3_random_events_double_no_pair_give_no_held_window_away_and_answer_every_registration_once) {
  std::uint64_t introductions = 0, refusals = 0, stale = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    Model model(seed);
    for (int i = 0; i < 500; ++i) {
      model.step();
      model.check();
      if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
    model.close_everybody();
    introductions += model.introductions;
    refusals += model.refusals;
    stale += model.stale_releases;
  }
  EXPECT_GT(introductions, 1000u);  // else the run was too tame to show anything
  EXPECT_GT(refusals, 1000u);
  EXPECT_GT(stale, 100u);
}

}  // namespace
}  // namespace sinew::manager
