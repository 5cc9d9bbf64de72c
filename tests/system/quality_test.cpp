// Publishers that offer less than subscribers ask for.
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Quality : public Domain {};

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

TEST_F(Quality, AReliableSubscriberIsNotConnectedToABestEffortPublisherAndBothSidesSayWhyAndWhatToDo) {
  Child subscribers("demanding_subscribers", {}, {{"SINEW_LOG", "warn"}});
  Child publisher("best_effort_publisher", {}, {{"SINEW_LOG", "warn"}});
  publisher.expect("published");
  subscribers.expect("received");
  EXPECT_EQ(times_said(publisher.errors(), why_apart), 1U) << "once for both: " << publisher.errors();
  EXPECT_EQ(times_said(subscribers.errors(), why_apart), 2U) << "once for each: " << subscribers.errors();
  publisher.end();
  subscribers.end();
}

}  // namespace
}  // namespace sinew::system
