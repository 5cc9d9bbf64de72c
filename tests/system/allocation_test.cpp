// Whatever allocation of the ordinary heap fails on the publishing thread: the message is published or it is not, nothing leaks, and the next one goes. Whatever fails on the thread for sockets: what it is about
// ends, on both sides, or goes on.
#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/raw_publisher.hpp"
#include "api/raw_subscriber.hpp"
#include "base/sanitized.hpp"
#include "base/tests/heap.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

#if !SINEW_SANITIZED

namespace robot {
/// Its end can be noticed on this thread.
struct Noticed {
  std::uint64_t number = 0;
  std::vector<std::uint8_t> data;
  ~Noticed() {
    if (const auto* const notice = std::exchange(at_end, nullptr)) (*notice)();
  }
  inline static thread_local const std::function<void()>* at_end = nullptr;
};
}  // namespace robot

namespace sinew::system {
namespace {

using robot::Noticed;

class Allocations : public Domain {
 protected:
  /// Runs `work` with the first, the second, ... allocation of this thread failing, until there are no more. `after` runs after each.
  static void walk(const std::function<void()>& work, const std::function<void(int)>& after) {
    for (int nth = 0; nth < 10'000; ++nth) {
      fail_allocation(nth);
      work();
      const bool reached = allocation_has_failed();
      fail_no_allocation();
      after(nth);
      if (!reached || ::testing::Test::HasFatalFailure()) return;
    }
    ADD_FAILURE() << "it never ends";
  }
};

TEST_F(Allocations, OneThatFailsWhileALoanIsFilledAndPublishedCostsAtMostThatMessage) {
  auto node = Node::create("node");
  std::shared_ptr<Publisher<Sample>> publisher;
  std::shared_ptr<Subscriber<Sample>> subscriber;
  std::uint64_t number = 0;
  const auto renew = [&] {  // so that the publisher's memory has to grow again
    subscriber.reset();
    publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(4));
    subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(4), as_from_elsewhere());
    await_subscribers(*publisher, 1);
  };
  renew();
  publisher->loan();  // the program's own check, whether loans can be built in place, is made once
  walk(
      [&] {
        for (const std::size_t size : {10U, 300'000U, 10U, 3'000'000U, 10U}) {
          try {
            auto loan = publisher->loan();
            loan->writer = 1;
            loan->number = ++number;
            loan->text.assign("message number ");
            loan->data.assign(size, static_cast<std::uint8_t>(31 + number));
            publisher->publish(std::move(loan));
          } catch (const std::bad_alloc&) {
            // From the user's own statements; publish() says it by its result.
          }
        }
      },
      [&](int nth) {
        ASSERT_EQ(publish_in_place(*publisher, 1, ++number, 5'000'000), PublishResult::published) << nth;
        std::shared_ptr<const Sample> message;
        while (!message || message->number != number) {  // those before it are of no interest, and the last may wait for its chunk
          message = take_soon(*subscriber);
          ASSERT_TRUE(message) << nth;
        }
        EXPECT_TRUE(is_whole(*message)) << nth;
        const PublisherStatistics statistics = publisher->statistics();
        EXPECT_EQ(statistics.published, subscriber->statistics().received + subscriber->statistics().missed) << nth;
        EXPECT_LT(statistics.memory_in_use, 20'000'000U) << nth;
        renew();
      });
}

TEST_F(Allocations, OneThatFailsWhileAnObjectIsPublishedCostsAtMostThatMessage) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(4));
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(4), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  const Sample sample = sample_of(1, 7, 500'000);
  PublishResult result{};
  walk([&] { result = publisher->publish(sample); },
       [&](int nth) {
         EXPECT_TRUE(result == PublishResult::published || result == PublishResult::no_memory) << nth;
         ASSERT_EQ(publisher->publish(sample), PublishResult::published) << nth;
         while (const auto message = subscriber->take()) EXPECT_TRUE(is_whole(*message)) << nth;
         publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(4));
         EXPECT_TRUE(eventually([&] { return publisher->statistics().subscribers == 1; }));
       });
}

