// What nodes of one process hand each other by pointer: the two tables of copies of the ROS 2 intra-process design, and what holds beside them.
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

class Pointer : public Domain {};

// --- the two tables --------------------------------------------------------------------------------------------------------------------

/// 'u': takes std::unique_ptr<T>, 's': takes std::shared_ptr<const T>; and for each, in their order, the number of the object that it gets, 1 being the published one.
struct Row {
  const char* takers;
  const char* gets;
  friend std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.takers << " get " << row.gets; }
};

/// What each of some subscribers got, kept so that no address is used twice.
class Takers {
 public:
  Takers(Node& node, const std::string& kinds, const SubscriberOptions& options = {}) : got_(kinds.size()) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      if (kinds[i] == 'u') {
        subscribers_.push_back(node.create_subscriber<Sample>(
            "topic", [this, i](std::unique_ptr<Sample> sample) { keep(i, std::shared_ptr<const Sample>(std::move(sample))); }, Qos{},
            options));
      } else {
        subscribers_.push_back(node.create_subscriber<Sample>(
            "topic", [this, i](std::shared_ptr<const Sample> sample) { keep(i, std::move(sample)); }, Qos{}, options));
      }
    }
  }

  /// The objects that they got, numbered in the order of the subscribers; `published` is 1. Each is whole.
  std::string numbers(const void* published) {
    require(eventually([this] {
              const std::lock_guard lock(mutex_);
              return std::ranges::all_of(got_, [](const auto& each) { return each != nullptr; });
            }),
            "not all have got it");
    const std::lock_guard lock(mutex_);
    std::map<const void*, std::size_t> known = {{published, 1}};
    std::string numbers;
    for (const auto& each : got_) {
      EXPECT_TRUE(is_whole(*each));
      numbers += std::to_string(known.try_emplace(each.get(), known.size() + 1).first->second);
    }
    return numbers;
  }

 private:
  void keep(std::size_t i, std::shared_ptr<const Sample> sample) {
    const std::lock_guard lock(mutex_);
    require(got_[i] == nullptr, "it came twice");
    got_[i] = std::move(sample);
  }

  std::mutex mutex_;
  std::vector<std::shared_ptr<const Sample>> got_;
  std::vector<std::shared_ptr<Subscriber<Sample>>> subscribers_;  // goes first: no callback runs after it
};

class PublishingUnique : public Pointer, public ::testing::WithParamInterface<Row> {};
class PublishingShared : public Pointer, public ::testing::WithParamInterface<Row> {};

std::uint64_t distinct_copies(const std::string& numbers) {
  std::set<char> all(numbers.begin(), numbers.end());
  all.erase('1');
  return all.size();
}

TEST_P(PublishingUnique, GivesEachTheObjectThatTheTableSays) {
  auto node = Node::create("node");
  Takers takers(*node, GetParam().takers);
  auto publisher = node->create_publisher<Sample>("topic");
  auto message = std::make_unique<Sample>(sample_of(1, 1, 1000));
  const void* const at = message.get();
  const std::uint64_t size = sizeof(Sample) + message->data.size() + message->text.size() + 1;
  ASSERT_EQ(publisher->publish(std::move(message)), PublishResult::published);
  EXPECT_EQ(takers.numbers(at), GetParam().gets);
  EXPECT_EQ(publisher->statistics().bytes_copied, size * distinct_copies(GetParam().gets));
}

// "Publishing UniquePtr" of the design.
INSTANTIATE_TEST_SUITE_P(Table, PublishingUnique,
                         ::testing::Values(Row{"u", "1"}, Row{"uu", "12"}, Row{"s", "1"}, Row{"ss", "11"}, Row{"us", "12"},
                                           Row{"uss", "122"}, Row{"uuss", "1233"}));

TEST_P(PublishingShared, GivesEachTheObjectThatTheTableSays) {
  auto node = Node::create("node");
  Takers takers(*node, GetParam().takers);
  auto publisher = node->create_publisher<Sample>("topic");
  const auto message = std::make_shared<const Sample>(sample_of(1, 1, 1000));
  ASSERT_EQ(publisher->publish(message), PublishResult::published);
  EXPECT_EQ(takers.numbers(message.get()), GetParam().gets);
  const std::uint64_t size = sizeof(Sample) + message->data.size() + message->text.size() + 1;
  EXPECT_EQ(publisher->statistics().bytes_copied, size * distinct_copies(GetParam().gets));
}

