// Publishers that offer less than subscribers ask for.
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

class QosOffered : public Domain {};

const std::string why_apart =
    "topic 'image': the publisher of node 'camera' and the subscriber of node 'viewer' are not connected. "
    "reliability: the publisher offers best_effort, the subscriber asks for reliable. "
    "Make the publisher reliable(), or the subscriber best_effort().\n";

ROLE(best_effort_publisher) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("image");
  await_subscribers(*publisher, 1);
  require(eventually([&] { return publisher->statistics().incompatible == 2; }), "nobody tells of the others");
  publish_in_place(*publisher, 1, 1, 1000);
  say("published");
  until_finished();
}

ROLE(demanding_subscribers) {
  auto node = Node::create("viewer");
  auto content = node->create_subscriber<Sample>("image");
  auto demanding = node->create_subscriber<Sample>("image", Qos{}.reliable());
  auto lossless_one = node->create_subscriber<Sample>("image", lossless());
  require(take_soon(*content) != nullptr, "what fits does not come");
  for (const auto& each : {demanding, lossless_one}) {
    require(eventually([&] { return each->statistics().incompatible == 1; }), "nobody tells of the publisher");
    require(each->statistics().publishers == 0 && !each->take(), "connected nevertheless");
  }
  say("received");
  until_finished();
}

std::size_t times_said(const std::string& text, const std::string& sentence) {
  std::size_t times = 0;
  for (auto at = text.find(sentence); at != text.npos; at = text.find(sentence, at + 1)) ++times;
  return times;
}

TEST_F(QosOffered, AReliableSubscriberIsNotConnectedToABestEffortPublisherAndBothSidesSayWhyAndWhatToDo) {
  Child subscribers("demanding_subscribers"), publisher("best_effort_publisher");  // also where nobody asks for a log
  publisher.expect("published");
  subscribers.expect("received");
  EXPECT_EQ(times_said(publisher.errors(), why_apart), 1U) << "once for both: " << publisher.errors();
  EXPECT_EQ(times_said(subscribers.errors(), why_apart), 2U) << "once for each: " << subscribers.errors();
  publisher.end();
  subscribers.end();
}

/// Of each policy two values of which the first offers less than the second asks for, and how that is said.
struct Policy {
  Qos less, more;
  std::string said;
};
std::vector<Policy> policies() {
  return {
      {Qos{}.best_effort(), Qos{}.reliable(), "reliability: the publisher offers best_effort, the subscriber asks for reliable. "},
      {Qos{}.volatile_(), Qos{}.transient_local(), "durability: the publisher offers volatile, the subscriber asks for transient_local. "},
      {Qos{}, Qos{}.deadline(1500us), "deadline: the publisher offers none, the subscriber asks for 1.5 ms. "},
      {Qos{}.liveliness(Liveliness::automatic, 1s), Qos{}.liveliness(Liveliness::manual_by_topic, 1s),
       "liveliness: the publisher offers automatic with a lease of 1 s, the subscriber asks for manual_by_topic with a lease of 1 s. "},
      {Qos{}.liveliness(Liveliness::automatic, 2s), Qos{}.liveliness(Liveliness::automatic, 1s),
       "liveliness: the publisher offers automatic with a lease of 2 s, the subscriber asks for automatic with a lease of 1 s. "}};
}

ROLE(pairs_of_every_policy) {
  auto node = Node::create("node");
  const auto both_count = [&](const Qos& offered, const Qos& asked) {
    auto publisher = node->create_publisher<Sample>("image", offered);
    auto subscriber = node->create_subscriber<Sample>("image", asked);
    require(eventually([&] {
              const auto there = publisher->statistics();
              const auto here = subscriber->statistics();
              return there.subscribers + there.incompatible == 1 && here.publishers + here.incompatible == 1;
            }),
            "a pair neither connects nor is told why not");
    require(publisher->statistics().incompatible == subscriber->statistics().incompatible, "the sides do not agree");
    return publisher->statistics().incompatible == 1;
  };
  for (const Policy& policy : policies()) {
    require(both_count(policy.less, policy.more), "connected: " + policy.said);
    require(!both_count(policy.more, policy.less), "more than is asked for is not enough: " + policy.said);
    require(!both_count(policy.more, policy.more), "what is asked for is not enough: " + policy.said);
  }
  require(!both_count(Qos{}.keep_last(1).lifespan(1s), Qos{}.keep_all()), "history and lifespan keep a pair apart");
}

TEST_F(QosOffered, EveryPolicyOfQosKeepsApartWhereLessIsOfferedThanAskedForAndIsNamed) {
  Child child("pairs_of_every_policy", {}, {{"SINEW_LOG", "warn"}});
  child.end();
  for (const Policy& policy : policies()) EXPECT_EQ(times_said(child.errors(), policy.said), 2U) << policy.said << child.errors();
}

}  // namespace
}  // namespace sinew::system