// What the failed publish leaves behind ends when the next one, by the deleter of a message here, has its number already.
TEST_F(Allocations, OneThatFailsInAPublishTakesNothingFromTheMessageThatIsPublishedInItsPlace) {
  const auto noticed = [](std::uint64_t number) {
    auto message = std::make_unique<Noticed>();
    message->number = number;
    fill_with_pattern(message->data, number, 100'000);
    return message;
  };
  SubscriberOptions owns;
  owns.buffer = Buffer::owned;
  auto node = Node::create("node");
  const auto a = noticed(1), b = noticed(2), later = noticed(3);
  int replaced = 0;
  std::shared_ptr<Publisher<Noticed>> publisher;
  std::shared_ptr<Subscriber<Noticed>> elsewhere, owner, sharer;
  const auto renew = [&] {
    publisher = node->create_publisher<Noticed>("topic", Qos{}.keep_last(4));
    elsewhere = node->create_subscriber<Noticed>("topic", Qos{}.keep_last(4), as_from_elsewhere());
    owner = node->create_subscriber<Noticed>("topic", Qos{}, owns);
    sharer = node->create_subscriber<Noticed>("topic");
    await_subscribers(*publisher, 3);
  };
  renew();
  PublishResult result{};
  const std::function<void()> publish_another = [&] { EXPECT_EQ(publisher->publish(*b), PublishResult::published); };
  walk(
      [&] {
        Noticed::at_end = &publish_another;
        result = publisher->publish(*a);
        Noticed::at_end = nullptr;
      },
      [&](int nth) {
        const auto held = sharer->take();
        const bool is_instead = result == PublishResult::no_memory && held;
        if (is_instead) {
          ++replaced;
          // The one that the shortage may have ended is replaced, and memory is used again.
          const auto reader = node->create_subscriber<Noticed>("topic", Qos{}.keep_last(4), as_from_elsewhere());
          EXPECT_TRUE(eventually([&] {
            publisher->publish(*later);
            return publisher->statistics().memory_in_use > 500'000;
          })) << nth;
          for (int i = 0; i < 100; ++i) publisher->publish(*later);
          EXPECT_TRUE(held->number == 2 && has_pattern(held->data, 2)) << nth;
        }
        renew();
      });
  EXPECT_GT(replaced, 0);
}

/// A publisher of streams, new each time, and a subscriber that takes them.
struct RawEnds {
  explicit RawEnds(const Node& of_node) : node(of_node) { renew(); }
  void renew() {
    subscriber.reset();
    publisher = detail::RawPublisher::create(node, "topic", signature, Qos{}.keep_last(4));
    subscriber = detail::RawSubscriber::create(node, "topic", signature, {}, Qos{}.keep_last(4));
    require(eventually([&] { return publisher->core().statistics().subscribers == 1; }), "no subscriber");
  }
  PublishResult publish() const {
    const std::array<std::span<const std::byte>, 2> extents{small, large};
    return publisher->publish(extents);
  }
  std::uint64_t published() const { return publisher->core().statistics().published; }
  /// Publishes, and takes until that comes.
  void expect_to_go_on(int nth) const {
    ASSERT_EQ(publish(), PublishResult::published) << nth;
    std::shared_ptr<const detail::RawFrame> frame;
    while (!frame || frame->info.sequence != published()) {
      ASSERT_TRUE(eventually([&] { return (frame = subscriber->take()) != nullptr; })) << nth;
    }
    EXPECT_EQ(frame->extents.at(0).size(), small.size() + large.size()) << nth;
    frame.reset();
    EXPECT_EQ(subscriber->core().statistics().held, 0U) << nth;
  }

  const Node& node;
  const std::string signature = msg::message_of<Sample>().signature;
  const std::vector<std::byte> small = std::vector<std::byte>(100), large = std::vector<std::byte>(3'000'000);
  std::optional<detail::RawPublisher> publisher;
  std::optional<detail::RawSubscriber> subscriber;
};

TEST_F(Allocations, OneThatFailsWhileAStreamIsPublishedCostsAtMostThatMessage) {
  auto node = Node::create("node");
  RawEnds ends(*node);
  PublishResult result{};
  walk([&] { result = ends.publish(); },
       [&](int nth) {
         EXPECT_TRUE(result == PublishResult::published || result == PublishResult::no_memory) << nth;
         ends.expect_to_go_on(nth);
         const SubscriberStatistics taken = ends.subscriber->core().statistics();
         EXPECT_EQ(ends.published(), taken.received + taken.missed) << nth;
         ends.renew();  // so that its memory has to grow again
       });
}

TEST_F(Allocations, OneThatFailsWhileAStreamIsTakenCostsAtMostThatMessage) {
  auto node = Node::create("node");
  RawEnds ends(*node);
  ends.expect_to_go_on(-1);  // its memory is mapped here
  std::uint64_t thrown = 0;
  bool has_come = false;
  for (int nth = 0; !has_come; ++nth) {
    ASSERT_LT(nth, 100);
    ASSERT_EQ(ends.publish(), PublishResult::published);
    fail_allocation(nth);
    try {
      has_come = ends.subscriber->take() != nullptr;
    } catch (const std::bad_alloc&) {
      ++thrown;
    }
    has_come = has_come && !allocation_has_failed();
    fail_no_allocation();
    const SubscriberStatistics taken = ends.subscriber->core().statistics();
    EXPECT_EQ(ends.published(), taken.received + taken.missed + taken.rejected + thrown) << nth;
    EXPECT_EQ(taken.held, 0U) << nth;
  }
  EXPECT_GT(thrown, 0U);
  ends.expect_to_go_on(-1);
}

TEST_F(Allocations, APublisherWithAHistoryMakesNoneForAMessageThatIsGiven) {
  auto node = Node::create("node");
  for (const bool is_read_here : {false, true}) {
    auto publisher = node->create_publisher<Sample>("topic", Qos{}.transient_local().keep_last(4));
    auto subscriber = is_read_here ? node->create_subscriber<Sample>("topic", Qos{}.keep_last(4)) : nullptr;
    std::vector<std::shared_ptr<const Sample>> samples;
    for (std::uint64_t number = 1; number <= 30; ++number) samples.push_back(std::make_shared<const Sample>(sample_of(1, number, 1000)));
    std::uint64_t before = 0;
    for (const auto& sample : samples) {
      if (sample->number == 10) before = allocations();  // until then lists may grow
      ASSERT_EQ(publisher->publish(sample), PublishResult::published);
    }
    EXPECT_EQ(allocations(), before) << is_read_here;
  }
}

TEST_F(Allocations, APublisherWithAHistoryMakesNoneForALoanThatIsReadElsewhere) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.transient_local().keep_last(4));
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(4), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  std::uint64_t made = 0;
  for (std::uint64_t number = 1; number <= 30; ++number) {
    auto loan = publisher->loan();
    loan.build([&](Sample& sample) { fill(sample, 1, number, 1000); });
    const std::uint64_t before = allocations();
    ASSERT_EQ(publisher->publish(std::move(loan)), PublishResult::published);
    if (number > 10) made += allocations() - before;
  }
  EXPECT_EQ(made, 0U);
}