// "Publishing SharedPtr".
INSTANTIATE_TEST_SUITE_P(Table, PublishingShared,
                         ::testing::Values(Row{"u", "2"}, Row{"uu", "23"}, Row{"s", "1"}, Row{"ss", "11"}, Row{"us", "21"},
                                           Row{"uss", "211"}, Row{"uuss", "2311"}));

// --- beside the tables -----------------------------------------------------------------------------------------------------------------

TEST_F(Pointer, WhoDoesNotTakeItsMessagesCostsNoCopiesWithABufferOfSharedPointers) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  std::atomic<bool> go{false};
  std::atomic<int> received{0};
  const auto slow = [&](std::unique_ptr<Sample> sample) {
    while (!go) std::this_thread::sleep_for(1ms);
    received += is_whole(*sample);
  };
  SubscriberOptions shared;
  shared.buffer = Buffer::shared;
  auto one = node->create_subscriber<Sample>("topic", slow, Qos{}.keep_last(1), shared);
  auto two = node->create_subscriber<Sample>("topic", slow, Qos{}.keep_last(1), shared);
  for (std::uint64_t number = 1; number <= 100; ++number) publisher->publish(std::make_unique<Sample>(sample_of(1, number, 1000)));
  EXPECT_EQ(publisher->statistics().bytes_copied, 0U);
  go = true;
  EXPECT_TRUE(eventually([&] { return received >= 2; }));
  EXPECT_TRUE(eventually([&] { return one->statistics().received + one->statistics().missed == 100; }));
  EXPECT_GT(one->statistics().bytes_copied, 0U) << "copied when it was taken";
}

TEST_F(Pointer, ALoanIsSharedAsItLiesAndCopiedForEachThatOwns) {
  auto node = Node::create("node");
  Takers takers(*node, "ssu");
  auto publisher = node->create_publisher<Sample>("topic");
  auto loan = publisher->loan();
  loan.build([](Sample& sample) { fill(sample, 1, 1, 1000); });
  const void* const at = &*loan;
  ASSERT_EQ(publisher->publish(std::move(loan)), PublishResult::published);
  EXPECT_EQ(takers.numbers(at), "112");
}

TEST_F(Pointer, AnObjectOfTheCallersIsCopiedOnceForAllThatShare) {
  auto node = Node::create("node");
  Takers takers(*node, "sss");
  auto publisher = node->create_publisher<Sample>("topic");
  const Sample sample = sample_of(1, 1, 1000);
  ASSERT_EQ(publisher->publish(sample), PublishResult::published);
  EXPECT_EQ(takers.numbers(&sample), "222");
}

TEST_F(Pointer, ABufferOfValuesHoldsTheMessagesThemselves) {
  auto node = Node::create("node");
  SubscriberOptions values;
  values.buffer = Buffer::value;
  auto looking = node->create_subscriber<Sample>("topic", Qos{}.keep_last(3), values);
  auto publisher = node->create_publisher<Sample>("topic");
  const auto take = [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t number = first; number <= last; ++number) {
      MessageInfo info;
      const auto sample = looking->take(&info);
      ASSERT_TRUE(sample);
      EXPECT_EQ(sample->number, number);
      EXPECT_TRUE(is_whole(*sample));
      EXPECT_EQ(info.missed, number == first ? 2U : 0U);
    }
    EXPECT_EQ(looking->take(), nullptr);
  };
  for (std::uint64_t number = 1; number <= 5; ++number) publisher->publish(sample_of(1, number, 100));
  take(3, 5);
  for (std::uint64_t number = 6; number <= 10; ++number) publisher->publish(std::make_unique<Sample>(sample_of(1, number, 100)));
  take(8, 10);
  publisher->publish(std::make_unique<Sample>(sample_of(1, 11, 100)));
  publisher.reset();
  EXPECT_EQ(looking->take()->number, 11U) << "also when the publisher is gone";
}

