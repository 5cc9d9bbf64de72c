// The C interface, as programs in other languages use it: what they are given, what is refused and why, and who owns what.
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bindings/c/sinew.h"
#include "bindings/c/tests/in_c.hpp"
#include "sinew/sinew.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

sinew_qos lossless() {
  auto qos = sized<sinew_qos>();
  qos.keep_all = qos.reliable = true;
  return qos;
}

/// What callbacks are told; released once.
struct Told {
  std::atomic<int> frames{0}, events{0}, released{0};
  std::atomic<std::uint64_t> current{0};
  sinew_subscriber* to_be_destroyed = nullptr;

  static Told& of(void* context) { return *static_cast<Told*>(context); }
  static void release(void* context) { ++of(context).released; }
  static void on_frame(void* context, sinew_frame* frame) {
    sinew_frame_release(frame);
    ++of(context).frames;
    sinew_subscriber_destroy(std::exchange(of(context).to_be_destroyed, nullptr));
  }
  static void on_event(void* context, const sinew_event* event) {
    require(event->kind == SINEW_EVENT_MATCHED, "another event than was asked for");
    of(context).current = event->current_count;
    ++of(context).events;
  }
};

using C = NumbersInC;

TEST_F(C, AMessageThatIsPublishedIsTaken) {
  EXPECT_EQ(sinew_abi_version(), SINEW_ABI_VERSION);
  EXPECT_STREQ(sinew_node_name(node), "node");
  sinew_publisher* const publisher = publisher_of("number");
  sinew_subscriber* const subscriber = subscriber_of("number");
  ASSERT_TRUE(is_matched(publisher));
  for (std::uint32_t number = 1; number <= 100; ++number) {
    const Stream stream = stream_of(number);
    if (number % 2 == 0) {
      ASSERT_EQ(publish(publisher, stream), SINEW_OK) << sinew_last_error();
    } else {
      sinew_loan* loan = nullptr;
      std::uint8_t* data = nullptr;
      ASSERT_EQ(sinew_publisher_loan(publisher, 1000, &loan, &data), SINEW_OK) << sinew_last_error();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data + 4) % 16, 0U);
      std::ranges::copy(stream, data);
      ASSERT_EQ(sinew_publisher_publish_loan(publisher, loan, stream.size()), SINEW_OK) << sinew_last_error();
    }
    for (const int timeout : {-1, 0}) ASSERT_EQ(sinew_subscriber_wait(subscriber, timeout), SINEW_OK) << "it takes nothing";
    sinew_frame* frame = nullptr;
    ASSERT_EQ(sinew_subscriber_take(subscriber, -1, &frame), SINEW_OK) << sinew_last_error();
    EXPECT_EQ(joined(frame), stream);
    const sinew_message_info info = sinew_frame_info(frame);
    EXPECT_STREQ(info.publisher, "node");
    EXPECT_EQ(info.sequence, number);
    EXPECT_EQ(info.delivery, SINEW_DELIVERY_VIEW);
    EXPECT_LE(info.source_time_ns, info.receive_time_ns);
    sinew_frame_release(frame);
  }
  sinew_publisher_statistics published;
  sinew_subscriber_statistics taken;
  ASSERT_EQ(sinew_publisher_get_statistics(publisher, &published), SINEW_OK);
  ASSERT_EQ(sinew_subscriber_get_statistics(subscriber, &taken), SINEW_OK);
  EXPECT_EQ(published.published, 100U);
  EXPECT_EQ(published.bytes_copied, 50U * 8U) << "those that were not loaned";
  EXPECT_EQ(taken.received, 100U);
  EXPECT_EQ(taken.held, 0U);
  EXPECT_EQ(taken.waiting, 0U);
  sinew_frame* frame = nullptr;
  EXPECT_EQ(sinew_subscriber_take(subscriber, 0, &frame), SINEW_NOTHING);
  EXPECT_EQ(sinew_subscriber_take(subscriber, 1000, &frame), SINEW_NOTHING);
  EXPECT_EQ(frame, nullptr);
  EXPECT_EQ(sinew_subscriber_wait(subscriber, 0), SINEW_NOTHING);
  EXPECT_EQ(sinew_subscriber_wait(subscriber, 1000), SINEW_NOTHING);
  sinew_publisher_destroy(publisher);
  sinew_subscriber_destroy(subscriber);
}

