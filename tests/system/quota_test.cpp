// Subscribers that hold as much as they can of a publisher whose memory is small.
#include <atomic>
#include <mutex>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

constexpr std::size_t budget = 16 << 20;
constexpr std::size_t large = 1'000'000;
constexpr std::uint64_t may_hold = 4;  // of the large ones

class Quota : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    node_ = Node::create("node");
    publisher_ = node_->create_publisher<Sample>("topic", lossless(), {.memory_budget = budget});
  }
  void TearDown() override {
    publisher_.reset();
    node_.reset();
    Domain::TearDown();
  }
  std::shared_ptr<Subscriber<Sample>> subscribe() {
    return node_->create_subscriber<Sample>("topic", Qos{}.keep_last(4), as_from_elsewhere());
  }
  void publish(std::uint64_t number, std::size_t size = large) {
    ASSERT_EQ(publish_in_place(*publisher_, 1, number, size), PublishResult::published) << number;
  }

  std::shared_ptr<Node> node_;
  std::shared_ptr<Publisher<Sample>> publisher_;
};

struct Handle {
  std::shared_ptr<const Sample> sample;
  Delivery by;
};
Handle next_of(Subscriber<Sample>& subscriber) {
  MessageInfo info;
  auto sample = take_soon(subscriber, &info);
  require(sample != nullptr, "nothing arrived");
  return {std::move(sample), info.delivery};
}

TEST_F(Quota, ASubscriberThatHoldsLargeMessagesGetsCopiesAndNobodyElseMissesAny) {
  auto holding = subscribe(), other = subscribe();
  await_subscribers(*publisher_, 2);
  std::vector<Handle> held;
  for (std::uint64_t number = 1; number <= 60; ++number) {
    publish(number);
    held.push_back(next_of(*holding));
    EXPECT_EQ(held.back().by, number <= may_hold ? Delivery::native : Delivery::copy) << number;
    const Handle seen = next_of(*other);
    EXPECT_EQ(seen.sample->number, number);
    EXPECT_EQ(seen.by, Delivery::native);
  }
  EXPECT_EQ(other->statistics().missed + holding->statistics().missed, 0U);
  EXPECT_EQ(other->statistics().over_quota, 0U);
  EXPECT_EQ(holding->statistics().over_quota, 60 - may_hold);
  EXPECT_EQ(holding->publishers().at(0).over_quota, 60 - may_hold);
  EXPECT_EQ(holding->statistics().held, may_hold);
  for (std::uint64_t number = 1; number <= held.size(); ++number) {
    EXPECT_TRUE(is_whole(*held[number - 1].sample));
    EXPECT_EQ(held[number - 1].sample->number, number) << "another whole message is in its place";
  }

  held.erase(held.begin());
  publish(61);
  EXPECT_EQ(next_of(*holding).by, Delivery::native) << "after one that was held in place was let go";
  publisher_.reset();
  EXPECT_TRUE(eventually([&] { return !holding->take() && holding->publishers().empty(); }));
  holding->take();  // looks at what is left of the connection, and lets go of it
  EXPECT_EQ(holding->statistics().over_quota, 60 - may_hold) << "also when the publisher is gone";
}

TEST_F(Quota, OneMessageIsReadInPlaceHoweverLargeItIs) {
  auto subscriber = subscribe();
  await_subscribers(*publisher_, 1);
  publish(1, 6 * large);
  const Handle first = next_of(*subscriber);
  EXPECT_EQ(first.by, Delivery::native);
  publish(2, 100);
  EXPECT_EQ(next_of(*subscriber).by, Delivery::copy);
  EXPECT_TRUE(is_whole(*first.sample) && first.sample->number == 1);
}

// Keeps whatever comes.
ROLE(quota_hoarder) {
  auto node = Node::create("hoarder");
  std::mutex mutex;
  std::vector<std::pair<std::uint64_t, std::shared_ptr<const Sample>>> held;  // with the numbers that they came with
  auto subscriber = node->create_subscriber<Sample>(
      "topic",
      [&](std::shared_ptr<const Sample> sample) {
        const std::lock_guard lock(mutex);
        const std::uint64_t number = sample->number;
        held.emplace_back(number, std::move(sample));
      },
      Qos{}.keep_last(64));
  until_finished();
  const std::lock_guard lock(mutex);
  for (const auto& [number, sample] : held) require(is_whole(*sample) && sample->number == number, "what it held has changed");
}

TEST_F(Quota, AStoppedProcessPinsNoMoreThanItsShare) {
  auto other = subscribe();
  Child hoarder("quota_hoarder");
  await_subscribers(*publisher_, 2);
  const auto share = [&] {
    for (const MatchedSubscriber& each : publisher_->subscribers()) {
      if (each.node == "hoarder") return each;
    }
    return MatchedSubscriber{};
  };
  std::uint64_t number = 0;
  while (number < 30) {
    publish(++number);
    EXPECT_EQ(next_of(*other).sample->number, number);
    require(eventually([&] { return share().received == number; }), "it does not take what comes");
  }
  hoarder.stop();
  EXPECT_GT(share().bytes_held, 3 * large);
  EXPECT_LE(share().bytes_held, budget / 4 + large + 1000) << "and one that it was copying";
  while (number < 100) {
    publish(++number);
    EXPECT_EQ(next_of(*other).sample->number, number);
  }
  EXPECT_EQ(other->statistics().missed, 0U);
  hoarder.go_on();
  hoarder.end();
}

}  // namespace
}  // namespace sinew::system
