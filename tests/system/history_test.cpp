// Durability: what a subscriber gets of the messages that were published before it came. On every path.
#include <atomic>
#include <thread>
#include <utility>

#include "base/point.hpp"
#include "tests/system/paths.hpp"

namespace sinew::system {
namespace {

class History : public Paths {
 protected:
  std::shared_ptr<Node> node_ = nullptr;
  std::shared_ptr<Publisher<Sample>> create(const Qos& qos, const PublisherOptions& options = {}) {
    if (!node_) node_ = Node::create("writer");
    return node_->create_publisher<Sample>("topic", qos, options);
  }
};

TEST_P(History, ALateTransientLocalSubscriberGetsWhatThePublisherKeepsThenWhatComes) {
  const auto publisher = create(Qos{}.transient_local().keep_last(5));
  publish_numbers(*publisher, 1, 12);
  Reader late(GetParam(), "kept");
  EXPECT_EQ(late.ask("take 5"), "1:8 1:9 1:10 1:11 1:12");
  publish_numbers(*publisher, 13, 15);
  EXPECT_EQ(late.ask("take 3"), "1:13 1:14 1:15");
  EXPECT_EQ(late.ask("rest"), "");
  EXPECT_EQ(late.ask("missed"), "0");
}

TEST_P(History, ItGetsNoMoreThanItsOwnDepth) {
  const auto publisher = create(Qos{}.transient_local().keep_last(8));
  publish_numbers(*publisher, 1, 12);
  Reader late(GetParam(), "kept last=3");
  EXPECT_EQ(late.ask("take 3"), "1:10 1:11 1:12");
  EXPECT_EQ(late.ask("missed"), "0");
}

TEST_P(History, AVolatileSubscriberGetsNothingFromBefore) {
  const auto publisher = create(Qos{}.transient_local().keep_last(8));
  publish_numbers(*publisher, 1, 12);
  Reader late(GetParam(), "last=8");
  late.ask("hear 1");
  publish_numbers(*publisher, 13, 13);
  EXPECT_EQ(late.ask("take 1"), "1:13");
}

TEST_P(History, WhatWentByPointerAndWhatWentToOtherProcessesComeInTheirOrder) {
  const auto publisher = create(Qos{}.transient_local().keep_last(12));
  Reader here(paths[0], "last=100", "here");
  publish_numbers(*publisher, 1, 4);
  {
    Reader elsewhere(paths[1], "last=100", "elsewhere");
    elsewhere.ask("hear 1");
    publish_numbers(*publisher, 5, 8);
    EXPECT_EQ(elsewhere.ask("take 4"), "1:5 1:6 1:7 1:8");
  }
  await_subscribers(*publisher, 1);
  publish_numbers(*publisher, 9, 12);
  const bool another_user = GetParam().where == Where::other_user;  // for whom the newest 8 are copied
  for (const std::string buffer : {"", " owned", " value"}) {
    Reader late(GetParam(), "kept last=20" + buffer, "late");
    if (!another_user) {
      EXPECT_EQ(late.ask("take 4"), "1:1 1:2 1:3 1:4") << buffer;
    }
    EXPECT_EQ(late.ask("take 8"), "1:5 1:6 1:7 1:8 1:9 1:10 1:11 1:12") << buffer;
    EXPECT_EQ(late.ask("rest"), "");
    EXPECT_EQ(late.ask("missed"), "0");
  }
  EXPECT_EQ(here.ask("take 12"), "1:1 1:2 1:3 1:4 1:5 1:6 1:7 1:8 1:9 1:10 1:11 1:12");
}

TEST_P(History, SeveralPublishersComeInTheOrderOfPublicationUntilItHasCaughtUp) {
  const auto first = create(Qos{}.transient_local().keep_last(8));
  const auto other_node = Node::create("other");
  const auto second = other_node->create_publisher<Sample>("topic", Qos{}.transient_local().keep_last(8));
  const auto third = other_node->create_publisher<Sample>("topic", Qos{}.transient_local().keep_last(8));
  std::string expected;
  for (std::uint64_t number = 1; number <= 6; ++number) {
    publish_numbers(*third, number, number, 3);
    publish_numbers(*first, number, number, 1);
    publish_numbers(*second, number, number, 2);
    const std::string text = std::to_string(number);
    expected += (number == 1 ? "3:" : " 3:") + text + " 1:" + text + " 2:" + text;
  }
  // It waits half a second for them, which may not be enough on a loaded machine: then it is tried again.
  for (int attempt = 1;; ++attempt) {
    const auto begin = std::chrono::steady_clock::now();
    Reader late(GetParam(), "kept");
    const std::string got = late.ask("take 18");
    if (got != expected && attempt < 20 && std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(400)) continue;
    EXPECT_EQ(got, expected);
    EXPECT_EQ(late.ask("missed"), "0");
    return;
  }
}

TEST_P(History, WhoComesWhileMessagesArePublishedHasNoGapAndNothingTwice) {
  PublisherOptions options;
  options.max_blocking = std::chrono::minutes(1);  // a reader that has taken what it wants is waited for until it is gone
  const auto publisher = create(Qos{}.transient_local().keep_all().reliable(), options);
  std::atomic<bool> go_on{true};
  std::uint64_t last = 0;
  std::thread writer([&] {
    while (go_on) {
      ++last;
      publish_numbers(*publisher, last, last);
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
  });
  // An export has 8 frames, and nobody is held back for its readers.
  const bool may_lose = GetParam().where == Where::other_user;
  for (int round = 0; round < rounds(10); ++round) {
    Reader late(GetParam(), "kept all reliable", "late");
    std::istringstream got(late.ask("take 50"));
    std::uint64_t expected = 0;
    for (std::string each; got >> each;) {
      const std::uint64_t number = std::stoull(each.substr(2));
      if (expected != 0 && !may_lose) {
        EXPECT_EQ(number, expected);
      }
      EXPECT_GE(number, expected);
      expected = number + 1;
    }
    if (!may_lose) {
      EXPECT_EQ(late.ask("missed"), "0");
    }
  }
  go_on = false;
  writer.join();
}

TEST_P(History, AHistoryTakesNoMoreMemoryThanItsDepth) {
  const auto publisher = create(Qos{}.transient_local().keep_last(4));
  Reader reader(GetParam(), "kept");
  reader.ask("hear 1");
  publish_numbers(*publisher, 1, 40);
  const std::uint64_t before = publisher->statistics().memory_in_use;
  publish_numbers(*publisher, 41, 400);
  EXPECT_LE(publisher->statistics().memory_in_use, before + 40 * 4096);
  EXPECT_EQ(Reader(GetParam(), "kept", "late").ask("take 4"), "1:397 1:398 1:399 1:400");
}

TEST_P(History, MessagesThatAreOlderThanTheirLifespanAreNotDeliveredAndCounted) {
  const auto publisher = create(Qos{}.transient_local().lifespan(std::chrono::milliseconds(1)));
  Reader reader(GetParam(), "last=8");
  reader.ask("hear 1");
  publish_numbers(*publisher, 1, 4);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  Reader late(GetParam(), "kept", "late");
  for (Reader* each : {&reader, &late}) {
    EXPECT_TRUE(eventually([&] {
      EXPECT_EQ(each->ask("rest"), "");
      return each->ask("expired") == "4";
    }));
    EXPECT_EQ(each->ask("missed"), "0");
  }
}

TEST_P(History, MessagesWithinTheirLifespanAreDelivered) {
  const auto publisher = create(Qos{}.transient_local().lifespan(std::chrono::hours(1)));
  Reader reader(GetParam(), "last=8");
  reader.ask("hear 1");
  publish_numbers(*publisher, 1, 4);
  EXPECT_EQ(reader.ask("take 4"), "1:1 1:2 1:3 1:4");
  EXPECT_EQ(Reader(GetParam(), "kept", "late").ask("take 4"), "1:1 1:2 1:3 1:4");
}

ROLE(publisher_with_a_history) {
  const auto node = Node::create("deaf");
  const auto publisher = node->create_publisher<Sample>("topic", Qos{}.transient_local());
  for (std::uint64_t number = 1; number <= 3; ++number) publisher->publish(sample_of(2, number, 100));
  say("published");
  until_finished();
}

TEST_P(History, APublisherThatDoesNotAnswerHoldsUpTheHistoryOfOthersForAMomentOnly) {
  Child deaf("publisher_with_a_history");
  deaf.expect("published");
  deaf.stop();
  const auto publisher = create(Qos{}.transient_local());
  publish_numbers(*publisher, 1, 4);
  {
    Reader late(GetParam(), "kept");
    EXPECT_EQ(late.ask("take 4"), "1:1 1:2 1:3 1:4");
    publish_numbers(*publisher, 5, 5);
    EXPECT_EQ(late.ask("take 1"), "1:5");
    deaf.go_on();
    if (GetParam().where != Where::this_process) {
      EXPECT_EQ(late.ask("take 3"), "2:1 2:2 2:3");
    }
  }
  deaf.end();
}

ROLE(callback_that_is_held_up) {
  const auto node = Node::create("reader");
  std::atomic<int> got{0};
  const auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample&) { ++got; }, Qos{}.transient_local());
  require(eventually([&] { return got == 4; }), "the history does not come");
  say("got it");
}

SINEW_ON_ALL_PATHS(History);

class HistoryHere : public Domain {};

TEST_F(HistoryHere, AMessageThatIsKeptIsTheOneThatWasPublished) {
  const auto node = Node::create("writer");
  const auto publisher = node->create_publisher<Sample>("topic", Qos{}.transient_local());
  auto message = std::make_unique<Sample>(sample_of(1, 1, 3000));
  const Sample* const address = message.get();
  publisher->publish(std::move(message));
  const auto first = node->create_subscriber<Sample>("topic", Qos{}.transient_local());
  const auto second = node->create_subscriber<Sample>("topic", Qos{}.transient_local());
  EXPECT_EQ(first->take().get(), address);
  EXPECT_EQ(second->take().get(), address);
  EXPECT_EQ(publisher->statistics().bytes_copied, 0U);
}

TEST_F(HistoryHere, AFrameThatALateSubscriberOfThisProcessHoldsStays) {
  const auto node = Node::create("writer");
  const auto publisher = node->create_publisher<Sample>("topic", Qos{}.transient_local().keep_last(1));
  {
    const auto elsewhere = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
    await_subscribers(*publisher, 1);
    publisher->publish(sample_of(1, 1, 100000));
  }
  await_subscribers(*publisher, 0);
  const auto late = node->create_subscriber<Sample>("topic", Qos{}.transient_local());
  const auto held = late->take();
  const auto another = node->create_subscriber<Sample>("topic", Qos{}.transient_local())->take();
  ASSERT_TRUE(held && another);
  EXPECT_EQ(held.get(), another.get());
  for (std::uint64_t number = 2; number < 50; ++number) publish_in_place(*publisher, 1, number, 100000);
  EXPECT_TRUE(is_whole(*held));
  EXPECT_EQ(held->number, 1U);
}

TEST_F(HistoryHere, WhenMemoryIsShortALateReaderGetsTheNewestOfWhatWentByPointerAndCountsTheRest) {
  const auto node = Node::create("writer");
  PublisherOptions options;
  options.memory_budget = 4 << 20;
  const auto publisher = node->create_publisher<Sample>("topic", Qos{}.transient_local().keep_last(8), options);
  for (std::uint64_t number = 1; number <= 8; ++number) {
    ASSERT_EQ(publisher->publish(std::make_unique<Sample>(sample_of(1, number, 1000000))), PublishResult::published);
  }
  const auto late = node->create_subscriber<Sample>("topic", Qos{}.transient_local(), as_from_elsewhere());
  std::uint64_t number = 0, got = 0;
  while (number < 8) {
    const auto sample = take_soon(*late);
    ASSERT_TRUE(sample && is_whole(*sample));
    EXPECT_GT(sample->number, number);
    number = sample->number;
    ++got;
  }
  EXPECT_GE(got, 2U);
  EXPECT_EQ(got + late->statistics().missed, 8U);
}

TEST_F(HistoryHere, ACallbackIsWokenWhenThePatienceWithADeafPublisherIsOver) {
  Child deaf("publisher_with_a_history");
  deaf.expect("published");
  deaf.stop();
  const auto node = Node::create("writer");
  const auto publisher = node->create_publisher<Sample>("topic", Qos{}.transient_local());
  for (std::uint64_t number = 1; number <= 4; ++number) publisher->publish(sample_of(1, number, 100));
  Child reader("callback_that_is_held_up");
  reader.expect("got it");
  reader.end();
  deaf.go_on();
  deaf.end();
}

ROLE(publisher_amid_a_message_when_a_subscriber_comes) {
  const auto node = Node::create("writer");
  const auto publisher = node->create_publisher<Sample>("topic", Qos{}.transient_local());
  std::thread publishing([&] { publisher->publish(sample_of(1, 1, 3000)); });
  require(eventually(base::is_held), "nothing is copied");
  const auto late = node->create_subscriber<Sample>("topic", Qos{}.transient_local());
  require(late->take() == nullptr, "it comes before it is published");
  base::let_go();
  publishing.join();
  publisher->publish(sample_of(1, 2, 3000));
  for (std::uint64_t number = 1; number <= 2; ++number) {
    const auto sample = late->take();
    require(sample && sample->number == number && is_whole(*sample), "message " + std::to_string(number) + " does not come");
  }
  require(late->take() == nullptr, "it comes twice");
}

TEST_F(HistoryHere, ASubscriberThatComesAmidThePublishingOfAMessageGetsItOnce) {
  Child("publisher_amid_a_message_when_a_subscriber_comes", {}, {{"SINEW_AT", "publisher.prepared:1:hold"}}).end();
}

ROLE(publisher_whose_late_subscriber_has_room_for_one) {
  const auto node = Node::create("writer");
  const auto publisher = node->create_publisher<Sample>("topic", Qos{}.transient_local().keep_last(1));
  const auto elsewhere = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  publisher->publish(std::make_unique<Sample>(sample_of(1, 1, 3000)));
  std::thread publishing([&] { publisher->publish(std::make_unique<Sample>(sample_of(1, 2, 3000))); });
  require(eventually(base::is_held), "nothing is prepared");
  const auto late = node->create_subscriber<Sample>("topic", Qos{}.transient_local().keep_last(1));
  base::let_go();
  publishing.join();
  const auto sample = late->take();
  require(sample && sample->number == 2 && is_whole(*sample), "the newest message does not come");
  require(late->statistics().missed == 1, "what it pushed out is not counted");
}

TEST_F(HistoryHere, AFrameThatIsPushedOutWhileItsPublisherIsBusyIsLetGo) {
  Child("publisher_whose_late_subscriber_has_room_for_one", {}, {{"SINEW_AT", "publisher.prepared:2:hold"}}).end();
}

ROLE(publisher_that_copies_when_a_reader_comes) {
  const auto node = Node::create("writer");
  const auto publisher = node->create_publisher<Sample>("topic");
  std::atomic<int> owned{0};
  const auto take = [&](std::unique_ptr<Sample> sample) { owned += is_whole(*sample) ? 1 : 100; };
  const auto first = node->create_subscriber<Sample>("topic", take);
  const auto second = node->create_subscriber<Sample>("topic", take);
  std::thread publishing([&] { publisher->publish(std::make_unique<Sample>(sample_of(1, 1, 3000))); });
  require(eventually(base::is_held), "nothing is copied");
  const auto elsewhere = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 3);
  base::let_go();
  publishing.join();
  const auto sample = take_soon(*elsewhere);
  require(sample && is_whole(*sample), "the reader does not get it");
  require(eventually([&] { return owned == 2; }), "those of this process do not get it");
}

