#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sinew/message_filters/synchronizer.hpp"

namespace robot {
struct Stamp {
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
};
struct Image {
  struct {
    Stamp stamp;
  } header;
};
struct Scan {
  struct {
    std::uint64_t stamp_ns = 0;
  } header;
};
struct Odometry {
  double at = 0;  // seconds
};
std::int64_t stamp_of(const Odometry& odometry) {
  return static_cast<std::int64_t>(odometry.at * 1e9);
}
}  // namespace robot

namespace sinew::message_filters {
namespace {

using robot::Image;
using robot::Odometry;
using robot::Scan;
using sync_policies::ApproximateTime;
using sync_policies::ExactTime;

auto image(std::int32_t sec, std::uint32_t nanosec) {
  auto made = std::make_shared<Image>();
  made->header.stamp = {sec, nanosec};
  return made;
}
auto scan(std::uint64_t stamp_ns) {
  auto made = std::make_shared<Scan>();
  made->header.stamp_ns = stamp_ns;
  return made;
}

TEST(Synchronizer, stamps_are_seconds_and_nanoseconds_or_nanoseconds_or_what_the_user_says) {
  Synchronizer<ExactTime<Image, Scan, Odometry>> sync(ExactTime<Image, Scan, Odometry>(10));
  int calls = 0;
  sync.registerCallback(
      [&](const std::shared_ptr<const Image>& a, const std::shared_ptr<const Scan>& b, const std::shared_ptr<const Odometry>& c) {
        ++calls;
        EXPECT_EQ(a->header.stamp.nanosec, 500'000'000U);
        EXPECT_EQ(b->header.stamp_ns, 1'500'000'000U);
        EXPECT_EQ(c->at, 1.5);
      });
  sync.add<0>(image(1, 500'000'000));
  sync.add<1>(scan(1'500'000'000));
  sync.add<2>(std::make_shared<Odometry>(Odometry{1.5}));
  EXPECT_EQ(calls, 1);
}

TEST(Synchronizer, callbacks_take_pointers_or_references_and_may_be_members) {
  struct Filter {
    void shared(const std::shared_ptr<const Scan>& a, const std::shared_ptr<const Scan>&) { calls += a ? 1 : 100; }
    void plain(const Scan&, const Scan&) { ++calls; }
    int calls = 0;
  } filter;
  TimeSynchronizer<Scan, Scan> sync(10);
  using std::placeholders::_1;
  using std::placeholders::_2;
  sync.registerCallback(&Filter::shared, &filter);
  sync.registerCallback(std::bind(&Filter::shared, &filter, _1, _2));
  sync.registerCallback(std::bind(&Filter::plain, &filter, _1, _2));
  sync.registerCallback([&](const Scan&, const Scan&) { ++filter.calls; });
  sync.add<0>(scan(1));
  sync.add<1>(scan(1));
  EXPECT_EQ(filter.calls, 4);
}

TEST(Synchronizer, without_a_size_of_its_queue_all_that_is_exact_is_kept_as_in_ros) {
  TimeSynchronizer<Scan, Scan> sync(0);
  int sets = 0;
  sync.registerCallback([&](const Scan&, const Scan&) { ++sets; });
  for (std::uint64_t time = 1; time <= 20; ++time) sync.add<1>(scan(time));
  EXPECT_EQ(sync.held(), 20U);
  sync.add<0>(scan(1));
  sync.add<0>(scan(20));
  EXPECT_EQ(sets, 2);
}

TEST(Synchronizer, what_waits_is_held_and_let_go_when_it_was_given_out) {
  Synchronizer<ApproximateTime<Scan, Scan>> sync(ApproximateTime<Scan, Scan>(10));
  std::weak_ptr<const Scan> waiting;
  {
    const auto first = scan(0);
    waiting = first;
    sync.add<0>(first);
  }
  EXPECT_FALSE(waiting.expired());
  EXPECT_EQ(sync.held(), 1U);
  sync.add<1>(scan(1));
  sync.add<0>(scan(10));
  EXPECT_TRUE(waiting.expired());
  EXPECT_EQ(sync.held(), 1U);
}

TEST(Synchronizer, settings_of_the_policy_are_those_of_the_synchronizer_as_well) {
  Synchronizer<ApproximateTime<Scan, Scan>> sync(ApproximateTime<Scan, Scan>(10));
  sync.setAgePenalty(0);
  sync.setMaxIntervalDuration(std::chrono::nanoseconds(5));
  sync.setInterMessageLowerBound(0, std::chrono::nanoseconds(20));
  std::vector<std::uint64_t> firsts;
  sync.registerCallback([&](const Scan& a, const Scan&) { firsts.push_back(a.header.stamp_ns); });
  sync.add<0>(scan(0));
  sync.add<1>(scan(10));  // too far
  EXPECT_EQ(sync.held(), 1U);
  sync.add<0>(scan(12));
  EXPECT_EQ(firsts, std::vector<std::uint64_t>());
  sync.add<1>(scan(14));  // 12 is the pivot, and 10 as far as 14
  EXPECT_EQ(firsts, std::vector<std::uint64_t>({12}));
}

TEST(Synchronizer, a_callback_may_ask_change_and_add_to_it) {
  Synchronizer<ApproximateTime<Scan, Scan>> sync(ApproximateTime<Scan, Scan>(10));
  std::vector<std::size_t> held;
  int late = 0;
  sync.registerCallback([&](const Scan&, const Scan&) {
    held.push_back(sync.held());
    sync.setMaxIntervalDuration(std::chrono::nanoseconds(5));
    held.push_back(sync.held());
    if (held.size() == 2) sync.registerCallback([&](const Scan&, const Scan&) { ++late; });
  });
  const auto add_set = [&](std::uint64_t stamp) {
    sync.add<0>(scan(stamp));
    sync.add<1>(scan(stamp + 1));
    sync.add<0>(scan(stamp + 10));  // which is not nearer
  };
  add_set(0);
  EXPECT_EQ(held, std::vector<std::size_t>({1, 0}));
  EXPECT_EQ(sync.held(), 0U);
  EXPECT_EQ(late, 0);
  add_set(20);
  EXPECT_EQ(held, std::vector<std::size_t>({1, 0, 1, 0}));
  EXPECT_EQ(late, 1);
}

TEST(Synchronizer, two_to_nine_topics_are_synchronized) {
  using Nine = ApproximateTime<Scan, Image, Scan, Image, Scan, Image, Scan, Image, Scan>;
  Synchronizer<Nine> sync(Nine(2));
  int calls = 0;
  sync.registerCallback([&](const auto&... each) { calls += sizeof...(each) == 9 ? 1 : 100; });
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    const auto add = [&]<std::size_t topic>(std::integral_constant<std::size_t, topic>) {
      if constexpr (topic % 2 == 0) {
        sync.add<topic>(scan(1'000'000'007));
      } else {
        sync.add<topic>(image(1, 7));
      }
    };
    (add(std::integral_constant<std::size_t, i>()), ...);
  }(std::make_index_sequence<9>());
  EXPECT_EQ(calls, 1);
}

/// Knows no disconnecting.
struct Feed {
  std::vector<std::function<void(const std::shared_ptr<const Scan>&)>> callbacks;
  void registerCallback(std::function<void(const std::shared_ptr<const Scan>&)> callback) { callbacks.push_back(std::move(callback)); }
};
/// Has one callback.
struct Source {
  struct Registered {
    Source* source;
    void disconnect() { source->callback = nullptr; }
  };
  Registered registerCallback(std::function<void(const std::shared_ptr<const Scan>&)> its) {
    callback = std::move(its);
    return {this};
  }
  std::function<void(const std::shared_ptr<const Scan>&)> callback;
};

TEST(Synchronizer, it_is_connected_in_place_of_what_it_was_connected_to_before_and_not_at_all_when_it_is_gone) {
  Source before[2], left, right;
  {
    TimeSynchronizer<Scan, Scan> sync(before[0], before[1], 10);
    sync.connectInput(left, right);
    EXPECT_FALSE(before[0].callback || before[1].callback);
    int calls = 0;
    sync.registerCallback([&](const Scan&, const Scan&) { ++calls; });
    left.callback(scan(1));
    right.callback(scan(1));
    EXPECT_EQ(calls, 1);
  }
  EXPECT_FALSE(left.callback || right.callback);
}

TEST(Synchronizer, what_it_lets_go_of_may_wait_for_who_feeds_it) {
  Feed left, right;
  int feeding = 0;
  const auto feed = [&](const void*) {
    ++feeding;
    std::thread([&] { left.callbacks.at(0)(scan(1)); }).join();
  };
  auto sync = std::make_unique<Synchronizer<ApproximateTime<Scan, Scan>>>(ApproximateTime<Scan, Scan>(10), left, right);
  sync->registerCallback([kept = std::shared_ptr<const Scan>(new Scan, [&](const Scan* scan) {
                            feed(scan);
                            delete scan;
                          })](const Scan&, const Scan&) {});
  const auto waiting = [&] {
    return std::shared_ptr<const Scan>(new Scan, [&](const Scan* scan) {
      feed(scan);
      delete scan;
    });
  };
  sync->add<0>(waiting());
  sync->setAgePenalty(0);
  EXPECT_EQ(feeding, 1);
  sync->add<0>(waiting());
  sync.reset();
  EXPECT_EQ(feeding, 3);
}

TEST(Synchronizer, messages_that_come_when_it_is_gone_go_nowhere) {
  Feed left, right;
  auto sync = std::make_unique<TimeSynchronizer<Scan, Scan>>(left, right, 10);
  int calls = 0;
  sync->registerCallback([&](const Scan&, const Scan&) { ++calls; });
  left.callbacks.at(0)(scan(1));
  right.callbacks.at(0)(scan(1));
  EXPECT_EQ(calls, 1);
  sync.reset();
  left.callbacks.at(0)(scan(2));
  right.callbacks.at(0)(scan(2));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace sinew::message_filters