TEST_F(Allocations, OneThatFailsWhileAMessageIsReceivedForACallbackCostsAtMostThatMessage) {
  for (const Delivery delivery : {Delivery::native, Delivery::view, Delivery::copy}) {
    auto node = Node::create("node");
    auto publisher = node->create_publisher<Sample>("topic");
    SubscriberOptions options;
    options.delivery = delivery;
    std::atomic<int> next{0};
    auto subscriber = node->create_subscriber<Sample>(
        "topic", [&](std::shared_ptr<const Sample> sample) { sample->number % 2 == 1 ? fail_allocation(next++) : fail_no_allocation(); },
        Qos{}, options);
    await_subscribers(*publisher, 1);
    for (std::uint64_t number = 1; number <= 40; ++number) {
      ASSERT_EQ(publish_in_place(*publisher, 1, number, 10'000), PublishResult::published);
      ASSERT_TRUE(eventually([&] { return subscriber->statistics().received + subscriber->statistics().rejected == number; })) << number;
    }
    EXPECT_GT(subscriber->statistics().rejected, 0U);
    EXPECT_GT(subscriber->statistics().received, 20U);
  }
}

TEST_F(Allocations, OneThatFailsWhileAnInterfaceIsMadeLeavesNothingOfIt) {
  auto node = Node::create("node");
  const auto expect_free = [&](int nth) { EXPECT_NO_THROW((void)node->create_publisher<std::uint64_t>("topic")) << nth; };  // another type
  const auto attempt = [](const auto& make) {
    try {
      make();
    } catch (const std::bad_alloc&) {
      // It says so.
    } catch (const Error&) {
      // Or so.
    }
  };
  walk([&] { attempt([&] { (void)node->create_publisher<Sample>("topic"); }); }, expect_free);
  walk([&] { attempt([&] { (void)node->create_subscriber<Sample>("topic", [](const Sample&) {}, Qos{}, as_from_elsewhere()); }); },
       expect_free);
}

TEST_F(Allocations, ThoseThatFailOnTheThreadForSocketsWhileAChunkIsToldEndTheConnectionOnBothSidesOrNotAtAll) {
  auto node = Node::create("node");
  for (int nth = 0; nth < 10'000; ++nth) {
    auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(4));
    auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(4), as_from_elsewhere());
    await_subscribers(*publisher, 1);
    fail_allocations_of_other_threads(nth, std::numeric_limits<int>::max());
    EXPECT_EQ(publish_in_place(*publisher, 1, 1, 3'000'000), PublishResult::published) << nth;
    std::shared_ptr<const Sample> message;
    // While there is no memory yet.
    EXPECT_TRUE(eventually([&] { return (message = subscriber->take()) || subscriber->statistics().publishers == 0; })) << nth;
    const bool reached = allocation_of_other_threads_has_failed();
    fail_no_allocation();
    EXPECT_TRUE(!message || is_whole(*message)) << nth;
    EXPECT_TRUE(eventually([&] { return publisher->statistics().subscribers == subscriber->statistics().publishers; })) << nth;
    if (!reached || HasFailure()) return;
  }
  ADD_FAILURE() << "it never ends";
}

