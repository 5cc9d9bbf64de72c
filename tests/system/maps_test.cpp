// Messages with maps, whose objects mean nothing to other processes: these get them as streams.
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "tests/system/foreign.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace robot {
struct Station {
  std::string name;
  std::map<std::string, double> values;
  friend bool operator==(const Station&, const Station&) = default;
};
struct Survey {
  std::uint64_t number = 0;
  std::map<std::string, std::vector<std::uint32_t>> by_sensor;
  std::unordered_map<std::uint64_t, std::string> names;
  std::vector<Station> stations;
  std::optional<std::map<std::int32_t, float>> maybe;
  friend bool operator==(const Survey&, const Survey&) = default;
};
struct Value {
  std::string key;
  double value = 0;
  friend bool operator==(const Value&, const Value&) = default;
};
struct StationInEntries {
  std::string name;
  std::vector<Value> values;
};
}  // namespace robot

namespace sinew::system {
namespace {

using robot::Station;
using robot::Survey;

class Maps : public Domain {};

/// Every fourth has nothing in it, every fifth has more than a chunk of memory at first.
Survey survey_of(std::uint64_t number) {
  Survey survey{.number = number, .by_sensor = {}, .names = {}, .stations = {}, .maybe = {}};
  if (number % 4 == 0) return survey;
  const auto count = static_cast<std::uint32_t>(number % 5 == 0 ? 20'000 : number);
  for (std::uint32_t i = 0; i < count; ++i) {
    survey.by_sensor["sensor " + std::to_string(i)] = std::vector<std::uint32_t>(i % 30, i);
    survey.names[i * number] = text_for(i);
  }
  survey.stations = {{"empty", {}}, {text_for(number), {{"height", 1.5}, {text_for(1), 2}}}};
  if (number % 2 == 0) survey.maybe = {{-1, 0.5F}, {static_cast<std::int32_t>(number), 2}};
  return survey;
}

bool is_whole(const Survey& survey, std::uint64_t number) {
  return survey == survey_of(number);
}

enum class Way { copy, owned, shared, loan };
constexpr std::array all_ways = {Way::copy, Way::owned, Way::shared, Way::loan};

PublishResult publish(Publisher<Survey>& publisher, Way way, Survey survey) {
  switch (way) {
    case Way::copy:
      return publisher.publish(survey);
    case Way::owned:
      return publisher.publish(std::make_unique<Survey>(std::move(survey)));
    case Way::shared:
      return publisher.publish(std::make_shared<const Survey>(std::move(survey)));
    case Way::loan:
      break;
  }
  auto loan = publisher.loan();
  loan->number = survey.number;
  loan.build([&](Survey& into) { into = survey; });
  return publisher.publish(std::move(loan));
}

SubscriberOptions reading_by(Delivery delivery) {
  SubscriberOptions options;
  options.delivery = delivery;
  return options;
}

/// Takes so many messages in their order.
void take_all(Subscriber<Survey>& subscriber, std::uint64_t count, Delivery delivery) {
  for (std::uint64_t number = 1; number <= count; ++number) {
    MessageInfo info;
    const auto survey = take_soon(subscriber, &info);
    require(survey != nullptr, "message " + std::to_string(number) + " does not come");
    require(is_whole(*survey, number), "message " + std::to_string(number) + " is not as it was published");
    require(info.delivery == delivery, "it came by " + std::string(to_string(info.delivery)));
  }
}

ROLE(maps_receiver) {
  const bool copies = arguments.at(0) == "copy";
  auto node = Node::create("receiver");
  auto subscriber = node->create_subscriber<Survey>("survey", lossless(), copies ? reading_by(Delivery::copy) : SubscriberOptions{});
  require(eventually([&] { return subscriber->statistics().publishers == 1; }), "no publisher");
  say("ready");
  take_all(*subscriber, std::stoull(arguments.at(1)), copies ? Delivery::copy : Delivery::view);
  say(subscriber->publishers().at(0).why);
  until_finished();
}

TEST_F(Maps, AMessageWithMapsArrivesWholeHoweverItIsPublishedAndRead) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Survey>("survey", lossless());
  Child as_possible("maps_receiver", {"", "40"}, {{"SINEW_NODE", "as_possible"}}), copy("maps_receiver", {"copy", "40"});
  auto here = node->create_subscriber<Survey>("survey", lossless());
  auto decoding = node->create_subscriber<Survey>("survey", lossless(), reading_by(Delivery::view));
  for (Child* each : {&as_possible, &copy}) each->expect("ready");
  await_subscribers(*publisher, 4);
  for (std::uint64_t number = 1; number <= 40; ++number) {
    ASSERT_EQ(publish(*publisher, all_ways.at(number % 4 == 0 ? number / 4 % 4 : number % 4), survey_of(number)), PublishResult::published);
  }
  take_all(*here, 40, Delivery::pointer);
  take_all(*decoding, 40, Delivery::view);
  for (Child* each : {&as_possible, &copy}) {
    each->expect("their type has maps, which are made anew in each process");
    each->end();
  }
  EXPECT_EQ(publisher->statistics().messages_repaired, 0U);
}

TEST_F(Maps, WithinTheProcessTheObjectItselfIsSharedAlsoWhenOthersReadToo) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Survey>("survey");
  auto here = node->create_subscriber<Survey>("survey");
  std::shared_ptr<Subscriber<Survey>> elsewhere;
  for (const bool read_elsewhere : {false, true}) {
    if (read_elsewhere) elsewhere = node->create_subscriber<Survey>("survey", Qos{}, reading_by(Delivery::view));
    await_subscribers(*publisher, read_elsewhere ? 2 : 1);
    for (const Way way : {Way::owned, Way::shared, Way::loan}) {
      auto loan = publisher->loan();
      auto owned = std::make_unique<Survey>(survey_of(3));
      const auto shared = std::make_shared<const Survey>(survey_of(3));
      *loan = survey_of(3);
      const Survey* const object = way == Way::owned ? owned.get() : way == Way::shared ? shared.get() : &*loan;
      const std::uint64_t before = publisher->statistics().bytes_copied, published_before = publisher->statistics().bytes;
      ASSERT_EQ(way == Way::owned    ? publisher->publish(std::move(owned))
                : way == Way::shared ? publisher->publish(shared)
                                     : publisher->publish(std::move(loan)),
                PublishResult::published);
      EXPECT_EQ(take_soon(*here).get(), object);
      const std::uint64_t copied = publisher->statistics().bytes_copied - before;
      EXPECT_EQ(copied > 0, read_elsewhere) << "the stream, once";
      EXPECT_EQ(publisher->statistics().bytes - published_before, copied);
      EXPECT_TRUE(!elsewhere || is_whole(*take_soon(*elsewhere), 3));
    }
  }
}

TEST_F(Maps, CopiesForSubscribersOfTheProcessAreCountedWithWhatTheirMapsHold) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Survey>("survey");
  auto here = node->create_subscriber<Survey>("survey");
  const Survey survey = survey_of(5);
  ASSERT_EQ(publisher->publish(survey), PublishResult::published);
  EXPECT_EQ(*take_soon(*here), survey);
  EXPECT_GT(publisher->statistics().bytes_copied, 20'000 * (sizeof(std::string) + sizeof(std::vector<std::uint32_t>) + 15 * 4));
}

TEST_F(Maps, ASubscriberMayHaveEntriesWhereThePublisherHasAMap) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Station>("station");
  auto subscriber = node->create_subscriber<robot::StationInEntries>("station");
  await_subscribers(*publisher, 1);
  ASSERT_EQ(publisher->publish(Station{"hill", {{"wind", 3}, {"height", 1.5}}}), PublishResult::published);
  const auto station = take_soon(*subscriber);
  ASSERT_TRUE(station);
  EXPECT_EQ(station->name, "hill");
  EXPECT_EQ(station->values, (std::vector<robot::Value>{{"height", 1.5}, {"wind", 3}}));
}

