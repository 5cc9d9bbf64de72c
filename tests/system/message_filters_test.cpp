// Messages of several topics that belong together, between processes.
#include "sinew/message_filters.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <thread>

#include "tests/system/rclcpp.hpp"

namespace message_filters = sinew::message_filters;

namespace sinew::system {
namespace {

using namespace std::chrono_literals;
using Pair = message_filters::sync_policies::ApproximateTime<Image, Image>;

Image image_at(std::int64_t nanoseconds) {
  Image image;
  image.header.stamp = rclcpp::Time(nanoseconds);
  image.data.assign(100'000, static_cast<std::uint8_t>(nanoseconds));
  return image;
}

/// Two cameras, the right one 3 ns later than the left one, which come again every 100 ns.
ROLE(cameras) {
  const auto node = Node::create("cameras");
  const auto left = node->create_publisher<Image>("left", Qos{}.reliable()),
             right = node->create_publisher<Image>("right", Qos{}.reliable());
  require(eventually([&] { return left->statistics().subscribers == 1 && right->statistics().subscribers == 1; }), "nobody subscribes");
  for (int i = 1; i <= 20; ++i) {
    left->publish(image_at(i * 100));
    right->publish(image_at(i * 100 + 3));
    next_order();
  }
  until_finished();
}

/// Forks while a callback of a synchronizer runs; the child destroys what it has inherited.
ROLE(forks_beside_a_set) {
  const auto node = Node::create("node");
  auto sync = std::make_unique<message_filters::TimeSynchronizer<Image, Image>>(10);
  std::atomic<bool> is_inside{false}, is_to_end{false};
  sync->registerCallback([&](const std::shared_ptr<const Image>&, const std::shared_ptr<const Image>&) {
    is_inside = true;
    require(eventually([&] { return is_to_end.load(); }), "the child does not end");
  });
  std::thread feeding([&] {
    sync->add<0>(std::make_shared<const Image>(image_at(100)));
    sync->add<1>(std::make_shared<const Image>(image_at(100)));
  });
  require(eventually([&] { return is_inside.load(); }), "there is no set");
  const pid_t child = ::fork();
  if (child == 0) {
    sync.reset();
    ::_exit(0);
  }
  int status = 0;
  const bool has_ended = eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; });
  if (!has_ended) ::kill(child, SIGKILL);
  is_to_end = true;
  feeding.join();
  require(has_ended && status == 0, "the child did not end well");
}

class MessageFilters : public Rclcpp {};

TEST_F(MessageFilters, AForkedChildMayDestroyASynchronizerWhoseCallbackRan) {
  Child("forks_beside_a_set").end();
}

void expect_pair(const Image& left, const Image& right, int number) {
  EXPECT_EQ(rclcpp::Time(left.header.stamp).nanoseconds(), number * 100);
  EXPECT_EQ(rclcpp::Time(right.header.stamp).nanoseconds(), number * 100 + 3);
  EXPECT_EQ(right.data.at(99'999), static_cast<std::uint8_t>(number * 100 + 3));
}

TEST_F(MessageFilters, ImagesOfTwoCamerasMeetWhereTheyLieAndAreLetGo) {
  std::atomic<int> pairs{0};
  const auto node = Node::create("node");
  message_filters::Subscriber<Image> left(node, "left", Qos{}.keep_last(10)), right(node, "right");
  message_filters::Synchronizer<Pair> sync(Pair(10), left, right);
  sync.setInterMessageLowerBound(0, 50ns);
  sync.setInterMessageLowerBound(1, 50ns);
  sync.registerCallback(
      [&](const std::shared_ptr<const Image>& a, const std::shared_ptr<const Image>& b) { expect_pair(*a, *b, ++pairs); });
  Child cameras("cameras");
  for (int i = 1; i <= 20; ++i) {
    EXPECT_TRUE(eventually([&] { return pairs == i; })) << i;
    cameras.order("next");
  }
  EXPECT_EQ(sync.held(), 0U);
  cameras.end();
}

TEST_F(MessageFilters, ASubscriberIsSubscribedAndUnsubscribedByAnyThread) {
  const auto node = Node::create("node");
  message_filters::Subscriber<Image> images;
  const auto change = [&](const std::string& topic) {
    for (int i = 0; i < rounds(100); ++i) {
      images.subscribe(node, topic);
      EXPECT_TRUE(images.getTopic().ends_with("_side_of_the_robot/images"));
      images.unsubscribe();
    }
  };
  std::thread left([&] { change("left_side_of_the_robot/images"); }), right([&] { change("right_side_of_the_robot/images"); });
  left.join();
  right.join();
}

TEST_F(MessageFilters, WhatIsDisconnectedIsCalledNoMore) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  message_filters::Subscriber<Image> left(node, "left"), right(node, "right"), other(node, "other");
  std::vector<rclcpp::Publisher<Image>::SharedPtr> publishers;
  for (const auto* const topic : {"left", "right", "other"}) {
    publishers.push_back(node->create_publisher<Image>(topic, 10));
    await_subscriptions(publishers.back(), 1);
  }
  int pairs = 0, called = 0, last = 0;
  message_filters::TimeSynchronizer<Image, Image> sync(left, right, 10);
  sync.connectInput(left, other);
  sync.registerCallback([&](const Image&, const Image&) { ++pairs; });
  auto connection = left.registerCallback([&](const std::shared_ptr<const Image>&) { ++called; });
  other.registerCallback([&](const std::shared_ptr<const Image>&) { ++last; });
  const auto publish = [&](int number) {
    for (const auto& publisher : publishers) publisher->publish(image_at(number));
    EXPECT_TRUE(spin_until(node, [&] { return last == number; }));
    rclcpp::spin_some(node);
  };
  publish(1);
  EXPECT_EQ(pairs, 1);
  EXPECT_EQ(called, 1);
  connection.disconnect();
  connection.disconnect();
  publish(2);
  EXPECT_EQ(pairs, 2);
  EXPECT_EQ(called, 1);
}

TEST_F(MessageFilters, WhatIsEndedByACallbackIsCalledNoMoreAlsoWithThatMessage) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto publisher = node->create_publisher<Image>("topic", 10);
  using Source = message_filters::Subscriber<Image>;
  auto source = std::make_unique<Source>(node, "topic");
  int first = 0, later = 0;
  message_filters::Connection connection;
  const auto count_first = [&](const std::function<void()>& end) {
    return source->registerCallback([&first, end](const std::shared_ptr<const Image>&) {
      ++first;
      end();
    });
  };
  const auto expect_first_alone = [&] {
    connection = source->registerCallback([&](const std::shared_ptr<const Image>&) { ++later; });
    await_subscriptions(publisher, 1);
    publisher->publish(image_at(1));
    const int before = first;
    EXPECT_TRUE(spin_until(node, [&] { return first > before; }));
    EXPECT_EQ(later, 0);
  };
  auto ending = count_first([&] { connection.disconnect(); });
  expect_first_alone();
  ending.disconnect();
  ending = count_first([&] { source->unsubscribe(); });
  expect_first_alone();
  ending.disconnect();
  source = std::make_unique<Source>(node, "topic");
  count_first([&] { source.reset(); });
  expect_first_alone();
}

TEST_F(MessageFilters, AFilterThatIsWrittenForRclcppRunsInSpin) {
  class Stereo : public rclcpp::Node {
   public:
    Stereo() : Node("stereo"), sync_(Pair(10), left_, right_) {
      left_.subscribe(this, "left", rclcpp::SensorDataQoS());
      right_.subscribe(this, "right");
      sync_.setMaxIntervalDuration(rclcpp::Duration(0, 10));
      sync_.registerCallback(std::bind(&Stereo::both, this, std::placeholders::_1, std::placeholders::_2));
    }
    int pairs = 0;

   private:
    void both(const std::shared_ptr<const Image>& left, const std::shared_ptr<const Image>& right) {
      EXPECT_EQ(thread_, std::this_thread::get_id());
      expect_pair(*left, *right, ++pairs);
    }
    const std::thread::id thread_ = std::this_thread::get_id();
    message_filters::Subscriber<Image> left_, right_;
    message_filters::Synchronizer<Pair> sync_;
  };
  const auto stereo = std::make_shared<Stereo>();
  Child cameras("cameras");
  // The last pair may wait for better ones for ever.
  for (int i = 1; i <= 19; ++i) {
    cameras.order("next");
    EXPECT_TRUE(spin_until(stereo, [&] { return stereo->pairs >= i; })) << i;
  }
  cameras.order("next");
  cameras.end();
}

}  // namespace
}  // namespace sinew::system