TEST_F(Pointer, TheFirstMessageAfterBothAreThereArrives) {
  auto node = Node::create("node");
  for (int i = 0; i < rounds(50); ++i) {
    const std::string topic = "topic" + std::to_string(i);
    if (i % 2 == 0) {
      auto publisher = node->create_publisher<std::uint32_t>(topic);
      auto subscriber = node->create_subscriber<std::uint32_t>("/" + topic);
      publisher->publish(7U);
      ASSERT_TRUE(subscriber->take());
    } else {
      auto subscriber = node->create_subscriber<std::uint32_t>(topic);
      auto publisher = node->create_publisher<std::uint32_t>(topic);
      publisher->publish(7U);
      ASSERT_TRUE(subscriber->take());
    }
  }
}

ROLE(pointer_receiver) {
  std::atomic<std::uint64_t> received{0};
  auto node = Node::create("receiver");
  auto subscriber = node->create_subscriber<Sample>(
      "topic",
      [&](const Sample& sample, const MessageInfo& info) {
        require(is_whole(sample) && sample.number == received + 1 && info.sequence == sample.number, "another message was expected");
        ++received;
      },
      lossless());
  require(eventually([&] { return subscriber->statistics().publishers == 1; }), "no publisher");
  say("ready");
  require(eventually([&] { return received == 40; }), "messages are missing");
  say("all");
  until_finished();
  require(received == 40, "one came twice");
}

TEST_F(Pointer, OnePublishServesThisAndOtherProcessesAndNobodyTwice) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  std::atomic<std::uint64_t> shared{0}, owned{0}, wrong{0};
  auto sharing = node->create_subscriber<Sample>(
      "topic", [&](const Sample& sample) { wrong += !(is_whole(sample) && sample.number == ++shared); }, lossless());
  auto owning = node->create_subscriber<Sample>(
      "topic", [&](std::unique_ptr<Sample> sample) { wrong += !(is_whole(*sample) && sample->number == ++owned); }, lossless());
  Child other("pointer_receiver");
  other.expect("ready");
  await_subscribers(*publisher, 3);
  const std::uint64_t size = sizeof(Sample) + 10'000 + text_for(1).size() + 1;
  std::uint64_t copied = 0;
  for (std::uint64_t number = 1; number <= 40; ++number) {
    const Sample sample = sample_of(1, number, 10'000);
    PublishResult result{};
    switch (number % 4) {
      case 0:
        result = publisher->publish(std::make_unique<Sample>(sample));  // the owner has it, the others the frame
        break;
      case 1:
        result = publisher->publish(std::make_shared<const Sample>(sample));  // one for the owner, one for the other process
        break;
      case 2:
        result = publisher->publish(sample);  // likewise
        break;
      default:
        result = publish_in_place(*publisher, 1, number, 10'000);  // one for the owner
    }
    ASSERT_EQ(result, PublishResult::published);
    const std::uint64_t now = publisher->statistics().bytes_copied;
    EXPECT_EQ((now - copied) / size, number % 4 == 1 || number % 4 == 2 ? 2U : 1U) << number;
    copied = now;
  }
  other.expect("all");
  EXPECT_TRUE(eventually([&] { return shared == 40 && owned == 40; })) << shared << " " << owned;
  other.end();
  EXPECT_EQ(wrong, 0U);
}

TEST_F(Pointer, WhatWasSharedWithAnotherProcessStaysWhenThePublisherIsGone) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(4));
  auto here = node->create_subscriber<Sample>("topic", Qos{}.keep_last(4));
  auto elsewhere = node->create_subscriber<Sample>("topic", Qos{}.keep_last(4), as_from_elsewhere());
  await_subscribers(*publisher, 2);
  std::vector<std::shared_ptr<const Sample>> held;
  for (std::uint64_t number = 1; number <= 4; ++number) {
    publish_in_place(*publisher, 1, number, 100'000);
    if (number % 2 == 0) held.push_back(here->take());
  }
  publisher.reset();
  while (auto sample = here->take()) held.push_back(std::move(sample));
  EXPECT_EQ(held.size(), 4U);
  here.reset();
  elsewhere.reset();
  node.reset();
  for (const auto& sample : held) EXPECT_TRUE(is_whole(*sample));
}

