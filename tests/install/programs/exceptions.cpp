// Lets an exception leave a callback of the kind that its argument names, and so is to end with a word of it. Exits with 0 when it lives on.
#include <chrono>
#include <cstdint>
#include <memory>
#include <sinew/message_filters.hpp>
#include <sinew/rclcpp.hpp>
#include <sinew/sinew.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

using namespace std::chrono_literals;
namespace ros = sinew::rclcpp;

namespace exceptions {

struct Word {
  std::int32_t number = 0;
};
struct Echo {
  using Request = Word;
  using Response = Word;
};

[[noreturn]] void fail() {
  throw std::runtime_error("no such calibration");
}

void wait_in_vain() {
  std::this_thread::sleep_for(60s);
}

void in_a_callback(const std::string& kind) {
  const auto node = sinew::Node::create("exceptions");
  const auto publisher = node->create_publisher<Word>("word");
  if (kind == "timer") {
    const auto timer = node->create_timer(1ms, [] { fail(); });
    wait_in_vain();
  } else if (kind == "dispatch") {
    const auto own = sinew::Node::create("own", {.executor = sinew::Executor::create({.by_caller = true})});
    const auto timer = own->create_timer(1ms, [] { fail(); });
    own->spin();
  } else if (kind == "subscriber") {
    const auto subscriber = node->create_subscriber<Word>("word", [](const Word&) { fail(); });
    publisher->publish(Word{});
    wait_in_vain();
  } else if (kind == "shared") {
    const auto subscriber = node->create_subscriber<Word>("word", [](std::shared_ptr<const Word>) { fail(); });
    publisher->publish(Word{});
    wait_in_vain();
  } else if (kind == "event") {
    sinew::SubscriberOptions options;
    options.events.matched = [](const sinew::MatchedEvent&) { fail(); };
    const auto subscriber = node->create_subscriber<Word>("word", [](const Word&) {}, {}, options);
    wait_in_vain();
  } else if (kind == "watch") {
    const auto watch = node->watch_domain([](const sinew::DomainUpdate&) { fail(); });
    wait_in_vain();
  } else if (kind == "call") {
    const auto provider = node->create_service_provider<Word, Word>("echo", [](const Word& word) { return word; });
    const auto client = node->create_service_client<Word, Word>("echo");
    client->call(Word{}, [](std::shared_ptr<const Word>, const sinew::ServiceError*) { fail(); });
    wait_in_vain();
  } else if (kind == "call_at_the_end") {
    auto client = node->create_service_client<Word, Word>("nobody");
    client->call(Word{}, [](std::shared_ptr<const Word>, const sinew::ServiceError*) { fail(); });
    client.reset();
  } else if (kind == "feedback" || kind == "result") {
    const auto server = node->create_action_server<Word, Word, Word>("act", [](sinew::ServerGoal<Word, Word>& goal) {
      goal.feedback(Word{});
      return Word{};
    });
    const auto client = node->create_action_client<Word, Word, Word>("act");
    using Outcome = std::remove_reference_t<decltype(*client)>::Outcome;
    const auto handle = client->send_goal(
        Word{}, [&](const Word&) { kind == "feedback" ? fail() : void(); },
        [&](const Outcome&, const sinew::ServiceError*) { kind == "result" ? fail() : void(); });
    wait_in_vain();
  } else if (kind == "filter") {
    sinew::message_filters::Subscriber<Word> filter(node, "word");
    filter.registerCallback([](const std::shared_ptr<const Word>&) { fail(); });
    publisher->publish(Word{});
    wait_in_vain();
  }
}

void in_a_callback_of_ros(const std::string& kind) {
  const auto node = std::make_shared<ros::Node>("exceptions");
  ros::TimerBase::SharedPtr timer;
  ros::Subscription<Word>::SharedPtr subscription;
  const auto publisher = node->create_publisher<Word>("word", 10);
  const auto service = node->create_service<Echo>("echo", [](std::shared_ptr<Word>, std::shared_ptr<Word>) {});
  const auto client = node->create_client<Echo>("echo");
  if (kind == "ros_timer") timer = node->create_wall_timer(1ms, [] { fail(); });
  if (kind == "ros_subscription") subscription = node->create_subscription<Word>("word", 10, [](const Word&) { fail(); });
  if (kind == "ros_answer") client->async_send_request(std::make_shared<Word>(), [](ros::Client<Echo>::SharedFuture) { fail(); });
  publisher->publish(Word{});
  ros::spin(node);
}

}  // namespace exceptions

int main(int argc, char** argv) {
  const std::string kind = argv[1];
  if (!kind.starts_with("ros_")) {
    exceptions::in_a_callback(kind);
  } else {
    ros::init(argc, argv);
    exceptions::in_a_callback_of_ros(kind);
  }
}
