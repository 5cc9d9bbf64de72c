// Processes with too little of something, and processes of other users.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

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
