// Messages of which a process has no object: it publishes and receives the CDR streams that other processes make objects of, and are made of theirs.
#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "api/raw_publisher.hpp"
#include "api/raw_subscriber.hpp"
#include "msg/cdr/cdr.hpp"
#include "msg/heap_memory.hpp"
#include "tests/system/foreign.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

using detail::RawFrame;
using detail::RawPublisher;
using detail::RawSubscriber;
using Stream = std::vector<std::byte>;

constexpr std::size_t image_size = 1 << 20;

const std::string& signature() {
  static const std::string text = msg::message_of<Sample>().signature;
  return text;
}

Stream stream_of(const Sample& sample) {
  const msg::cdr::Codec codec(*msg::message_of<Sample>().type);
  Stream stream(codec.measure(&sample)->stream);
  codec.write(&sample, stream.data());
  return stream;
}

Stream joined(const RawFrame& frame) {
  Stream stream;
  for (const auto& extent : frame.extents) stream.insert(stream.end(), extent.begin(), extent.end());
  return stream;
}

std::vector<std::span<const std::byte>> as_extents(const Stream& stream) {
  const std::span<const std::byte> all(stream);
  return {all.first(stream.size() / 3), all.subspan(stream.size() / 3, 0), all.subspan(stream.size() / 3)};
}

PublishResult publish(const RawPublisher& publisher, const Stream& stream) {
  return publisher.publish(as_extents(stream));
}

void await(const RawPublisher& publisher, std::uint64_t subscribers) {
  require(eventually([&] { return publisher.core().statistics().subscribers == subscribers; }),
          "the subscribers do not come, or do not go");
}

std::shared_ptr<const RawFrame> take_soon(const RawSubscriber& subscriber) {
  return subscriber.take(std::chrono::minutes(1));
}

template <class Make>
std::string refusal(Make make) {
  try {
    (void)make();
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
  return "none";
}

class Raw : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    node = Node::create("node");
  }
  void TearDown() override {
    node.reset();
    Domain::TearDown();
  }
  std::shared_ptr<Node> node;
};

TEST_F(Raw, WhatIsPublishedAsAnObjectIsReceivedAsItsStreamAndBigArraysWhereTheyLie) {
  auto publisher = node->create_publisher<Sample>("topic");
  auto native = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  const auto raw = RawSubscriber::create(*node, "topic", signature());
  await_subscribers(*publisher, 2);
  publish_in_place(*publisher, 1, 7, image_size);
  const auto object = take_soon(*native);
  const auto frame = take_soon(raw);
  ASSERT_TRUE(object && frame);
  EXPECT_EQ(joined(*frame), stream_of(*object));
  EXPECT_TRUE(std::ranges::any_of(frame->extents, [&](const auto& extent) {
    return extent.data() == reinterpret_cast<const std::byte*>(object->data.data()) && extent.size() == image_size;
  }));
  EXPECT_EQ(frame->info.delivery, Delivery::view);
  EXPECT_EQ(frame->info.publisher, "node");
  EXPECT_EQ(frame->info.sequence, 1U);
  EXPECT_EQ(raw.core().statistics().bytes_copied, 0U);
  EXPECT_EQ(publisher->statistics().bytes_copied, 0U);
}

TEST_F(Raw, WhatIsPublishedAsAStreamIsReceivedAsAnObject) {
  const auto publisher = RawPublisher::create(*node, "topic", signature());
  auto subscriber = node->create_subscriber<Sample>("topic");
  await(publisher, 1);
  for (std::uint64_t number = 1; number <= 50; ++number) {
    const Sample sample = sample_of(1, number, number % 3 == 0 ? 10 : image_size);
    ASSERT_EQ(publish(publisher, stream_of(sample)), PublishResult::published);
    MessageInfo info;
    const auto message = system::take_soon(*subscriber, &info);
    ASSERT_TRUE(message);
    EXPECT_TRUE(is_whole(*message));
    EXPECT_EQ(message->data, sample.data);
    EXPECT_EQ(info.delivery, Delivery::view);
  }
}