TEST_F(Allocations, OneThatFailsWhileAChunkIsUnmappedIsToldOfLater) {
  auto node = Node::create("subscriber");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  for (int nth = 0; nth < 10'000; ++nth) {
    Stranger stranger("stranger" + std::to_string(nth));
    HandPublisher publisher(stranger.meet_subscriber<Sample>("topic"), stranger.window);
    ASSERT_TRUE(publisher.take_attach());
    publisher.send_ring();
    publisher.send_chunk(1);
    publisher.pair.expect<wire::ChunkMapped>();
    fail_allocations_of_other_threads(nth, 1);
    publisher.pair.send(wire::ChunkWithdrawn{1});
    publisher.send_chunk(2);  // at the same addresses, which are free only when the first is unmapped
    bool unmapped = false, mapped = false, ended = false;
    while (!ended && !(unmapped && mapped)) {
      const auto answer = publisher.pair.receive();
      ended = !answer || std::holds_alternative<wire::ErrorText>(*answer);
      unmapped = unmapped || (answer && std::holds_alternative<wire::ChunkUnmapped>(*answer));
      mapped = mapped || (answer && std::holds_alternative<wire::ChunkMapped>(*answer));
    }
    const bool reached = allocation_of_other_threads_has_failed();
    fail_no_allocation();
    if (!reached || HasFailure()) return;
  }
  ADD_FAILURE() << "it never ends";
}

TEST_F(Allocations, OneThatFailsOnTheThreadForSocketsWhileInterfacesAreMadeLeavesNothingHalfMade) {
  auto node = Node::create("node");
  for (int nth = 0; nth < 10'000; ++nth) {
    fail_allocations_of_other_threads(nth, 1);
    const auto attempt = [&](const auto& make) {
      try {
        make();
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::unavailable) << error.what() << " at " << nth;  // as of a manager that does not answer
      }
    };
    attempt([&] {
      auto publisher = node->create_publisher<Sample>("topic");
      auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
    });
    const bool reached = allocation_of_other_threads_has_failed();
    fail_no_allocation();
    auto publisher = node->create_publisher<std::uint64_t>("topic");  // another type
    auto subscriber = node->create_subscriber<std::uint64_t>("topic", Qos{}, as_from_elsewhere());
    await_subscribers(*publisher, 1);
    if (!reached || HasFailure()) return;
  }
  ADD_FAILURE() << "it never ends";
}

