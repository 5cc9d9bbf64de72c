// Whatever system call of a node fails, once: the node works, or says clearly that it does not; it leaks nothing, and goes on afterwards.
#include <atomic>

#include "tests/system/faults.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

// Receives whatever comes, and tells how much on order.
ROLE(patient_subscriber) {
  std::atomic<std::uint64_t> last{0};
  auto node = Node::create("patient");
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample& sample) {
    require(is_whole(sample), "not whole");
    last = sample.number;
  });
  say("ready");
  until_finished();
}

ROLE(patient_publisher) {
  auto node = Node::create("patient");
  auto publisher = node->create_publisher<Sample>("topic");
  say("ready");
  std::uint64_t number = 0;
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    if (order == "await") {
      await_subscribers(*publisher, 1);
    } else if (order == "leave") {
      await_subscribers(*publisher, 0);
    } else {
      publish_in_place(*publisher, 1, ++number, std::stoul(order));
    }
    say("done");
  }
}

class Faults : public WithFaults {};

TEST_P(Faults, APublishingNodeWorksOrSaysThatItDoesNot) {
  auto keeper = Node::create("keeper");  // the manager stays
  Child subscriber("patient_subscriber");
  subscriber.expect("ready");
  walk([&](const auto& happened) {
    auto node = Node::create("node");
    auto publisher = node->create_publisher<Sample>("topic");
    // Where it happens while the pair comes together, the pair may be given up.
    EXPECT_TRUE(eventually([&] { return publisher->statistics().subscribers == 1 || happened(); }));
    std::uint64_t number = 0;
    for (const std::size_t size : {std::size_t{10}, std::size_t{3'000'000}, std::size_t{30'000'000}, std::size_t{10}}) {
      const PublishResult result =
          number % 2 == 0 ? publish_in_place(*publisher, 1, ++number, size) : publisher->publish(sample_of(1, ++number, size));
      EXPECT_TRUE(result == PublishResult::published || result == PublishResult::no_memory);
    }
    os::fault::disarm();
    EXPECT_EQ(publish_in_place(*publisher, 1, ++number, 5'000'000), PublishResult::published) << "afterwards everything works";
    os::fault::arm(GetParam(), happened() ? 1'000'000 : 1, likely_error(GetParam()));  // while it is destroyed
  });
  // The other side has seen a lot, and still serves whoever comes.
  auto publisher = keeper->create_publisher<Sample>("topic");
  await_subscribers(*publisher, 1);
  subscriber.end();
}

TEST_P(Faults, ASubscribingNodeWorksOrSaysThatItDoesNot) {
  auto keeper = Node::create("keeper");
  Child publisher("patient_publisher");
  publisher.expect("ready");
  std::uint64_t sent = 0;
  const auto publish = [&](const std::string& size) {
    publisher.order(size);
    publisher.expect("done");
    ++sent;
  };
  walk([&](const auto& happened) {
    std::atomic<std::uint64_t> last{0};
    auto node = Node::create("node");
    auto subscriber = node->create_subscriber<Sample>("topic", [&](std::shared_ptr<const Sample> sample) {
      require(is_whole(*sample), "not whole");
      last = sample->number;
    });
    EXPECT_TRUE(eventually([&] {
      publish("10");
      return last > 0 || happened();
    }));
    for (const char* size : {"3000000", "30000000"}) {
      publish(size);
      EXPECT_TRUE(eventually([&] { return last == sent || happened(); }));
    }
  });
  publisher.order("leave");
  publisher.expect("done");
  auto subscriber = keeper->create_subscriber<Sample>("topic");
  publisher.order("await");
  publisher.expect("done");
  publish("1000");
  EXPECT_TRUE(take_soon(*subscriber));
  publisher.order("end");
  publisher.end();
}

INSTANTIATE_TEST_SUITE_P(OfCall, Faults, ::testing::ValuesIn(every_call()),
                         [](const auto& call) { return std::to_string(static_cast<int>(call.param)); });

}  // namespace
}  // namespace sinew::system