// The bell rings for a publisher that is met, or goes, too, and that is heard once somebody waits.
TEST_F(C, WhoWaitsForAMessageIsNotToldOfAPublisher) {
  sinew_publisher* const publisher = publisher_of("number");
  sinew_subscriber* const subscriber = subscriber_of("number");
  sinew_subscriber_statistics told{};
  const auto publishers = [&] { return sinew_subscriber_get_statistics(subscriber, &told) == SINEW_OK ? told.publishers : 9; };
  ASSERT_TRUE(is_matched(publisher) && eventually([&] { return publishers() == 1; }));
  EXPECT_EQ(sinew_subscriber_wait(subscriber, 50'000'000), SINEW_NOTHING);
  ASSERT_EQ(publish(publisher, stream_of(1)), SINEW_OK);
  EXPECT_EQ(sinew_subscriber_wait(subscriber, -1), SINEW_OK);
  sinew_frame* frame = nullptr;
  ASSERT_EQ(sinew_subscriber_take(subscriber, -1, &frame), SINEW_OK);
  sinew_frame_release(frame);
  sinew_publisher_destroy(publisher);
  ASSERT_TRUE(eventually([&] { return publishers() == 0; }));
  EXPECT_EQ(sinew_subscriber_wait(subscriber, 50'000'000), SINEW_NOTHING);
  sinew_subscriber_destroy(subscriber);
}

TEST_F(C, AProgramInCppAndOneInCUnderstandEachOther) {
  auto cpp = Node::create("cpp");
  auto publisher = cpp->create_publisher<Sample>("sample");
  sinew_subscriber* subscriber = nullptr;
  sinew_publisher* back = nullptr;
  const char* const type = msg::message_of<Sample>().signature;
  ASSERT_EQ(sinew_subscriber_create(node, "sample", type, nullptr, nullptr, &subscriber), SINEW_OK) << sinew_last_error();
  ASSERT_EQ(sinew_publisher_create(node, "back", type, nullptr, nullptr, &back), SINEW_OK) << sinew_last_error();
  auto returned = cpp->create_subscriber<Sample>("back");
  await_subscribers(*publisher, 1);
  ASSERT_TRUE(is_matched(back));
  publish_in_place(*publisher, 1, 7, 1 << 20);
  sinew_frame* frame = nullptr;
  ASSERT_EQ(sinew_subscriber_take(subscriber, -1, &frame), SINEW_OK);
  EXPECT_GT(sinew_frame_extent_count(frame), 1U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(sinew_frame_extent(frame, 0).data + 4) % 16, 0U);
  std::vector<sinew_extent> extents;
  for (std::size_t i = 0; i < sinew_frame_extent_count(frame); ++i) extents.push_back(sinew_frame_extent(frame, i));
  ASSERT_EQ(sinew_publisher_publish(back, extents.data(), extents.size()), SINEW_OK) << sinew_last_error();
  sinew_frame_release(frame);
  const auto message = take_soon(*returned);
  ASSERT_TRUE(message);
  EXPECT_TRUE(is_whole(*message));
  EXPECT_EQ(message->data.size(), std::size_t{1} << 20);
  sinew_publisher_destroy(back);
  sinew_subscriber_destroy(subscriber);
}

