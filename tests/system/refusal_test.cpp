// What becomes of messages that are not published, and how long publish() waits before that.
#include <limits>
#include <thread>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Refusal : public Domain {};

ROLE(receiver) {
  auto node = Node::create("receiver");
  auto subscriber = node->create_subscriber<Sample>("topic");
  say("ready");
  require(take_soon(*subscriber)->number == 1, "what comes is no message that was published");
  say("received");
  until_finished();
}

TEST_F(Refusal, AMessageThatIsNotThereIsInvalid) {
  auto node = Node::create("node"), near = Node::create("near");
  auto publisher = node->create_publisher<Sample>("topic");
  auto subscriber = near->create_subscriber<Sample>("topic");
  const auto try_all = [&](std::uint64_t refused) {
    EXPECT_EQ(publisher->publish(std::unique_ptr<Sample>()), PublishResult::invalid);
    EXPECT_EQ(publisher->publish(std::shared_ptr<const Sample>()), PublishResult::invalid);
    auto loan = publisher->loan();
    const auto taken = std::move(loan);
    EXPECT_EQ(publisher->publish(std::move(loan)), PublishResult::invalid);  // NOLINT(bugprone-use-after-move): that is what is tried
    EXPECT_EQ(publisher->publish(Loan<Sample>()), PublishResult::invalid);
    EXPECT_EQ(publisher->statistics().refused, refused);
  };
  await_subscribers(*publisher, 1);
  try_all(4);
  Child far("receiver");
  far.expect("ready");
  await_subscribers(*publisher, 2);
  try_all(8);
  EXPECT_EQ(publish_in_place(*publisher, 1, 1, 1000), PublishResult::published);
  far.expect("received");
  EXPECT_EQ(take_soon(*subscriber)->number, 1U);
  far.end();
}

}  // namespace
}  // namespace sinew::system