TEST_F(HistoryHere, AReaderThatComesWhileAMessageIsCopiedForThisProcessGetsItToo) {
  Child("publisher_that_copies_when_a_reader_comes", {}, {{"SINEW_AT", "publisher.prepared:1:hold"}}).end();
}

ROLE(publisher_with_a_history_by_pointer) {
  const auto node = Node::create("writer");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.transient_local().keep_last(8));
  for (std::uint64_t number = 1; number <= 8; ++number) publisher->publish(std::make_unique<Sample>(sample_of(1, number, 3000)));
  say("published");
  require(eventually(base::is_held), "nothing is copied");
  say("copying");
  if (next_order() == "destroy it") {
    std::thread destroying([&] { publisher.reset(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    base::let_go();
    return destroying.join();
  }
  base::let_go();
  std::uint64_t copied = 0;
  const auto rests = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return std::exchange(copied, publisher->statistics().bytes_copied) == publisher->statistics().bytes_copied;
  };
  require(eventually(rests), "it copies for ever");
  say(copied < 4 * 3000 ? "it has stopped" : "it has copied " + std::to_string(copied) + " bytes");
  const auto publish = [&] {
    publisher->publish(std::make_unique<Sample>(sample_of(1, 9, 3000)));
    return std::exchange(copied, publisher->statistics().bytes_copied) == publisher->statistics().bytes_copied;
  };
  require(eventually(publish), "messages are still copied for a reader that is gone");
  require(eventually([&] { return publisher->statistics().subscribers == 0; }), "it counts as a subscriber");
  until_finished();
}

// What stands for all that the loop has to do beside: to notice that the reader is gone.
TEST_F(HistoryHere, AReaderThatDiesOrUnsubscribesWhileItsHistoryIsCopiedIsNoticedBetweenTwoMessages) {
  for (const bool dies : {true, false}) {
    Child writer("publisher_with_a_history_by_pointer", {}, {{"SINEW_AT", "publisher.history_copied:1:hold"}});
    writer.expect("published");
    Child reader("path_reader", {"native", "reader", "kept"});
    writer.expect("copying");
    if (dies) {
      reader.kill();
    } else {
      reader.expect("ready");
      reader.order("end");
      reader.end();
    }
    writer.order("go on");
    writer.expect("it has stopped");
    writer.end();
  }
}

TEST_F(HistoryHere, APublisherMayBeDestroyedWhileItsHistoryIsCopied) {
  Child writer("publisher_with_a_history_by_pointer", {}, {{"SINEW_AT", "publisher.history_copied:1:hold"}});
  writer.expect("published");
  Child reader("path_reader", {"native", "reader", "kept"});
  reader.expect("ready");
  writer.expect("copying");
  writer.order("destroy it");
  writer.end();
  reader.order("hear 0");
  reader.expect("heard");
  reader.order("end");
  reader.end();
}

}  // namespace
}  // namespace sinew::system