TEST_F(C, AFrameStaysWhenAllThatItCameByIsGone) {
  sinew_publisher* const publisher = publisher_of("number");
  sinew_subscriber* const subscriber = subscriber_of("number");
  ASSERT_TRUE(is_matched(publisher));
  publish(publisher, stream_of(5));
  sinew_frame* frame = nullptr;
  ASSERT_EQ(sinew_subscriber_take(subscriber, -1, &frame), SINEW_OK);
  sinew_loan* loan = nullptr;
  std::uint8_t* data = nullptr;
  ASSERT_EQ(sinew_publisher_loan(publisher, 100, &loan, &data), SINEW_OK);
  sinew_publisher_destroy(publisher);
  sinew_subscriber_destroy(subscriber);
  sinew_node_destroy(std::exchange(node, nullptr));
  EXPECT_EQ(joined(frame), stream_of(5));
  EXPECT_STREQ(sinew_frame_info(frame).publisher, "node");
  std::memset(data, 1, 100);
  sinew_loan_release(loan);
  sinew_frame_release(frame);
}

TEST_F(C, CallbacksGetWhatTheyAskedForAndTheirContextIsReleasedOnce) {
  Told told;
  auto options = sized<sinew_subscriber_options>();
  options.on_frame = Told::on_frame;
  options.on_event = Told::on_event;
  options.events = SINEW_EVENT_MATCHED;
  options.context = &told;
  options.release = Told::release;
  const sinew_qos qos = lossless();
  sinew_publisher* const publisher = publisher_of("number", &qos);
  sinew_subscriber* const subscriber = subscriber_of("number", &qos, &options);
  ASSERT_TRUE(is_matched(publisher));
  for (std::uint32_t number = 1; number <= 100; ++number) ASSERT_EQ(publish(publisher, stream_of(number)), SINEW_OK);
  EXPECT_TRUE(eventually([&] { return told.frames == 100 && told.current == 1; }));
  sinew_frame* frame = nullptr;
  EXPECT_EQ(sinew_subscriber_take(subscriber, 0, &frame), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(told.released, 0);
  sinew_subscriber_destroy(subscriber);
  EXPECT_TRUE(eventually([&] { return told.released == 1; }));
  sinew_publisher_destroy(publisher);
  EXPECT_EQ(told.released, 1);
}

TEST_F(C, ACallbackMayDestroyItsSubscriber) {
  Told told;
  auto options = sized<sinew_subscriber_options>();
  options.on_frame = Told::on_frame;
  options.context = &told;
  options.release = Told::release;
  sinew_publisher* const publisher = publisher_of("number");
  told.to_be_destroyed = subscriber_of("number", nullptr, &options);
  ASSERT_TRUE(is_matched(publisher));
  publish(publisher, stream_of(1));
  EXPECT_TRUE(eventually([&] { return told.released == 1; }));
  EXPECT_TRUE(is_matched(publisher, 0));
  EXPECT_EQ(told.frames, 1);
  sinew_publisher_destroy(publisher);
}

TEST_F(C, ANodeMayBeRunByItsCallersLoop) {
  sinew_node* by_caller = nullptr;
  auto options = sized<sinew_node_options>();
  options.by_caller = true;
  ASSERT_EQ(sinew_node_create("by_caller", &options, &by_caller), SINEW_OK) << sinew_last_error();
  Told told;
  auto with = sized<sinew_subscriber_options>();
  with.on_frame = Told::on_frame;
  with.context = &told;
  with.release = Told::release;
  sinew_subscriber* subscriber = nullptr;
  ASSERT_EQ(sinew_subscriber_create(by_caller, "number", number_type, nullptr, &with, &subscriber), SINEW_OK);
  sinew_publisher* const publisher = publisher_of("number");
  ASSERT_TRUE(is_matched(publisher));
  int fd = -1;
  ASSERT_EQ(sinew_node_fd(by_caller, &fd), SINEW_OK) << sinew_last_error();
  publish(publisher, stream_of(1));
  EXPECT_EQ(told.frames, 0);
  while (told.frames == 0) {
    pollfd wanted{fd, POLLIN, 0};
    ASSERT_EQ(::poll(&wanted, 1, 60'000), 1);
    ASSERT_EQ(sinew_node_dispatch(by_caller), SINEW_OK);
  }
  EXPECT_EQ(sinew_node_fd(node, &fd), SINEW_INVALID_ARGUMENT) << "the library's threads run that one";
  EXPECT_EQ(sinew_node_dispatch(node), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_node_spin(node), SINEW_INVALID_ARGUMENT);
  sinew_node_stop(by_caller);
  EXPECT_EQ(sinew_node_spin(by_caller), SINEW_OK);
  sinew_subscriber_destroy(subscriber);
  sinew_node_destroy(by_caller);
  EXPECT_EQ(told.released, 1);
  sinew_publisher_destroy(publisher);
}

TEST_F(C, WhenTheNodeIsDestroyedWhatItMadeSaysSo) {
  sinew_publisher* const publisher = publisher_of("number");
  sinew_subscriber* const subscriber = subscriber_of("number");
  sinew_node_destroy(std::exchange(node, nullptr));
  sinew_frame* frame = nullptr;
  EXPECT_EQ(sinew_subscriber_take(subscriber, -1, &frame), SINEW_CLOSED);
  EXPECT_EQ(publish(publisher, stream_of(1)), SINEW_CLOSED);
  sinew_loan* loan = nullptr;
  std::uint8_t* data = nullptr;
  EXPECT_EQ(sinew_publisher_loan(publisher, 100, &loan, &data), SINEW_CLOSED);
  EXPECT_NE(std::string(sinew_last_error()).find("the node has been destroyed"), std::string::npos);
  sinew_publisher_destroy(publisher);
  sinew_subscriber_destroy(subscriber);
}

// As a destructor of the user's does that the thread has had for longer than a text of this library.
TEST_F(C, WhatFailsAsItsThreadEndsFailsAsEverAndSaysThatItCannotSayWhy) {
  struct AtTheEnd {
    ~AtTheEnd() {
      sinew_frame* frame = nullptr;
      status = sinew_subscriber_take(subscriber, 0, &frame);
      text = sinew_last_error();
    }
    sinew_subscriber* subscriber;
    sinew_status& status;
    std::string& text;
  };
  sinew_subscriber* const subscriber = subscriber_of("number");
  sinew_status status = SINEW_OK;
  std::string before, text;
  std::thread([&] {
    thread_local const AtTheEnd last{subscriber, status, text};
    sinew_frame* frame = nullptr;
    sinew_subscriber_take(last.subscriber, 0, &frame);
    before = sinew_last_error();
  }).join();
  EXPECT_EQ(status, SINEW_NOTHING);
  EXPECT_NE(text, before) << "it lies in memory that was given back";
  EXPECT_NE(text.find("as its thread ended"), std::string::npos) << text;
  sinew_subscriber_destroy(subscriber);
}

TEST_F(C, ANodeIsDisconnectedByItsName) {
  EXPECT_EQ(sinew_node_disconnect(node, "node"), SINEW_OK) << sinew_last_error();
  EXPECT_EQ(sinew_node_disconnect(nullptr, "node"), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_node_disconnect(node, nullptr), SINEW_INVALID_ARGUMENT);
}

// --- what is refused -----------------------------------------------------------------------------------------------------------------

TEST_F(C, WhatFailsSaysWhyAndTouchesNothing) {
  auto* const untouched = reinterpret_cast<sinew_publisher*>(&node);
  sinew_publisher* publisher = untouched;
  EXPECT_EQ(sinew_publisher_create(node, "number", "test/Number{value:uint33;}", nullptr, nullptr, &publisher), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(),
               "topic 'number': no message has the type 'test/Number{value:uint33;}': field 'value' has the unknown type 'uint33'");
  sinew_publisher* const first = publisher_of("number");
  EXPECT_EQ(sinew_publisher_create(node, "number", "test/Number{value:uint64;}", nullptr, nullptr, &publisher), SINEW_TYPE_MISMATCH);
  EXPECT_STREQ(sinew_last_error(),
               "topic 'number' carries test/Number{... value: uint32 ...}; you asked for test/Number{... value: uint64 ...}: field 'value' "
               "differs");
  auto ghost = sized<sinew_publisher_options>();
  ghost.ghost = SINEW_GHOST_CARRIER;
  EXPECT_EQ(sinew_publisher_create(node, "nobody", number_type, nullptr, &ghost, &publisher), SINEW_UNAVAILABLE);
  ghost.ghost = 3;
  EXPECT_EQ(sinew_publisher_create(node, "number", number_type, nullptr, &ghost, &publisher), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "ghost = 3 is none of SINEW_GHOST_...");
  EXPECT_EQ(publisher, untouched);
  sinew_node* other = nullptr;
  EXPECT_EQ(sinew_node_create("node", nullptr, &other), SINEW_NAME_TAKEN);
  EXPECT_EQ(sinew_node_create("no spaces", nullptr, &other), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(publish(first, Stream(100, 9)), SINEW_INVALID_MESSAGE);
  EXPECT_EQ(sinew_publisher_publish(first, nullptr, 0), SINEW_INVALID_MESSAGE);
  EXPECT_EQ(sinew_publisher_publish(first, nullptr, 1), SINEW_INVALID_ARGUMENT);
  const sinew_extent nowhere{nullptr, 8};
  EXPECT_EQ(sinew_publisher_publish(first, &nowhere, 1), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'extents[].data' is NULL");
  sinew_loan* loan = nullptr;
  std::uint8_t* data = nullptr;
  EXPECT_EQ(sinew_publisher_loan(first, SIZE_MAX, &loan, &data), SINEW_NO_MEMORY);
  EXPECT_EQ(loan, nullptr);
  sinew_publisher_destroy(first);
}

TEST_F(C, AMessageThatIsLargerThanTheWholeBudgetIsToldSo) {
  auto options = sized<sinew_publisher_options>();
  options.memory_budget = 8 << 20;
  sinew_publisher* publisher = nullptr;
  ASSERT_EQ(sinew_publisher_create(node, "number", number_type, nullptr, &options, &publisher), SINEW_OK) << sinew_last_error();
  sinew_loan* loan = nullptr;
  std::uint8_t* data = nullptr;
  EXPECT_EQ(sinew_publisher_loan(publisher, 20'000'000, &loan, &data), SINEW_NO_MEMORY);
  const std::string_view said = sinew_last_error();
  EXPECT_TRUE(said.starts_with("not published. A message needs 19.2 MiB") && said.find("memory_budget of 8.0 MiB") != said.npos) << said;
  Stream stream(20'000'000);
  stream[1] = 1;
  EXPECT_EQ(publish(publisher, stream), SINEW_NO_MEMORY);
  EXPECT_NE(std::string_view(sinew_last_error()).find("memory_budget of 8.0 MiB"), std::string_view::npos) << sinew_last_error();
  sinew_publisher_destroy(publisher);
}

TEST_F(C, ABudgetThatHoldsNoMessageIsRefusedWithoutTheZeroThatMeansAnotherThingInCpp) {
  auto options = sized<sinew_publisher_options>();
  options.memory_budget = 1;
  sinew_publisher* publisher = nullptr;
  EXPECT_EQ(sinew_publisher_create(node, "number", number_type, nullptr, &options, &publisher), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(),
               "topic 'number': memory_budget = 1 is out of range: 65536 bytes or more, as memory is taken in pieces of that");
}

TEST_F(C, ManualByTopicIsRefusedWithoutALease) {
  auto qos = sized<sinew_qos>();
  qos.manual_by_topic = true;
  const char* const why = "topic 'number': manual_by_topic needs a lease (lease_ns, or lease=): how long a publisher may be silent";
  sinew_publisher* publisher = nullptr;
  sinew_subscriber* subscriber = nullptr;
  EXPECT_EQ(sinew_publisher_create(node, "number", number_type, &qos, nullptr, &publisher), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), why);
  EXPECT_EQ(sinew_subscriber_create(node, "number", number_type, &qos, nullptr, &subscriber), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), why);
  qos.lease_ns = 1'000'000'000;
  sinew_publisher_destroy(publisher_of("number", &qos));
}

TEST_F(C, ALoanIsNotPublishedAsMoreThanItHas) {
  sinew_publisher* const publisher = publisher_of("number");
  const auto published = [&](std::size_t used) {
    sinew_loan* loan = nullptr;
    std::uint8_t* data = nullptr;
    require(sinew_publisher_loan(publisher, 100, &loan, &data) == SINEW_OK, sinew_last_error());
    std::memset(data, 9, 100);
    return sinew_publisher_publish_loan(publisher, loan, used);
  };
  EXPECT_EQ(published(101), SINEW_INVALID_MESSAGE);
  EXPECT_STREQ(sinew_last_error(), "not published: used = 101 is more than the loan's 100 bytes");
  EXPECT_EQ(published(100), SINEW_INVALID_MESSAGE);
  EXPECT_TRUE(std::string_view(sinew_last_error()).starts_with("not published: it is no stream of CDR")) << sinew_last_error();
  sinew_publisher_statistics statistics;
  ASSERT_EQ(sinew_publisher_get_statistics(publisher, &statistics), SINEW_OK);
  EXPECT_EQ(statistics.refused, 2U);
  EXPECT_EQ(statistics.memory_in_use, 0U);
  sinew_publisher_destroy(publisher);
}

TEST_F(C, ANullPointerIsRefusedByTheNameOfItsArgument) {
  sinew_publisher* publisher = nullptr;
  sinew_subscriber* subscriber = nullptr;
  sinew_domain_watch* watch = nullptr;
  sinew_publisher_statistics statistics;
  EXPECT_EQ(sinew_node_create("name", nullptr, nullptr), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'node' is NULL");
  EXPECT_EQ(sinew_publisher_create(nullptr, "number", number_type, nullptr, nullptr, &publisher), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_publisher_create(node, nullptr, number_type, nullptr, nullptr, &publisher), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'topic' is NULL");
  EXPECT_EQ(sinew_subscriber_create(node, "number", nullptr, nullptr, nullptr, &subscriber), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'signature' is NULL");
  EXPECT_EQ(sinew_subscriber_take(nullptr, 0, nullptr), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_publisher_get_statistics(nullptr, &statistics), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_publisher_publish(nullptr, nullptr, 0), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_publisher_publish_loan(nullptr, nullptr, 0), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'publisher' is NULL");
  sinew_publisher* const there = publisher_of("number");
  EXPECT_EQ(sinew_publisher_publish_loan(there, nullptr, 0), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'loan' is NULL");
  sinew_publisher_destroy(there);
  EXPECT_EQ(sinew_domain_get(nullptr, nullptr), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_domain_watch_create(node, nullptr, &watch), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_domain_counters_create(node, nullptr), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_domain_counters_read(nullptr, nullptr), SINEW_INVALID_ARGUMENT);
  sinew_node_destroy(nullptr);
  sinew_publisher_destroy(nullptr);
  sinew_subscriber_destroy(nullptr);
  sinew_frame_release(nullptr);
  sinew_loan_release(nullptr);
  sinew_timer_destroy(nullptr);
  sinew_timer_cancel(nullptr);
  sinew_timer_reset(nullptr);
  EXPECT_EQ(sinew_timer_missed(nullptr), 0U);
  sinew_domain_release(nullptr);
  sinew_domain_watch_destroy(nullptr);
  sinew_domain_counters_destroy(nullptr);
  sinew_domain_counts_release(nullptr);
  sinew_publisher_assert_liveliness(nullptr);
}

TEST_F(C, OptionsOfAnotherVersionAreUnderstoodAsFarAsTheyAreKnown) {
  struct {
    sinew_qos known;
    std::uint64_t later;
  } qos{};
  const auto refused = [&] {
    sinew_publisher* publisher = nullptr;
    const sinew_status status = sinew_publisher_create(node, "number", number_type, &qos.known, nullptr, &publisher);
    sinew_publisher_destroy(publisher);
    return status == SINEW_OK ? "" : std::string(sinew_last_error());
  };
  qos.known.struct_size = sizeof qos;
  EXPECT_EQ(refused(), "") << "a later version's, which asks for nothing new";
  qos.later = 1;
  EXPECT_EQ(refused(), "an option in sinew_qos is newer than this library: leave it 0, or use a newer sinew");
  qos.known.struct_size = 8;
  qos.known.depth = 600;
  EXPECT_NE(refused().find("keep_last(600)"), std::string::npos) << "an earlier version's";
  qos.known.struct_size = 0;
  EXPECT_EQ(refused(), "sinew_qos.struct_size is 0: set it to sizeof(sinew_qos)");
}

TEST_F(C, EventsThatThereAreNotAreRefusedAndTheContextReleased) {
  Told told;
  auto options = sized<sinew_publisher_options>();
  options.context = &told;
  options.release = Told::release;
  options.events = SINEW_EVENT_MESSAGE_LOST;
  options.on_event = Told::on_event;
  sinew_publisher* publisher = nullptr;
  EXPECT_EQ(sinew_publisher_create(node, "number", number_type, nullptr, &options, &publisher), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(
      sinew_last_error(),
      "events = 32 has SINEW_EVENT_MESSAGE_LOST, which a publisher has not: it has SINEW_EVENT_MATCHED, SINEW_EVENT_INCOMPATIBLE_QOS, "
      "SINEW_EVENT_DEADLINE_MISSED, SINEW_EVENT_LIVELINESS_LOST, SINEW_EVENT_DETACHED");
  EXPECT_EQ(told.released, 1);
  auto other = sized<sinew_subscriber_options>();
  other.events = SINEW_EVENT_MATCHED | SINEW_EVENT_LIVELINESS_LOST | 128;
  sinew_subscriber* subscriber = nullptr;
  EXPECT_EQ(sinew_subscriber_create(node, "number", number_type, nullptr, &other, &subscriber), SINEW_INVALID_ARGUMENT);
  EXPECT_TRUE(
      std::string_view(sinew_last_error()).starts_with("events = 137 has SINEW_EVENT_LIVELINESS_LOST, 128, which a subscriber has "))
      << sinew_last_error();
  options.events = SINEW_EVENT_MATCHED;
  options.on_event = nullptr;
  EXPECT_EQ(sinew_publisher_create(node, "number", number_type, nullptr, &options, &publisher), SINEW_INVALID_ARGUMENT);
  options.when_full = 4;
  EXPECT_EQ(sinew_publisher_create(node, "number", number_type, nullptr, &options, &publisher), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(told.released, 3);
  options.struct_size = 0;
  EXPECT_EQ(sinew_publisher_create(node, "number", number_type, nullptr, &options, &publisher), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(told.released, 3) << "nothing of such options is used";
}

TEST(Statuses, HaveNames) {
  EXPECT_STREQ(sinew_status_name(SINEW_OK), "ok");
  EXPECT_STREQ(sinew_status_name(SINEW_TYPE_MISMATCH), "type_mismatch");
  EXPECT_STREQ(sinew_status_name(SINEW_NOTHING), "nothing");
  EXPECT_STREQ(sinew_status_name(SINEW_FAILED), "failed");
  EXPECT_STREQ(sinew_status_name(SINEW_LOST), "lost");
  EXPECT_STREQ(sinew_status_name(SINEW_LOST + 1), "unknown");
  EXPECT_STREQ(sinew_status_name(-1), "unknown");
}

// --- the installed library -----------------------------------------------------------------------------------------------------------

TEST_F(C, AProgramInCSendsItselfAMessage) {
  sinew_node_destroy(std::exchange(node, nullptr));
  Child program = Child::program(std::filesystem::read_symlink("/proc/self/exe").parent_path() / "c_program", {}, {});
  program.expect("message 1 of c_program: 42 in 8 bytes");
  EXPECT_EQ(program.wait(), 0) << program.errors();
}

}  // namespace
}  // namespace sinew::system
