// Processes with too little of something, and processes of other users.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

#include "os/fd.hpp"

#include "tests/system/foreign.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

class Limits : public Domain {};

ROLE(cramped_subscriber) {
  std::atomic<std::uint64_t> received{0};
  auto node = Node::create("cramped");
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample&) { ++received; });
  require(eventually([&] { return subscriber->statistics().publishers == 1; }),
          "no publisher comes");  // what connecting maps is no part of this
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{pages * 4096 + (16 << 20), RLIM_INFINITY};
  require(::setrlimit(RLIMIT_AS, &limit) == 0, "no limit");
  say("ready");
  require(eventually([&] { return received == 1; }), "the small message does not come");
  say("small");
  require(eventually([&] { return subscriber->statistics().publishers == 0; }), "it goes on without the chunk");
  say("ended");
  until_finished();
}

TEST_F(Limits, S12_a_subscriber_that_cannot_map_a_chunk_ends_its_connection_and_says_why) {
  if (sanitized) GTEST_SKIP() << "a sanitizer's shadow does not fit into a limited address space";
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic");
  std::atomic<std::uint64_t> received{0};
  auto roomy = node->create_subscriber<Sample>("topic", [&](const Sample& sample) { received += is_whole(sample); });
  Child cramped("cramped_subscriber", {}, {{"SINEW_LOG", "warn"}});
  cramped.expect("ready");
  await_subscribers(*publisher, 2);
  publish_in_place(*publisher, 1, 1, 100'000);
  cramped.expect("small");
  publish_in_place(*publisher, 1, 2, 64 << 20);
  cramped.expect("ended");
  // It says so at last, where its connection counts no more.
  EXPECT_TRUE(eventually([&] { return cramped.errors().find("cannot be mapped") != std::string::npos; })) << cramped.errors();
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 3, 100'000);
  EXPECT_TRUE(eventually([&] { return received == 3; }));
  cramped.end();
}

// --- descriptors ---------------------------------------------------------------------------------------------------------------------------

/// Until it is gone, this process gets no descriptor, whatever its threads close in the meantime: all that it still may have are the three
/// that it was started with.
class NoDescriptors {
 public:
  NoDescriptors() {
    require(::getrlimit(RLIMIT_NOFILE, &before_) == 0, "no limit");
    const rlimit three{3, before_.rlim_max};
    require(::setrlimit(RLIMIT_NOFILE, &three) == 0, "no limit");
    const os::Fd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    require(!one && errno == EMFILE, "there is a descriptor left");
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit before_{};
};

ROLE(subscriber_without_descriptors) {
  auto node = Node::create("short_of_them");
  std::atomic<std::uint64_t> received{0}, missed{0}, last{0};
  std::atomic<bool> in_order{true};
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample& sample, const MessageInfo& info) {
    missed += info.missed;
    if (sample.number <= last || !is_whole(sample)) in_order = false;
    ++received;
    last = sample.number;  // at last: who sees it counts what was received
  });
  if (arguments.at(0) == "connected") {
    require(eventually([&] { return received == 1; }), "the first message does not come");
  }
  {
    const NoDescriptors none;
    say("short");
    next_order();
  }
  require(eventually([&] { return subscriber->statistics().publishers == 1; }), "the publisher does not come when there are descriptors");
  say("served");
  const std::uint64_t end = std::stoull(next_order());
  require(eventually([&] { return last == end; }), "the last message does not come");
  require(in_order, "messages come twice, out of order, or not whole");
  require(missed == subscriber->statistics().missed, "the messages tell of other losses than the statistics");
  say(std::to_string(received) + " " + std::to_string(missed));
  until_finished();
}

bool has_no_room(const Child& child) {
  return child.errors().find("no room for") != std::string::npos;
}

TEST_F(Limits, ASubscriberWithoutDescriptorsForAMomentMeetsThePublisherThatCameThen) {
  if (sanitized) GTEST_SKIP() << "the undefined behaviour sanitizer ends a program that has no descriptor left";
  auto node = Node::create("node");
  Child child("subscriber_without_descriptors", {"waiting"}, {{"SINEW_LOG", "warn"}});
  child.expect("short");
  auto publisher = node->create_publisher<Sample>("topic");
  EXPECT_TRUE(eventually([&] { return has_no_room(child); })) << child.errors();
  std::this_thread::sleep_for(std::chrono::seconds(2));  // in which it is introduced again, and says nothing
  const std::string errors = child.errors(), words = "topic 'topic': node 'short_of_them' is not connected with node 'node'";
  EXPECT_NE(errors.find(words), errors.npos) << errors;
  EXPECT_EQ(errors.find(words), errors.rfind(words)) << errors;
  child.order("go on");
  child.expect("served");
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, 1000);
  child.order("1");
  child.expect("1 0");
  child.end();
}

