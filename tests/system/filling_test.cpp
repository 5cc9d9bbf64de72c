// Loans filled in unusual ways: the message that arrives is right in every case, copies are counted, and no memory stays behind.
#include <array>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace workshop {

struct Layers {
  std::vector<std::uint32_t> bottom, middle, top;
  std::string label;
};

}  // namespace workshop

namespace sinew::system {
namespace {

using workshop::Layers;

constexpr std::size_t size = 1000;
const std::string long_text = "a text that is longer than any small string holds";

std::vector<std::uint32_t> filled(std::uint32_t value) {
  return std::vector<std::uint32_t>(size, value);
}

class Filling : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    node_ = Node::create("node");
    publisher_ = node_->create_publisher<Layers>("topic");
    subscriber_ = node_->create_subscriber<Layers>("topic", Qos{}, as_from_elsewhere());
    await_subscribers(*publisher_, 1);
  }
  void TearDown() override {
    subscriber_.reset();
    publisher_.reset();
    node_.reset();
    Domain::TearDown();
  }

  /// Publishes it and returns what arrived; `copied` is how many bytes publish() must have copied.
  std::shared_ptr<const Layers> sent(Publisher<Layers>& publisher, Subscriber<Layers>& subscriber, Loan<Layers> loan,
                                     std::uint64_t copied) {
    const PublisherStatistics before = publisher.statistics();
    EXPECT_EQ(publisher.publish(std::move(loan)), PublishResult::published);
    const PublisherStatistics after = publisher.statistics();
    EXPECT_EQ(after.bytes_copied - before.bytes_copied, copied);
    EXPECT_EQ(after.messages_repaired - before.messages_repaired, copied > 0 ? 1U : 0U);
    EXPECT_EQ(after.why_repaired.empty(), after.messages_repaired == 0);
    auto message = take_soon(subscriber);
    require(message != nullptr, "nothing arrived");
    return message;
  }
  std::shared_ptr<const Layers> sent(Loan<Layers> loan, std::uint64_t copied) {
    return sent(*publisher_, *subscriber_, std::move(loan), copied);
  }
  /// When nobody holds a message any more, the next loan finds all memory free but its own object.
  void expect_nothing_left() {
    std::uint64_t in_use = 0;
    EXPECT_TRUE(eventually([&] {
      auto loan = publisher_->loan();
      in_use = publisher_->statistics().memory_in_use;
      publisher_->publish(std::move(loan));  // small: it makes the publisher look again
      subscriber_->take();
      return in_use < 64 * 1024;
    })) << in_use;
  }

  std::shared_ptr<Node> node_;
  std::shared_ptr<Publisher<Layers>> publisher_;
  std::shared_ptr<Subscriber<Layers>> subscriber_;
};

constexpr std::uint64_t bytes = size * sizeof(std::uint32_t);

TEST_F(Filling, OneLoanFilledByThreeThreadsThatBuildInPlaceIsNotCopied) {
  auto loan = publisher_->loan();
  {
    const std::array<std::vector<std::uint32_t>*, 3> parts = {&(*loan).bottom, &(*loan).middle, &(*loan).top};
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
      threads.emplace_back([&loan, part = parts[i], i] {
        loan.build([&](Layers&) {
          for (std::uint32_t k = 0; k < size; ++k) part->push_back(i);
        });
      });
    }
  }
  const auto message = sent(std::move(loan), 0);
  EXPECT_TRUE(message->bottom == filled(0) && message->middle == filled(1) && message->top == filled(2));
}

TEST_F(Filling, WhatOtherThreadsFillOutsideOfAScopeIsCopiedIn) {
  auto loan = publisher_->loan();
  std::jthread([&message = *loan] { message.middle = filled(5); }).join();
  EXPECT_TRUE(sent(std::move(loan), bytes)->middle == filled(5));
}

TEST_F(Filling, ALoanMayBeFilledAndPublishedOnAnotherThread) {
  auto loan = publisher_->loan();
  std::jthread([this, loan = std::move(loan)]() mutable {
    loan->top.assign(size, 9);
    EXPECT_EQ(publisher_->publish(std::move(loan)), PublishResult::published);
  }).join();
  EXPECT_EQ(publisher_->statistics().bytes_copied, 0U);
  EXPECT_TRUE(take_soon(*subscriber_)->top == filled(9));
}

TEST_F(Filling, TwoLoansFilledInTurnsByOneThreadKeepApart) {
  auto one = publisher_->loan(), two = publisher_->loan();
  for (std::uint32_t k = 0; k < size; ++k) {
    one->bottom.push_back(1);
    two->bottom.push_back(2);
  }
  EXPECT_TRUE(sent(std::move(two), 0)->bottom == filled(2));
  EXPECT_TRUE(sent(std::move(one), 0)->bottom == filled(1));
}

