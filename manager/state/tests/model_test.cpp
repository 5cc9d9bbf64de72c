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
  explicit Model(unsigned seed) : random_(seed) { world_.nodes_answer = false; }

  void step() {
    switch (pick(16)) {
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
      case 11:
        return break_protocol();
      default:
        return answer();
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
    for (const auto& [key, subscriber] : subscribers_) topics.insert(subscriber.topic);
    ASSERT_EQ(world_.domain.free_windows(), four_windows.count - used);
    ASSERT_EQ(world_.domain.sessions(), nodes_.size());
    ASSERT_EQ(world_.domain.topics(), topics.size());
    for (const auto& [session, owed] : nodes_) ASSERT_LE(owed.unanswered.size(), Introductions::room);
    for (const auto& [publisher, subscriber] : waiting_) {
      const std::size_t here = nodes_.at(publisher.first).unanswered.size(), there = nodes_.at(subscriber.first).unanswered.size();
      const bool both_have_room = here < Introductions::room && there < Introductions::room;
      ASSERT_FALSE(publisher.first == subscriber.first ? here == 0 : both_have_room) << "a pair waits for nothing";
    }
  }

  void close_everybody() {
    while (!nodes_.empty()) close(nodes_.begin()->first);
    check();
  }

  std::uint64_t introductions = 0, delayed = 0, refusals = 0, misfits = 0, insiders = 0;

 private:
  using Key = std::pair<Session, std::uint64_t>;
  struct Publisher {
    std::string topic;
    bool reliable = false;
    std::uint64_t process = 0;
    Window window;
  };
  struct Subscriber {
    std::string topic;
    bool reliable = false;
    std::uint64_t process = 0;
  };
  struct Node {
    std::uint64_t next_id = 1;
    std::vector<std::uint64_t> unanswered;
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
    ASSERT_TRUE(world_.domain.closed(0, session).empty());
    forget(session);
  }

  void leave() {
    if (!nodes_.empty()) close(pick_from(nodes_)->first);
  }

  void forget(Session session) {
    std::erase_if(publishers_, [&](const auto& p) { return p.first.first == session; });
    std::erase_if(subscribers_, [&](const auto& s) { return s.first.first == session; });
    std::erase_if(waiting_, [&](const auto& pair) { return pair.first.first == session || pair.second.first == session; });
    for (auto& [base, holders] : holders_) holders.erase(session);
    nodes_.erase(session);
  }

  /// From the n-th action on there are introductions of pairs that wait.
  void meet(const Actions& actions, std::size_t n) {
    for (; n < actions.size(); ++n) {
      const Introduce& meet = at<Introduce>(actions, n);
      const Key publisher{meet.publisher, meet.to_publisher.id}, subscriber{meet.subscriber, meet.to_subscriber.id};
      ASSERT_EQ(waiting_.erase({publisher, subscriber}), 1u);
      ASSERT_GT(meet.to_publisher.connection, newest_connection_);
      newest_connection_ = meet.to_publisher.connection;
      ASSERT_EQ(meet.to_subscriber.connection, newest_connection_);
      ASSERT_EQ(meet.to_subscriber.window, publishers_.at(publisher).window);
      ++holders_[meet.to_subscriber.window.base][meet.subscriber];
      for (const Session side : {meet.publisher, meet.subscriber}) nodes_.at(side).unanswered.push_back(newest_connection_);
      ++introductions;
    }
  }

  /// The pair has come to be: it waits, or finds itself, or the next two actions tell its sides that they do not fit.
  void pair(const std::pair<Key, const Publisher&>& publisher, const std::pair<Key, const Subscriber&>& subscriber, const Actions& actions,
            std::size_t& n) {
    if (publisher.second.topic != subscriber.second.topic) return;
    if (publisher.second.reliable || !subscriber.second.reliable) {
      const bool meets_inside = publisher.second.process != 0 && publisher.second.process == subscriber.second.process;
      if (!meets_inside) waiting_.insert({publisher.first, subscriber.first});
      insiders += meets_inside ? 1U : 0U;
      return;
    }
    const auto to_publisher = sent<Incompatible>(actions, n++, publisher.first.first);
    ASSERT_TRUE(to_publisher.you_publish && to_publisher.id == publisher.first.second && to_publisher.qos.reliable);
    const auto to_subscriber = sent<Incompatible>(actions, n++, subscriber.first.first);
    ASSERT_TRUE(!to_subscriber.you_publish && to_subscriber.id == subscriber.first.second && !to_subscriber.qos.reliable);
    ++misfits;
  }

  void add_publisher() {
    if (nodes_.empty()) return;
    const auto node = pick_from(nodes_);
    const Key key{node->first, node->second.next_id++};
    const std::string topic = some_topic();
    const bool reliable = pick(4) != 0;
    const std::uint64_t process = pick(4);
    const Actions actions = world_.publish(key.first, key.second, topic, type_of(32), {8, reliable}, process);
    const auto in_use = std::count_if(holders_.begin(), holders_.end(), [](const auto& h) { return !h.second.empty(); });
    if (static_cast<std::uint64_t>(in_use) == four_windows.count) {
      ASSERT_EQ(actions.size(), 1u);
      sent<PublisherRefused>(actions, 0, key.first);
      ++refusals;
      return;
    }
    const Window window = sent<PublisherRegistered>(actions, 0, key.first).window;
    ASSERT_TRUE(holders_[window.base].empty()) << "a window was given away while it was held";
    holders_[window.base] = {{key.first, 1}};
    publishers_[key] = {topic, reliable, process, window};
    std::size_t n = 1;
    for (const auto& subscriber : subscribers_) pair({key, publishers_[key]}, subscriber, actions, n);
    meet(actions, n);
  }

  void add_subscriber() {
    if (nodes_.empty()) return;
    const auto node = pick_from(nodes_);
    const Key key{node->first, node->second.next_id++};
    const Subscriber subscriber{some_topic(), pick(2) != 0, pick(4)};
    const Actions actions =
        world_.subscribe(key.first, key.second, subscriber.topic, type_of(32), {4, subscriber.reliable}, subscriber.process);
    sent<SubscriberRegistered>(actions, 0, key.first);
    subscribers_[key] = subscriber;
    std::size_t n = 1;
    for (const auto& publisher : publishers_) pair(publisher, {key, subscriber}, actions, n);
    meet(actions, n);
  }

  void answer() {
    if (nodes_.empty()) return;
    auto& [session, node] = *pick_from(nodes_);
    if (node.unanswered.empty()) return;
    const auto one = pick_from(node.unanswered);
    const std::uint64_t connection = *one;
    node.unanswered.erase(one);
    const std::uint64_t before = introductions;
    meet(world_.say(session, ConnectTaken{connection}), 0);
    delayed += introductions - before;
  }

  void remove_publisher() {
    if (publishers_.empty()) return;
    const auto publisher = pick_from(publishers_);
    ASSERT_TRUE(world_.say(publisher->first.first, DeletePublisher{publisher->first.second}).empty());
    std::erase_if(waiting_, [&](const auto& pair) { return pair.first == publisher->first; });
    publishers_.erase(publisher);
  }

  void remove_subscriber() {
    if (subscribers_.empty()) return;
    const auto subscriber = pick_from(subscribers_);
    ASSERT_TRUE(world_.say(subscriber->first.first, DeleteSubscriber{subscriber->first.second}).empty());
    std::erase_if(waiting_, [&](const auto& pair) { return pair.second == subscriber->first; });
    subscribers_.erase(subscriber);
  }

  void release() {
    if (holders_.empty()) return;
    auto& [base, holders] = *pick_from(holders_);
    if (holders.empty()) return;
    const auto holder = pick_from(holders);
    const bool owns = std::any_of(publishers_.begin(), publishers_.end(),
                                  [&](const auto& each) { return each.first.first == holder->first && each.second.window.base == base; });
    if (owns && holder->second == 1) return;
    ASSERT_TRUE(world_.say(holder->first, WindowReleased{{base, four_windows.window_size}}).empty());
    if (--holder->second == 0) holders.erase(holder);
  }

  void break_protocol() {
    if (nodes_.empty() || pick(3) != 0) return;
    const Session session = pick_from(nodes_)->first;
    const std::vector<Message> bad = {RegisterNode{}, DeletePublisher{1'000'000}, Doorbell{}, WindowReleased{{1, 2}}, ConnectTaken{}};
    world_.expect_dropped(world_.say(session, bad[pick(bad.size())]), session, "");
    forget(session);
  }

  std::mt19937 random_;
  World world_;
  std::map<Session, Node> nodes_;
  std::map<Key, Publisher> publishers_;
  std::map<Key, Subscriber> subscribers_;
  std::set<std::pair<Key, Key>> waiting_;
  std::map<std::uint64_t, std::map<Session, int>> holders_;  // by window base; how often each holds it
  std::uint64_t newest_connection_ = 0;
  int names_ = 0;
};

TEST(DomainModel, F3_S6_random_events_introduce_each_pair_that_fits_once_as_soon_as_both_have_room_and_give_no_held_window_away) {
  std::uint64_t introductions = 0, delayed = 0, refusals = 0, misfits = 0, insiders = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    Model model(seed);
    for (int i = 0; i < 500; ++i) {
      model.step();
      model.check();
      if (::testing::Test::HasFailure()) FAIL() << "seed " << seed << ", step " << i;
    }
    model.close_everybody();
    introductions += model.introductions;
    delayed += model.delayed;
    refusals += model.refusals;
    misfits += model.misfits;
    insiders += model.insiders;
  }
  EXPECT_GT(introductions, 1000u);  // else the run was too tame to show anything
  EXPECT_GT(delayed, 300u);
  EXPECT_GT(refusals, 1000u);
  EXPECT_GT(misfits, 300u);
  EXPECT_GT(insiders, 300u);
}

}  // namespace
}  // namespace sinew::manager