TEST_F(Raw, AStreamThatIsWrittenInPlaceIsReadWhereItLiesAlsoWhereItTurnedOutShorter) {
  const auto publisher = RawPublisher::create(*node, "topic", signature());
  const auto subscriber = RawSubscriber::create(*node, "topic", signature());
  await(publisher, 1);
  const Stream stream = stream_of(sample_of(1, 1, image_size));
  auto loan = publisher.loan(stream.size() + 1000);
  ASSERT_TRUE(loan);
  EXPECT_EQ(loan->bytes().size(), stream.size() + 1000);
  std::ranges::copy(stream, loan->bytes().begin());
  const std::byte* const written = loan->bytes().data();
  ASSERT_EQ(publisher.publish(std::move(loan), stream.size()), PublishResult::published);
  const auto frame = take_soon(subscriber);
  ASSERT_TRUE(frame);
  ASSERT_EQ(frame->extents.size(), 1U);
  EXPECT_EQ(frame->extents[0].data(), written);
  EXPECT_EQ(joined(*frame), stream);
  EXPECT_EQ(publisher.core().statistics().bytes_copied, 0U);
  EXPECT_EQ(publisher.core().statistics().bytes, stream.size());
}

TEST_F(Raw, FramesThatAreHeldStayAsTheyAreAndTheirMemoryComesBackWhenTheyAreLetGo) {
  auto publisher = std::make_unique<RawPublisher>(RawPublisher::create(*node, "topic", signature(), Qos{}.keep_last(2)));
  const auto subscriber = RawSubscriber::create(*node, "topic", signature(), {}, Qos{}.keep_last(2));
  await(*publisher, 1);
  const Stream first = stream_of(sample_of(1, 1, image_size));
  publish(*publisher, first);
  auto frame = take_soon(subscriber);
  ASSERT_TRUE(frame);
  EXPECT_EQ(subscriber.core().statistics().held, 1U);
  for (std::uint64_t number = 2; number <= 20; ++number) {
    publish(*publisher, stream_of(sample_of(1, number, image_size)));
    (void)subscriber.take();
  }
  EXPECT_EQ(joined(*frame), first);
  publisher.reset();
  EXPECT_EQ(joined(*frame), first) << "also when the publisher is gone";
  frame.reset();
  EXPECT_EQ(subscriber.core().statistics().held, 0U);
}

TEST_F(Raw, WhatIsBeyondTheQuotaIsCopiedAndHoldsNothing) {
  PublisherOptions options;
  options.memory_budget = 16 << 20;
  const auto publisher = RawPublisher::create(*node, "topic", signature(), Qos{}.keep_last(20), options);
  const auto subscriber = RawSubscriber::create(*node, "topic", signature(), {}, Qos{}.keep_last(20));
  await(publisher, 1);
  std::vector<std::shared_ptr<const RawFrame>> held;
  for (std::uint64_t number = 1; number <= 12; ++number) {
    ASSERT_EQ(publish(publisher, stream_of(sample_of(1, number, image_size))), PublishResult::published);
    held.push_back(take_soon(subscriber));
    ASSERT_TRUE(held.back());
  }
  EXPECT_EQ(held.front()->info.delivery, Delivery::view);
  EXPECT_EQ(held.back()->info.delivery, Delivery::copy);
  for (std::uint64_t number = 1; number <= 12; ++number) {
    EXPECT_EQ(joined(*held[number - 1]), stream_of(sample_of(1, number, image_size)));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held[number - 1]->extents[0].data() + 4) % 16, 0U);
  }
  EXPECT_GT(subscriber.core().statistics().over_quota, 0U);
  EXPECT_GT(subscriber.core().statistics().bytes_copied, image_size);
}

TEST_F(Raw, ACallbackGetsEachMessageToKeep) {
  const auto publisher = RawPublisher::create(*node, "topic", signature(), lossless());
  std::vector<std::shared_ptr<const RawFrame>> received;
  std::atomic<std::size_t> count{0};
  const auto subscriber = RawSubscriber::create(
      *node, "topic", signature(),
      [&](std::shared_ptr<const RawFrame> frame) {
        received.push_back(std::move(frame));
        ++count;
      },
      lossless());
  await(publisher, 1);
  for (std::uint64_t number = 1; number <= 40; ++number) publish(publisher, stream_of(sample_of(1, number, 100 * number)));
  ASSERT_TRUE(eventually([&] { return count == 40; }));
  for (std::uint64_t number = 1; number <= 40; ++number) {
    EXPECT_EQ(joined(*received[number - 1]), stream_of(sample_of(1, number, 100 * number)));
    EXPECT_EQ(received[number - 1]->info.sequence, number);
    EXPECT_EQ(received[number - 1]->info.publisher, "node");
  }
}