TEST_F(Filling, TwoLoansInOneExpressionArriveRight) {
  auto one = publisher_->loan(), two = publisher_->loan();
  const auto fill_both = [](std::vector<std::uint32_t>& a, std::vector<std::uint32_t>& b) {
    a.assign(size, 1);
    b.assign(size, 2);
  };
  fill_both(one->bottom, two->bottom);
  EXPECT_TRUE(sent(std::move(one), 0)->bottom == filled(1));
  EXPECT_TRUE(sent(std::move(two), 0)->bottom == filled(2));
}

TEST_F(Filling, AnEarlyReturnLeavesTheScope) {
  auto loan = publisher_->loan();
  const bool all = loan.build([](Layers& layers) {
    layers.bottom = filled(1);
    if (layers.bottom.size() == size) return false;
    layers.middle = filled(2);
    return true;
  });
  EXPECT_FALSE(all);
  const std::uint64_t in_use = publisher_->statistics().memory_in_use;
  const auto outside = std::make_unique<std::array<char, 100'000>>();
  EXPECT_EQ(publisher_->statistics().memory_in_use, in_use) << "this thread allocates as usual again";
  EXPECT_TRUE(sent(std::move(loan), 0)->bottom == filled(1));
}

TEST_F(Filling, AnExceptionLeavesTheScopeAndALoanThatIsDroppedOrGoesOn) {
  EXPECT_THROW(
      {
        auto dropped = publisher_->loan();
        dropped.build([](Layers& layers) {
          layers.bottom.assign(100'000, 1);
          throw std::runtime_error("the sensor is gone");
        });
      },
      std::runtime_error);
  auto loan = publisher_->loan();
  EXPECT_THROW(loan.build([](Layers& layers) {
    layers.label = long_text;
    layers.bottom.resize(layers.bottom.max_size() + 1);
  }),
               std::length_error);
  loan->middle.assign(size, 3);
  const auto message = sent(std::move(loan), 0);
  EXPECT_EQ(message->label, long_text);
  EXPECT_TRUE(message->bottom.empty() && message->middle == filled(3));
}

TEST_F(Filling, AVectorMovedInFromOutsideIsCopiedInAndFreedAsItsOwnerWould) {
  auto loan = publisher_->loan();
  std::vector<std::uint32_t> outside = filled(4);
  (*loan).top = std::move(outside);
  EXPECT_TRUE(sent(std::move(loan), bytes)->top == filled(4));
}

TEST_F(Filling, VectorsSwappedBetweenLoansOfOnePublisherStayInPlace) {
  auto one = publisher_->loan(), two = publisher_->loan();
  one->bottom.assign(size, 1);
  two->bottom.assign(size, 2);
  std::swap((*one).bottom, (*two).bottom);
  EXPECT_TRUE(sent(std::move(one), 0)->bottom == filled(2));
  EXPECT_TRUE(sent(std::move(two), 0)->bottom == filled(1));
}

TEST_F(Filling, VectorsSwappedBetweenLoansOfTwoPublishersAreCopiedHome) {
  auto other = node_->create_publisher<Layers>("other");
  auto reader = node_->create_subscriber<Layers>("other", Qos{}, as_from_elsewhere());
  await_subscribers(*other, 1);
  auto one = publisher_->loan(), two = other->loan();
  one->bottom.assign(size, 1);
  two->bottom.assign(size, 2);
  std::swap((*one).bottom, (*two).bottom);
  EXPECT_TRUE(sent(std::move(one), bytes)->bottom == filled(2));
  EXPECT_TRUE(sent(*other, *reader, std::move(two), bytes)->bottom == filled(1));
}

TEST_F(Filling, AStringThatGrowsInsideTheCppLibraryGrowsInPlace) {
  auto loan = publisher_->loan();
  loan.build([](Layers& layers) {
    std::ostringstream stream;
    for (int i = 0; i < 100; ++i) stream << "piece " << i << ' ';
    layers.label = std::move(stream).str();
    layers.label.append(long_text).insert(0, long_text);
  });
  const auto message = sent(std::move(loan), 0);
  EXPECT_TRUE(message->label.starts_with(long_text + "piece 0 ") && message->label.ends_with("piece 99 " + long_text));
}

TEST_F(Filling, HoweverLoansWereFilledNoMemoryStaysBehind) {
  for (int round = 0; round < rounds(200); ++round) {
    auto one = publisher_->loan(), two = publisher_->loan();
    one->bottom.assign(20'000, 1);
    two->middle.assign(20'000, 2);
    (*one).top = filled(3);
    std::swap((*one).bottom, (*two).bottom);
    if (round % 3 == 0) std::swap(one, two);
    if (round % 2 == 0) publisher_->publish(std::move(one));
    std::vector<std::uint32_t> kept = std::move((*two).middle);
    publisher_->publish(std::move(two));
    while (subscriber_->take()) {
    }
  }
  expect_nothing_left();
}

}  // namespace
}  // namespace sinew::system
