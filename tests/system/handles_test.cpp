// A received message is a std::shared_ptr like any other, and a loan owns its message as a std::unique_ptr does.
#include <atomic>
#include <memory>
#include <thread>
#include <utility>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Handles : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    node_ = Node::create("node");
    publisher_ = node_->create_publisher<Sample>("topic", Qos{}.keep_last(1));
    subscriber_ = node_->create_subscriber<Sample>("topic", Qos{}.keep_last(1), as_from_elsewhere());
    await_subscribers(*publisher_, 1);
  }
  void TearDown() override {
    subscriber_.reset();
    publisher_.reset();
    node_.reset();
    Domain::TearDown();
  }
  std::shared_ptr<const Sample> next() {
    publish_in_place(*publisher_, 1, ++number_, 100'000);
    auto message = take_soon(*subscriber_);
    require(message != nullptr, "nothing arrived");
    return message;
  }
  std::uint64_t held() const { return subscriber_->statistics().held; }

  std::shared_ptr<Node> node_;
  std::shared_ptr<Publisher<Sample>> publisher_;
  std::shared_ptr<Subscriber<Sample>> subscriber_;
  std::uint64_t number_ = 0;
};

TEST_F(Handles, TheLastCopyOnWhateverThreadLetsGo) {
  for (int round = 0; round < rounds(100); ++round) {
    auto message = next();
    EXPECT_EQ(held(), 1U);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([mine = message] {
          for (int k = 0; k < 100; ++k) {
            const auto another = mine;
            require(another->number == mine->number && is_whole(*another), "not whole");
          }
        });
      }
      message.reset();
    }
    EXPECT_EQ(held(), 0U);
  }
}

TEST_F(Handles, AnAliasToAPartKeepsTheWhole) {
  auto message = next();
  EXPECT_TRUE(is_whole(*message));
  const std::uint8_t* const first = message->data.data();
  const std::uint8_t byte = *first;
  std::shared_ptr<const std::uint8_t> part(message, first);
  const std::shared_ptr<const void> anything = message;
  message.reset();
  for (int i = 0; i < 10; ++i) next();  // would use the memory again if it could
  EXPECT_EQ(*part, byte);
  EXPECT_EQ(held(), 1U);
  EXPECT_FALSE(part.owner_before(anything) || anything.owner_before(part));
  part.reset();
  EXPECT_EQ(held(), 1U);
}

TEST_F(Handles, AWeakPointerExpiresWithTheLastOwner) {
  auto message = next();
  const std::weak_ptr<const Sample> weak = message;
  EXPECT_EQ(message.use_count(), 1);
  EXPECT_EQ(weak.lock()->number, number_);
  auto copy = std::exchange(message, nullptr);
  EXPECT_FALSE(weak.expired());
  copy.reset();
  EXPECT_TRUE(weak.expired());
  EXPECT_EQ(weak.lock(), nullptr);
  EXPECT_EQ(held(), 0U);
}

TEST_F(Handles, AMessageCanBePublishedAgainFromItsHandle) {
  auto again = node_->create_publisher<Sample>("again");
  auto reader = node_->create_subscriber<Sample>("again", Qos{}, as_from_elsewhere());
  await_subscribers(*again, 1);
  const auto message = next();
  EXPECT_EQ(again->publish(*message), PublishResult::published);
  const auto second = take_soon(*reader);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->number, message->number);
  EXPECT_TRUE(is_whole(*second));
}

TEST_F(Handles, ALoanThatIsMovedFromIsEmptyAndOneThatIsReplacedGivesItsMemoryBack) {
  const std::uint64_t before = publisher_->statistics().memory_in_use;
  auto one = publisher_->loan();
  one->data.resize(100'000);
  auto two = std::move(one);
  EXPECT_FALSE(one);  // NOLINT(bugprone-use-after-move): that is what is tested
  EXPECT_TRUE(two);
  EXPECT_EQ(two->data.size(), 100'000U);
  two = publisher_->loan();
  EXPECT_LT(publisher_->statistics().memory_in_use, before + 100'000);
  EXPECT_TRUE(two->data.empty());
  publisher_->publish(std::move(two));
  EXPECT_FALSE(two);  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace sinew::system