TEST_F(Pointer, MemoryThatWasSharedHereIsUsedAgain) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(2), {.memory_budget = 8 << 20});
  auto here = node->create_subscriber<Sample>("topic", Qos{}.keep_last(2));
  auto elsewhere = node->create_subscriber<Sample>("topic", Qos{}.keep_last(2), as_from_elsewhere());
  await_subscribers(*publisher, 2);
  for (std::uint64_t number = 1; number <= 200; ++number) {
    ASSERT_EQ(publish_in_place(*publisher, 1, number, 500'000), PublishResult::published);
    const auto one = here->take();
    ASSERT_TRUE(one && is_whole(*one));
  }
  EXPECT_EQ(publisher->statistics().bytes_copied, 0U);
}

TEST_F(Pointer, AReliablePublisherWaitsUntilThereIsRoomAndNothingIsLost) {
  auto node = Node::create("node");
  auto patient = node->create_publisher<std::uint32_t>("patient", lossless(), {.max_blocking = 60s});
  std::atomic<std::uint32_t> received{0}, wrong{0};
  auto slow =
      node->create_subscriber<std::uint32_t>("patient", [&](const std::uint32_t& each) { wrong += each != received++; }, lossless());
  for (std::uint32_t each = 0; each < 20'000; ++each) ASSERT_EQ(patient->publish(each), PublishResult::published);
  EXPECT_TRUE(eventually([&] { return received == 20'000; }));
  EXPECT_EQ(wrong, 0U);
}

TEST_F(Pointer, SubscribersMayBeDestroyedInsideTheirCallbacksAndMeanwhile) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  for (int i = 0; i < rounds(100); ++i) {
    std::atomic<bool> gone{false};
    std::mutex mutex;
    std::shared_ptr<Subscriber<Sample>> own;
    std::unique_lock lock(mutex);
    own = node->create_subscriber<Sample>("topic", [&](std::unique_ptr<Sample>) {
      const std::lock_guard wait(mutex);
      own.reset();
      gone = true;
    });
    lock.unlock();
    auto other = node->create_subscriber<Sample>("topic", [](const Sample&) {});
    std::thread publishing([&] {
      for (std::uint64_t number = 1; number <= 20; ++number) publisher->publish(std::make_unique<Sample>(sample_of(1, number, 1000)));
    });
    other.reset();
    publishing.join();
    ASSERT_TRUE(eventually([&] { return gone.load(); }));
    lock.lock();  // the callback has let go of all that is about to end
  }
  EXPECT_EQ(publisher->statistics().subscribers, 0U);
}

TEST_F(Pointer, OneThatWaitsForAMessageGetsItOrNothingAfterTheTime) {
  auto node = Node::create("node"), other = Node::create("other");
  EXPECT_EQ(wait_for_message<Sample>(*node, "nobody/publishes/this", 20ms), nullptr);
  auto publisher = other->create_publisher<Sample>("topic");
  const std::jthread publishing([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      publish_in_place(*publisher, 1, 1, 100);
      std::this_thread::sleep_for(1ms);
    }
  });
  for (int i = 0; i < 10; ++i) {
    const auto sample = wait_for_message<Sample>(*node, "topic", 60s);
    EXPECT_TRUE(sample && is_whole(*sample));
  }
}

TEST_F(Pointer, TheInfoSaysThatItCameByPointer) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  auto subscriber = node->create_subscriber<Sample>("topic");
  const Time before = std::chrono::steady_clock::now();
  publisher->publish(sample_of(1, 1, 10));
  MessageInfo info;
  ASSERT_TRUE(subscriber->take(&info));
  EXPECT_EQ(info.publisher, "node");
  EXPECT_EQ(info.sequence, 1U);
  EXPECT_EQ(info.delivery, Delivery::pointer);
  EXPECT_GE(info.source_time, before);
  EXPECT_GE(info.receive_time, info.source_time);
  const auto publishers = subscriber->publishers();
  ASSERT_EQ(publishers.size(), 1U);
  EXPECT_EQ(publishers[0].delivery, Delivery::pointer);
  EXPECT_EQ(publishers[0].received, 1U);
  const auto subscribers = publisher->subscribers();
  ASSERT_EQ(subscribers.size(), 1U);
  EXPECT_EQ(subscribers[0].node, "node");
  EXPECT_EQ(subscribers[0].received, 1U);
}

/// A message whose deleter does something else on another thread and waits for that, as one that needs a lock that others hold meanwhile. Where the library held a lock, it would never end.
std::shared_ptr<const Sample> deleted_with(std::uint64_t number, const std::function<void()>& elsewhere) {
  return {new Sample(sample_of(1, number, 10)), [elsewhere](const Sample* gone) {
            const auto done = std::make_shared<std::atomic<bool>>(false);
            std::thread thread([elsewhere, done] {
              elsewhere();
              *done = true;
            });
            const bool ended = eventually([&] { return done->load(); });
            EXPECT_TRUE(ended);
            ended ? thread.join() : thread.detach();
            delete gone;
          }};
}

TEST_F(Pointer, WhatIsPushedOutByTheNextMessageIsDeletedWithoutALock) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic"), other = node->create_publisher<Sample>("other");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(1)),
       of_other = node->create_subscriber<Sample>("other", Qos{}.keep_last(1));
  std::atomic<int> answered{0};
  const auto publish_on = [&](Publisher<Sample>& on, std::uint64_t number) {
    answered += on.publish(sample_of(2, number, 10)) == PublishResult::published;
  };
  publisher->publish(deleted_with(1, [&] { publish_on(*publisher, 2); }));
  EXPECT_EQ(publisher->publish(deleted_with(3, [&] { publish_on(*other, 4); })), PublishResult::published);
  other->publish(deleted_with(5, [&] { publish_on(*publisher, 6); }));
  EXPECT_EQ(other->publish(sample_of(2, 7, 10)), PublishResult::published);
  EXPECT_EQ(answered, 3) << "also where the deleter of one topic publishes on the other, and the other way round";
}

TEST_F(Pointer, WhatLeavesTheHistoryIsDeletedWithoutALock) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(1).transient_local());
  std::atomic<int> answered{0};
  publisher->publish(deleted_with(1, [&] { answered += publisher->publish(sample_of(1, 2, 10)) == PublishResult::published; }));
  EXPECT_EQ(publisher->publish(sample_of(1, 3, 10)), PublishResult::published);
  EXPECT_EQ(answered, 1);
}