TEST_F(Allocations, OneThatFailsOnTheThreadForSocketsWhileTheStateIsToldCostsAtMostThatLook) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("a/topic/whose/name/is/not/short");
  for (int nth = 0; nth < 10'000; ++nth) {
    fail_allocations_of_other_threads(nth, 1);
    try {
      EXPECT_EQ(node->domain_state().topics.size(), 1U) << nth;
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::unavailable) << error.what() << " at " << nth;
    }
    const bool reached = allocation_of_other_threads_has_failed();
    fail_no_allocation();
    EXPECT_EQ(node->domain_state().topics.size(), 1U) << nth;
    if (!reached || HasFailure()) return;
  }
  ADD_FAILURE() << "it never ends";
}

TEST_F(Allocations, WhatTheManagerCannotBeToldOfForWantOfThemIsToldByTheEndOfTheSession) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  auto stays = node->create_publisher<Sample>("another");
  fail_all_allocations();
  publisher.reset();
  fail_no_allocation();
  EXPECT_NO_THROW((void)node->create_publisher<std::uint64_t>("topic"));  // another type
  auto reader = node->create_subscriber<Sample>("another", Qos{}, as_from_elsewhere());
  await_subscribers(*stays, 1);
}

ROLE(publisher_without_memory_at_its_end) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  fail_all_allocations();
  publisher.reset();
  fail_no_allocation();
}

TEST_F(Allocations, ThoseThatTheManagerCannotBeToldForAreLoggedOnceAndNotAtEachAttempt) {
  Child child("publisher_without_memory_at_its_end");
  child.end();
  const std::string errors = child.errors();
  const auto said = errors.find("node: no memory for what its manager is to be told");
  ASSERT_NE(said, errors.npos) << errors;
  EXPECT_EQ(errors.find("node: no memory", errors.find('\n', said)), errors.npos) << errors;
  EXPECT_EQ(errors.find("std::bad_alloc"), errors.npos) << errors;
}

TEST_F(Allocations, AllThatFailWhileASubscriberOfTheSameProcessIsDestroyedEndNothingElse) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  auto stays = node->create_subscriber<Sample>("topic", lossless());
  auto goes = node->create_subscriber<Sample>("topic", lossless());
  await_subscribers(*publisher, 2);
  EXPECT_EQ(publisher->publish(sample_of(1, 1, 10)), PublishResult::published);
  fail_all_allocations();
  goes.reset();
  fail_no_allocation();
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 2; number <= 2 * 1024; ++number) {  // more than one that is gone would have let it
    ASSERT_EQ(publisher->publish(sample_of(1, number, 10)), PublishResult::published);
    ASSERT_TRUE(take_soon(*stays));
  }
}

TEST_F(Allocations, AllThatFailFromSomeOneOnWhileTheDomainsStateIsAskedForCostAtMostThisAnswer) {
  auto node = Node::create("node");
  for (int nth = 0; nth < 10'000; ++nth) {
    fail_allocations_from(nth);
    try {
      node->domain_state();
    } catch (const std::bad_alloc&) {
      // It says so.
    } catch (const Error&) {
      // Or so.
    }
    const bool reached = allocation_has_failed();
    fail_no_allocation();
    if (!reached) break;
  }
  EXPECT_EQ(node->domain_state().nodes.size(), 1U);
}

TEST_F(Allocations, AMessageThatTheBudgetHasNoRoomForIsRefusedAlsoWithoutMemoryForTheWordsThatSaySo) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}, {.memory_budget = 1 << 20});
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  const Sample large = sample_of(1, 1, 4 << 20);
  fail_all_allocations();
  const PublishResult result = publisher->publish(large);
  fail_no_allocation();
  EXPECT_EQ(result, PublishResult::no_memory);
  EXPECT_EQ(publisher->statistics().refused, 1U);
}

TEST_F(Allocations, OneThatFailsWhileAPublisherIsDestroyedEndsNothingElse) {
  auto node = Node::create("node");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}.keep_last(100), as_from_elsewhere());
  std::shared_ptr<Publisher<Sample>> publisher;
  std::shared_ptr<const Sample> held;
  const auto renew = [&](int) {
    while (const auto message = subscriber->take()) EXPECT_TRUE(is_whole(*message));
    publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(100));
    await_subscribers(*publisher, 1);
    for (std::uint64_t number = 1; number <= 50; ++number) publish_in_place(*publisher, 1, number, 1000);
    held = take_soon(*subscriber);
  };
  renew(0);
  walk([&] { publisher.reset(); }, renew);
}

}  // namespace
}  // namespace sinew::system

#endif