TEST_F(Limits, ASubscriberWithoutDescriptorsForAMomentLosesAChunkAndGoesOnWithEveryLossCounted) {
  if (sanitized) GTEST_SKIP() << "the undefined behaviour sanitizer ends a program that has no descriptor left";
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  std::atomic<std::uint64_t> others{0};
  auto other = node->create_subscriber<Sample>("topic", [&](const Sample&) { ++others; }, Qos{}.keep_last(100), as_from_elsewhere());
  Child child("subscriber_without_descriptors", {"connected"}, {{"SINEW_LOG", "warn"}});
  await_subscribers(*publisher, 2);
  publish_in_place(*publisher, 1, 1, 1000);
  child.expect("short");
  publish_in_place(*publisher, 1, 2, 20 << 20);
  EXPECT_TRUE(eventually([&] { return has_no_room(child); })) << child.errors();
  await_subscribers(*publisher, 1);
  for (std::uint64_t number = 3; number <= 40; ++number) publish_in_place(*publisher, 1, number, 1000);
  child.order("go on");
  child.expect("served");
  await_subscribers(*publisher, 2);
  publish_in_place(*publisher, 1, 41, 1000);
  child.order("41");
  child.expect("2 39");
  EXPECT_TRUE(eventually([&] { return others == 41; })) << "who stood beside it lost something";
  child.end();
}

ROLE(publisher_without_descriptors) {
  auto node = Node::create("short_of_them");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(100).transient_local());
  publish_in_place(*publisher, 1, 1, 1000);
  await_subscribers(*publisher, 1);
  say("served");
  next_order();
  {
    const NoDescriptors none;
    say("short");
    next_order();
  }
  until_finished();
}

TEST_F(Limits, APublisherWithoutDescriptorsForAMomentMeetsTheSubscriberThatCameThenAndKeepsItsWindow) {
  if (sanitized) GTEST_SKIP() << "the undefined behaviour sanitizer ends a program that has no descriptor left";
  {
    auto node = Node::create("node");
    auto before = node->create_subscriber<Sample>("topic", Qos{}.keep_last(100).transient_local());
    Child child("publisher_without_descriptors", {}, {{"SINEW_LOG", "warn"}});
    child.expect("served");
    ASSERT_TRUE(take_soon(*before));
    child.order("be short");
    child.expect("short");
    auto after = node->create_subscriber<Sample>("topic", Qos{}.keep_last(100).transient_local());
    EXPECT_TRUE(eventually([&] { return has_no_room(child); })) << child.errors();
    child.order("go on");
    const auto message = take_soon(*after);
    ASSERT_TRUE(message && is_whole(*message));
    EXPECT_EQ(before->take(), nullptr) << "who was served gets it again";
    EXPECT_EQ(before->statistics().publishers, 1U);
    child.end();
    EXPECT_TRUE(eventually([&] { return before->statistics().publishers == 0; }));
  }
  auto keeps_the_manager = Node::create("last");
  EXPECT_TRUE(eventually(all_windows_are_free)) << "one is held that nobody has";
}

// --- another layout ----------------------------------------------------------------------------------------------------------------------

ROLE(subscriber_in_place_only) {
  auto node = Node::create("viewer");
  SubscriberOptions options;
  options.delivery = Delivery::native;
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, options);
  say("ready");
  until_finished();
}

TEST_F(Limits, ASubscriberThatInsistsOnNativeSaysOnceWhoseMessagesItCannotHaveAndWhatToDo) {
  Child viewer("subscriber_in_place_only", {}, {{"SINEW_LOG", "warn"}});
  viewer.expect("ready");
  Stranger camera("camera");
  wire::TypeDescription type = Stranger::type<Sample>();
  ++type.layout;
  for (std::uint64_t id = 1; id <= 3; ++id) {
    camera.manager.send(wire::RegisterPublisher{id, "topic", type, {.depth = 8}});
    camera.manager.expect<wire::PublisherRegistered>();
    const auto met = camera.manager.expect<wire::ConnectPublisher>();
    Talk pair(std::move(camera.manager.descriptors.at(0)));
    camera.manager.send(wire::ConnectTaken{met.connection});
    pair.expect_end();
  }
  const std::string errors = viewer.errors(), words = "topic 'topic': messages of node 'camera' are not received: ";
  EXPECT_NE(errors.find(words), errors.npos) << errors;
  EXPECT_EQ(errors.find(words), errors.rfind(words)) << errors;
  EXPECT_NE(errors.find("let it ask for no delivery, or for Delivery::view"), errors.npos) << errors;
  viewer.end();
}

// --- other users ---------------------------------------------------------------------------------------------------------------------------

// A subscriber by hand that becomes another user between its introduction and its first word.
ROLE(turncoat_subscriber) {
  Stranger stranger("turncoat");
  HandSubscriber subscriber(stranger.meet_publisher<Sample>("topic"));
  become_stranger();
  require(!subscriber.attach(), "the publisher shares memory with another user");
}

ROLE(turncoat_publisher) {
  Stranger stranger("turncoat");
  HandPublisher publisher(stranger.meet_subscriber<Sample>("topic"), stranger.window);
  become_stranger();
  require(!publisher.take_attach(), "the subscriber shares memory with another user");
}

TEST_F(Limits, F8_a_peer_that_is_another_user_than_the_manager_said_is_left) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  {
    auto node = Node::create("node");
    auto publisher = node->create_publisher<Sample>("topic");
    Child("turncoat_subscriber").end();
    EXPECT_EQ(publisher->statistics().subscribers, 0U);
  }
  auto node = Node::create("node");
  auto subscriber = node->create_subscriber<Sample>("topic");
  Child("turncoat_publisher").end();
  EXPECT_EQ(subscriber->statistics().rejected + subscriber->statistics().received, 0U);
}

}  // namespace
}  // namespace sinew::system
