// The contract of delivery: what holds whichever way a message goes. A test for each policy, on every path.
#include <algorithm>
#include <thread>

#include "tests/system/paths.hpp"

namespace sinew::system {
namespace {

ROLE(path_reader) {
  const Path& path = path_named(arguments.at(0));
  if (path.where == Where::other_user) become_stranger();
  Taker taker(path, arguments.at(1), arguments.at(2));
  say("ready");
  for (std::string order; (order = next_order()) != "end";) say(taker.answer(order));
}

class Contract : public Paths {
 protected:
  std::shared_ptr<Node> node_ = nullptr;
  std::shared_ptr<Publisher<Sample>> create(const Qos& qos = {}, const PublisherOptions& options = {}) {
    if (!node_) node_ = Node::create("writer");
    return node_->create_publisher<Sample>("topic", qos, options);
  }
  /// Nothing of this process waits for another user, and an export has 8 frames.
  bool is_stranger() const { return GetParam().where == Where::other_user; }
};

TEST_P(Contract, MessagesOfOnePublisherArriveWholeInTheirOrderOnceEach) {
  const auto publisher = create();
  Reader reader(GetParam(), "last=100");
  reader.ask("hear 1");
  std::uint64_t last = 0;
  for (int round = 0; round < 40; ++round, last += 5) {
    publish_numbers(*publisher, last + 1, last + 5);
    ASSERT_EQ(reader.ask("take 5"), numbers(last + 1, last + 5));
  }
  EXPECT_EQ(reader.ask("rest"), "");
  EXPECT_EQ(reader.ask("missed"), "0");
}

TEST_P(Contract, HistoryKeepLast_TheNewestWaitAndTheOthersAreCountedAsMissed) {
  const auto publisher = create();
  Reader reader(GetParam(), "last=5");
  reader.ask("hear 1");
  publish_numbers(*publisher, 1, 12);
  EXPECT_EQ(reader.ask("take 5"), numbers(8, 12));
  EXPECT_EQ(reader.ask("rest"), "");
  EXPECT_EQ(reader.ask("missed"), "7");
}

TEST_P(Contract, HistoryKeepLast_TheDepthCountsForEachPublisher) {
  const auto one = create(), other = create();
  Reader reader(GetParam(), "last=3");
  reader.ask("hear 2");
  publish_numbers(*one, 1, 6, 1);
  publish_numbers(*other, 1, 6, 2);
  std::istringstream got(reader.ask("take 6"));
  std::string of_one, of_other;
  for (std::string each; got >> each;) (each[0] == '1' ? of_one : of_other) += each.substr(2) + " ";
  EXPECT_EQ(of_one, "4 5 6 ");
  EXPECT_EQ(of_other, "4 5 6 ");
  EXPECT_EQ(reader.ask("missed"), "6");
}

TEST_P(Contract, HistoryKeepAll_OfABestEffortPairTheRingsLengthIsTheDepth) {
  const auto publisher = create();
  Reader reader(GetParam(), "all");
  reader.ask("hear 1");
  publish_numbers(*publisher, 1, 1500);
  if (is_stranger()) {
    EXPECT_EQ(reader.ask("take 8"), numbers(1493, 1500));
    EXPECT_EQ(reader.ask("missed"), "1492");
  } else {
    EXPECT_EQ(reader.ask("take 1024"), numbers(477, 1500));
    EXPECT_EQ(reader.ask("missed"), "476");
  }
}

TEST_P(Contract, ReliabilityWithKeepAll_NothingIsLostAndThePublisherWaits) {
  PublisherOptions options;
  options.max_blocking = std::chrono::minutes(1);
  const auto publisher = create(lossless(), options);
  Reader reader(GetParam(), "reliable all");
  reader.ask("hear 1");
  constexpr std::uint64_t count = 3000;
  std::thread writer([&] { publish_numbers(*publisher, 1, count); });
  if (is_stranger()) {  // who is never waited for
    writer.join();
    EXPECT_EQ(reader.ask("take 8"), numbers(count - 7, count));
    EXPECT_EQ(reader.ask("missed"), std::to_string(count - 8));
    return;
  }
  for (std::uint64_t number = 1; number <= count; number += 100) {
    EXPECT_EQ(reader.ask("take 100"), numbers(number, number + 99));
  }
  writer.join();
  EXPECT_EQ(reader.ask("missed"), "0");
}

TEST_P(Contract, ReliabilityWithKeepAll_APublisherThatMustNotWaitIsToldThatItWouldBlock) {
  PublisherOptions options;
  options.max_blocking = {};
  const auto publisher = create(lossless(), options);
  Reader reader(GetParam(), "reliable all");
  reader.ask("hear 1");
  publish_numbers(*publisher, 1, 1024);
  EXPECT_EQ(publisher->publish(sample_of(1, 1025, 10)), is_stranger() ? PublishResult::published : PublishResult::would_block);
  EXPECT_EQ(publisher->statistics().refused, is_stranger() ? 0U : 1U);
  if (is_stranger()) return;
  EXPECT_EQ(reader.ask("take 1024"), numbers(1, 1024));
  publish_numbers(*publisher, 1025, 1025);
  EXPECT_EQ(reader.ask("take 1"), "1:1025");
  EXPECT_EQ(reader.ask("missed"), "0");
}

TEST_P(Contract, ReliabilityBestEffort_ASubscriberThatDoesNotTakeHoldsNobodyBack) {
  const auto publisher = create(lossless());
  Reader reader(GetParam(), "last=8"), other(GetParam(), "reliable all", "other");
  reader.ask("hear 1");
  other.ask("hear 1");
  for (std::uint64_t number = 1; number <= 2000; number += 4) {
    publish_numbers(*publisher, number, number + 3);
    ASSERT_EQ(other.ask("take 4"), numbers(number, number + 3));
  }
  EXPECT_EQ(reader.ask("take 8"), numbers(1993, 2000));
  EXPECT_EQ(reader.ask("missed"), "1992");
}

TEST_P(Contract, WhatFitsIsConnected) {
  const auto publisher = create(
      Qos{lossless()}.transient_local().deadline(std::chrono::hours(1)).liveliness(Liveliness::manual_by_topic, std::chrono::hours(1)));
  Reader reader(GetParam(), "reliable all kept deadline=3600000 lease=3600000 manual_by_topic");
  reader.ask("hear 1");
  publish_numbers(*publisher, 1, 4);
  EXPECT_EQ(reader.ask("take 4"), numbers(1, 4));
  EXPECT_EQ(reader.ask("incompatible"), "0");
  EXPECT_EQ(reader.ask("deadlines"), "0");
  EXPECT_EQ(reader.ask("alive"), "1");
}

TEST_P(Contract, EveryNthMessageIsTakenAndTheOthersAreSkippedNotMissed) {
  const auto publisher = create();
  Reader reader(GetParam(), "last=8 every=3");
  reader.ask("hear 1");
  std::string got;
  for (std::uint64_t number = 1; number <= 30; number += 3) {
    publish_numbers(*publisher, number, number + 2);
    got += (got.empty() ? "" : " ") + reader.ask("take 1");
  }
  EXPECT_EQ(got, numbers(1, 28, 3));
  EXPECT_EQ(reader.ask("rest"), "");
  EXPECT_EQ(reader.ask("skipped"), "20");
  EXPECT_EQ(reader.ask("missed"), "0");
  if (is_stranger()) return;
  // Of those that it wants it keeps as many as it is deep, and misses the others.
  publish_numbers(*publisher, 31, 60);
  EXPECT_EQ(reader.ask("take 8"), numbers(37, 58, 3));
  EXPECT_EQ(reader.ask("rest"), "");
  EXPECT_EQ(reader.ask("skipped"), "40");
  EXPECT_EQ(reader.ask("missed"), "2");
}

TEST_P(Contract, MessagesBeyondAMaximumRateAreSkippedNotMissed) {
  const auto publisher = create();
  Reader reader(GetParam(), "last=8 rate=0.001");
  reader.ask("hear 1");
  publish_numbers(*publisher, 1, 6);
  EXPECT_EQ(reader.ask("take 1"), "1:1");
  EXPECT_TRUE(eventually([&] { return reader.ask("rest").empty() && reader.ask("skipped") == "5"; }));
  EXPECT_EQ(reader.ask("missed"), "0");
}

TEST_P(Contract, WhatWaitsCanBeTakenWhenThePublisherIsGone) {
  auto publisher = create();
  Reader reader(GetParam(), "last=8");
  reader.ask("hear 1");
  publish_numbers(*publisher, 1, 6);
  publisher.reset();
  reader.ask("hear 0");
  if (is_stranger()) {  // whom nobody waits for to map the newest chunks
    const std::string got = reader.ask("rest");
    EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(got, ':')) + std::stoull(reader.ask("missed")), 6U) << got;
  } else {
    EXPECT_EQ(reader.ask("take 6"), numbers(1, 6));
    EXPECT_EQ(reader.ask("missed"), "0");
  }
}

TEST_P(Contract, ASubscriberThatComesAgainGetsWhatIsPublishedFromThenOn) {
  const auto publisher = create();
  for (std::uint64_t number = 1; number <= 3; ++number) {
    Reader reader(GetParam(), "last=8");
    reader.ask("hear 1");
    publish_numbers(*publisher, number, number);
    EXPECT_EQ(reader.ask("take 1"), numbers(number, number));
  }
  EXPECT_TRUE(eventually([&] { return publisher->statistics().subscribers == 0; }));
}

SINEW_ON_ALL_PATHS(Contract);

}  // namespace
}  // namespace sinew::system