TEST_F(Raw, WhoComesLateGetsWhatWasKept) {
  const Qos kept = Qos{}.transient_local().keep_last(3);
  const auto publisher = RawPublisher::create(*node, "topic", signature(), kept);
  for (std::uint64_t number = 1; number <= 5; ++number) {
    ASSERT_EQ(publish(publisher, stream_of(sample_of(1, number, 5000))), PublishResult::published);
  }
  const auto raw = RawSubscriber::create(*node, "topic", signature(), {}, kept);
  auto typed = node->create_subscriber<Sample>("topic", kept);
  for (std::uint64_t number = 3; number <= 5; ++number) {
    const auto frame = take_soon(raw);
    ASSERT_TRUE(frame);
    EXPECT_EQ(joined(*frame), stream_of(sample_of(1, number, 5000)));
    const auto message = system::take_soon(*typed);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->number, number);
    EXPECT_TRUE(is_whole(*message));
  }
}

TEST_F(Raw, AStreamThatIsNotOfTheTypeIsRejectedByWhoDecodesItAndNobodyElse) {
  const auto publisher = RawPublisher::create(*node, "topic", signature());
  auto typed = node->create_subscriber<Sample>("topic");
  const auto raw = RawSubscriber::create(*node, "topic", signature());
  await(publisher, 2);
  const Stream nonsense(100, std::byte{0});
  ASSERT_EQ(publish(publisher, nonsense), PublishResult::published);
  ASSERT_EQ(publish(publisher, stream_of(sample_of(1, 2, 10))), PublishResult::published);
  const auto message = system::take_soon(*typed);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->number, 2U);
  EXPECT_EQ(typed->statistics().rejected, 1U);
  const auto frame = take_soon(raw);
  ASSERT_TRUE(frame);
  EXPECT_EQ(joined(*frame), nonsense);
}

TEST_F(Raw, WhatDoesNotBeginAsAStreamIsNotPublished) {
  const auto publisher = RawPublisher::create(*node, "topic", signature());
  Stream stream = stream_of(sample_of(1, 1, 10));
  EXPECT_EQ(publish(publisher, {}), PublishResult::invalid);
  EXPECT_EQ(publish(publisher, Stream(stream.begin(), stream.begin() + 3)), PublishResult::invalid);
  EXPECT_EQ(publisher.publish(nullptr, 0), PublishResult::invalid);
  EXPECT_EQ(publisher.publish(publisher.loan(10), 11), PublishResult::invalid);
  stream[1] = std::byte{3};
  EXPECT_EQ(publish(publisher, stream), PublishResult::invalid);
  EXPECT_EQ(publisher.core().statistics().refused, 5U);
  EXPECT_EQ(publisher.core().statistics().published, 0U);
  stream[1] = std::byte{0};
  EXPECT_EQ(publish(publisher, stream), PublishResult::published) << "the other byte order";
  EXPECT_LT(publisher.core().statistics().memory_in_use, 1000U);
}