TEST_F(Maps, WhoInsistsOnMessagesInPlaceIsToldThatMapsNeverAre) {
  auto node = Node::create("node");
  try {
    (void)node->create_subscriber<Survey>("survey", Qos{}, reading_by(Delivery::native));
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("maps"), std::string::npos) << error.what();
  }
}

TEST_F(Maps, OneForWhichThereIsNoMemoryIsRefusedAndTheNextIsNot) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Survey>("survey", Qos{}, {.memory_budget = 1 << 20});
  auto subscriber = node->create_subscriber<Survey>("survey");
  auto elsewhere = node->create_subscriber<Survey>("survey", Qos{}, reading_by(Delivery::view));
  await_subscribers(*publisher, 2);
  std::uint64_t refused = 0, number = 0;
  for (const Way way : all_ways) {
    EXPECT_EQ(publish(*publisher, way, survey_of(5)), PublishResult::no_memory);
    EXPECT_EQ(publisher->statistics().refused, ++refused);
    EXPECT_EQ(subscriber->take(), nullptr);
    EXPECT_EQ(publish(*publisher, way, survey_of(++number)), PublishResult::published);
    for (auto* each : {subscriber.get(), elsewhere.get()}) {
      const auto survey = take_soon(*each);
      ASSERT_TRUE(survey) << number;
      EXPECT_TRUE(is_whole(*survey, number));
    }
  }
}