TEST_F(Pointer, WhatLeavesTheHistoryMayEndThePublisher) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(1).transient_local());
  publisher->publish(std::shared_ptr<const Sample>(new Sample(sample_of(1, 1, 10)), [&](const Sample* gone) {
    publisher.reset();
    delete gone;
  }));
  Publisher<Sample>& publishes = *publisher;
  EXPECT_EQ(publishes.publish(sample_of(1, 2, 10)), PublishResult::published);
  EXPECT_FALSE(publisher);
}

TEST_F(Pointer, WhatWaitsForASubscriberWhoseNodeIsDestroyedIsDeletedWithoutALock) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  auto subscriber = node->create_subscriber<Sample>("topic");
  publisher->publish(deleted_with(1, [subscriber] { subscriber->take(); }));
  node.reset();
  EXPECT_FALSE(subscriber->take());
}

TEST_F(Pointer, WhatADepartedPublisherHasLeftIsDeletedWithoutALock) {
  auto node = Node::create("node"), other = Node::create("other");
  auto subscriber = node->create_subscriber<Sample>("topic");
  const auto deleted = std::make_shared<std::atomic<int>>(0);
  for (int departed = 0; departed < 40; ++departed) {
    auto publisher = node->create_publisher<Sample>("topic");
    publisher->publish(deleted_with(1, [other, deleted] {
      (void)other->create_subscriber<Sample>("another");
      ++*deleted;
    }));
    if (HasFailure()) break;
  }
  EXPECT_GT(*deleted, 0);
  subscriber.reset();
}

}  // namespace
}  // namespace sinew::system