TEST_F(Raw, ThereIsNoLoanWhereThereIsNoMemory) {
  PublisherOptions options;
  options.memory_budget = 1 << 20;
  const auto publisher = RawPublisher::create(*node, "topic", signature(), {}, options);
  EXPECT_FALSE(publisher.loan(2 << 20));
  EXPECT_FALSE(publisher.loan(SIZE_MAX));
  EXPECT_EQ(publish(publisher, stream_of(sample_of(1, 1, 2 << 20))), PublishResult::no_memory);
  EXPECT_EQ(publisher.core().statistics().refused, 3U);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(publisher.loan(500'000)) << "what is not published is given back";
  auto loan = publisher.loan(100);
  node.reset();
  std::ranges::fill(loan->bytes(), std::byte{0});
  EXPECT_EQ(publisher.publish(std::move(loan), 100), PublishResult::closed);
  EXPECT_EQ(publish(publisher, stream_of(sample_of(1, 1, 10))), PublishResult::closed);
}

TEST_F(Raw, ASignatureThatIsNoneAndATypeThatIsAnotherAreRefusedWithTheReason) {
  EXPECT_EQ(refusal([&] { return RawPublisher::create(*node, "topic", "robot/Image{width:uint33;}"); }),
            "invalid_argument: topic 'topic': no message has the type 'robot/Image{width:uint33;}': field 'width' has the unknown type "
            "'uint33'");
  EXPECT_EQ(refusal([&] { return RawSubscriber::create(*node, "topic", "robot/Image{width"); }),
            "invalid_argument: topic 'topic': no message has the type 'robot/Image{width': it is not of the form "
            "'robot/Image{width:uint32;data:uint8[];}'");
  EXPECT_NE(refusal([&] {
              return RawPublisher::create(*node, "topic", std::string(40'000, 'a'));
            }).find("aaa...': it has more than 32768 characters"),
            std::string::npos);
  auto publisher = node->create_publisher<Sample>("topic");
  EXPECT_NE(refusal([&] {
              return RawSubscriber::create(*node, "topic", "robot/Image{width:uint32;}");
            }).find("type_mismatch: topic 'topic' carries"),
            std::string::npos);
  EXPECT_NE(refusal([&] { return RawPublisher::create(*node, "sum@request", signature()); }).find("is not allowed"), std::string::npos);
  SubscriberOptions options;
  options.delivery = Delivery::native;
  EXPECT_NE(refusal([&] { return RawSubscriber::create(*node, "topic", signature(), {}, {}, options); }).find("invalid_argument"),
            std::string::npos);
}

TEST_F(Raw, ANameThatIsTooLongIsRefusedAsThoseOfOtherPublishersAlsoOfWhoLooksOnAtAService) {
  const std::string name(300, 'x');
  const std::string behind = " name '" + name.substr(0, 64) + "...' is not allowed: it has 300 characters. ";
  const std::string of_publisher = refusal([&] { return RawPublisher::create(*node, name, signature()); });
  EXPECT_TRUE(of_publisher.starts_with("invalid_argument: topic" + behind)) << of_publisher;
  const std::string of_subscriber = refusal([&] { return RawSubscriber::create(*node, name, signature()); });
  EXPECT_TRUE(of_subscriber.starts_with("invalid_argument: topic" + behind)) << of_subscriber;
  SubscriberOptions looks_on;
  looks_on.ghost = Ghost::observer;
  const std::string of_observer = refusal([&] { return RawSubscriber::create(*node, name + "@request", signature(), {}, {}, looks_on); });
  EXPECT_TRUE(of_observer.starts_with("invalid_argument: service" + behind)) << of_observer;
}

// --- another user --------------------------------------------------------------------------------------------------------------------

class RawForeign : public Foreign {};

ROLE(raw_stranger) {
  become_stranger();
  auto node = Node::create("stranger");
  const Qos kept = Qos{}.transient_local().keep_last(8);
  const auto raw = RawSubscriber::create(*node, "topic", signature(), {}, kept);
  auto typed = node->create_subscriber<Sample>("topic", kept);
  const auto publisher = RawPublisher::create(*node, "back", signature());
  await(publisher, 1);
  for (std::uint64_t number = 1; number <= 4; ++number) {
    const auto frame = take_soon(raw);
    require(frame != nullptr, "no message");
    require(joined(*frame) == stream_of(sample_of(1, number, 5000)), "another stream");
    require(frame->info.delivery == Delivery::copy, "it was not copied");
    const auto message = system::take_soon(*typed);
    require(message && is_whole(*message) && message->number == number, "another message");
    require(publish(publisher, joined(*frame)) == PublishResult::published, "not published");
    if (number == 3) say("3");
  }
  until_finished();
}

TEST_F(RawForeign, StreamsGoToAnotherUserAndBackAlsoThoseThatWereKept) {
  auto node = Node::create("node");
  const auto publisher = RawPublisher::create(*node, "topic", signature(), Qos{}.transient_local().keep_last(8));
  for (std::uint64_t number = 1; number <= 3; ++number) publish(publisher, stream_of(sample_of(1, number, 5000)));
  const auto raw = RawSubscriber::create(*node, "back", signature());
  Child stranger("raw_stranger");
  stranger.expect("3");
  publish(publisher, stream_of(sample_of(1, 4, 5000)));
  for (std::uint64_t number = 1; number <= 4; ++number) {
    const auto frame = take_soon(raw);
    ASSERT_TRUE(frame);
    EXPECT_EQ(joined(*frame), stream_of(sample_of(1, number, 5000)));
  }
  stranger.end();
}

}  // namespace
}  // namespace sinew::system