TEST_F(Maps, FramesThatArePiecesOnlyLeaveNoMemoryBehind) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Survey>("survey", Qos{}.keep_last(4));
  auto elsewhere = node->create_subscriber<Survey>("survey", Qos{}.keep_last(4), reading_by(Delivery::view));
  await_subscribers(*publisher, 1);
  const Survey survey = survey_of(1003);
  for (const Way way : all_ways) {
    std::uint64_t after_some = 0;
    for (int round = 1; round <= 200; ++round) {
      ASSERT_EQ(publish(*publisher, way, survey), PublishResult::published);
      if (round == 20) after_some = publisher->statistics().memory_mapped;
    }
    EXPECT_LE(publisher->statistics().memory_mapped, after_some) << static_cast<int>(way);  // less where a chunk has gone that was idle
  }
}

TEST_F(Maps, WhatIsYetToBeTakenIsReadWhenThePublisherIsGone) {
  auto node = Node::create("node");
  // In one chunk, of which its reader has heard: an end waits 0.2 s at most for who has yet to hear of another.
  auto publisher = node->create_publisher<Survey>("survey", lossless(), {.prefault = 1 << 20});
  auto elsewhere = node->create_subscriber<Survey>("survey", lossless(), reading_by(Delivery::view));
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 10; ++number) publish(*publisher, Way::loan, survey_of(number));
  EXPECT_TRUE(eventually([&] { return elsewhere->statistics().waiting == 10; }));
  publisher.reset();
  take_all(*elsewhere, 10, Delivery::view);
}

ROLE(maps_for_a_stranger) {
  become_stranger();
  auto node = Node::create("stranger");
  auto subscriber = node->create_subscriber<Survey>("survey");
  require(eventually([&] { return subscriber->statistics().publishers == 1; }), "no publisher");
  say("ready");
  take_all(*subscriber, 7, Delivery::copy);
  say("all");
  until_finished();
}

TEST_F(Foreign, ASubscriberOfAnotherUserGetsMessagesWithMaps) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Survey>("survey");
  Child stranger("maps_for_a_stranger");
  stranger.expect("ready");
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 1; number <= 7; ++number) publish(*publisher, all_ways.at(number % 4), survey_of(number));
  stranger.expect("all");
  EXPECT_GT(publisher->statistics().bytes_exported, 0U);
  stranger.end();
}

TEST_F(Maps, ALateSubscriberOfThisOrAnotherProcessGetsThemFromTheHistory) {
  const auto node = Node::create("writer");
  const auto publisher = node->create_publisher<Survey>("topic", Qos{}.transient_local());
  const auto get = [&](const SubscriberOptions& options, std::uint64_t first, std::uint64_t last) {
    const auto late = node->create_subscriber<Survey>("topic", Qos{}.transient_local(), options);
    for (std::uint64_t number = first; number <= last; ++number) {
      const auto survey = take_soon(*late);
      ASSERT_TRUE(survey && is_whole(*survey, number)) << number;
    }
    EXPECT_EQ(late->statistics().missed, 0U);
  };
  SubscriberOptions elsewhere;
  elsewhere.delivery = Delivery::view;
  publisher->publish(survey_of(1));
  publisher->publish(std::make_unique<Survey>(survey_of(2)));
  get({}, 1, 2);
  get(elsewhere, 1, 2);
  {
    const auto reader = node->create_subscriber<Survey>("topic", Qos{}, elsewhere);
    await_subscribers(*publisher, 1);
    publisher->publish(survey_of(3));
    publisher->publish(std::make_shared<const Survey>(survey_of(4)));
  }
  get(elsewhere, 1, 4);
  get({}, 1, 4);
}

}  // namespace
}  // namespace sinew::system
