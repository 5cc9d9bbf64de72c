// In C: a domain as it is told, and what is counted in it.
#include <atomic>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string>
#include <utility>

#include "bindings/c/sinew.h"
#include "bindings/c/tests/in_c.hpp"
#include "tests/system/harness.hpp"

namespace sinew::system {
namespace {

using DomainInC = NumbersInC;

/// What a watch is told; released once.
struct Told {
  std::atomic<int> released{0};
  std::atomic<bool> has_number{false};

  static Told& of(void* context) { return *static_cast<Told*>(context); }
  static void release(void* context) { ++of(context).released; }
  static void on_update(void* context, const sinew_domain_update* update) {
    for (std::size_t i = 0; i < sinew_domain_update_topic_count(update); ++i) {
      if (sinew_domain_update_topic(update, i).name == std::string("number")) of(context).has_number = true;
    }
  }
};

TEST_F(DomainInC, TheDomainIsToldAsItIsAndAsItChanges) {
  Told told;
  auto options = sized<sinew_domain_watch_options>();
  options.on_update = Told::on_update;
  options.context = &told;
  options.release = Told::release;
  sinew_domain_watch* watch = nullptr;
  ASSERT_EQ(sinew_domain_watch_create(node, &options, &watch), SINEW_OK) << sinew_last_error();
  sinew_publisher* const publisher = publisher_of("number");
  sinew_subscriber* const subscriber = subscriber_of("number");
  ASSERT_TRUE(is_matched(publisher));
  EXPECT_TRUE(eventually([&] { return told.has_number.load(); }));
  sinew_domain_update* all = nullptr;
  const auto is_connected = [&] {
    sinew_domain_release(std::exchange(all, nullptr));
    require(sinew_domain_get(node, &all) == SINEW_OK, sinew_last_error());
    return sinew_domain_update_pair_count(all) == 1 && sinew_domain_update_pair(all, 0).connected;
  };
  ASSERT_TRUE(eventually(is_connected));
  EXPECT_TRUE(sinew_domain_update_is_anew(all) && sinew_domain_update_is_complete(all));
  ASSERT_EQ(sinew_domain_update_node_count(all), 1U);
  EXPECT_STREQ(sinew_domain_update_node(all, 0).name, "node");
  ASSERT_EQ(sinew_domain_update_topic_count(all), 1U);
  EXPECT_STREQ(sinew_domain_update_topic(all, 0).signature, number_type);
  EXPECT_STREQ(sinew_domain_update_topic(all, 0).type, "test/Number");
  ASSERT_EQ(sinew_domain_update_endpoint_count(all), 2U);
  EXPECT_TRUE(sinew_domain_update_endpoint(all, 0).publishes);
  EXPECT_EQ(sinew_domain_update_endpoint(all, 1).node, sinew_domain_update_node(all, 0).id);
  EXPECT_EQ(sinew_domain_update_endpoint(all, 1).depth, 8U);
  EXPECT_EQ(sinew_domain_update_pair(all, 0).delivery, SINEW_DELIVERY_VIEW);
  EXPECT_EQ(sinew_domain_update_gone_count(all), 0U);
  sinew_domain_release(all);
  sinew_domain_watch_destroy(watch);
  EXPECT_TRUE(eventually([&] { return told.released == 1; }));
  sinew_publisher_destroy(publisher);
  sinew_subscriber_destroy(subscriber);
}

TEST_F(DomainInC, WhatIsCountedIsReadWithoutASubscription) {
  sinew_publisher* const publisher = publisher_of("number");
  sinew_subscriber* const subscriber = subscriber_of("number");
  ASSERT_TRUE(is_matched(publisher));
  sinew_domain_counters* counters = nullptr;
  ASSERT_EQ(sinew_domain_counters_create(node, &counters), SINEW_OK) << sinew_last_error();
  ASSERT_EQ(publish(publisher, stream_of(42)), SINEW_OK);
  sinew_frame* frame = nullptr;
  ASSERT_EQ(sinew_subscriber_take(subscriber, -1, &frame), SINEW_OK);
  sinew_domain_counts* counts = nullptr;
  const auto is_counted = [&] {
    sinew_domain_counts_release(std::exchange(counts, nullptr));
    require(sinew_domain_counters_read(counters, &counts) == SINEW_OK, sinew_last_error());
    return sinew_domain_counts_publisher_count(counts) == 1 && sinew_domain_counts_pair_count(counts) == 1;
  };
  ASSERT_TRUE(eventually(is_counted));
  const sinew_publisher_counts published = sinew_domain_counts_publisher(counts, 0);
  const sinew_pair_counts pair = sinew_domain_counts_pair(counts, 0);
  EXPECT_EQ(published.messages, 1U);
  EXPECT_GT(published.newest_ns, 0);
  EXPECT_EQ(pair.publisher, published.publisher);
  EXPECT_NE(published.identity, 0U);
  EXPECT_EQ(pair.publisher_identity, published.identity);
  EXPECT_NE(pair.subscriber_identity, 0U);
  EXPECT_NE(pair.subscriber_identity, published.identity);
  EXPECT_EQ(pair.messages, 1U);
  EXPECT_EQ(pair.held, 1U);
  EXPECT_EQ(std::accumulate(std::begin(pair.latency), std::end(pair.latency), 0U), 1U);
  sinew_domain_counts_release(counts);
  sinew_frame_release(frame);
  sinew_domain_counters_destroy(counters);
  sinew_publisher_destroy(publisher);
  sinew_subscriber_destroy(subscriber);
}

}  // namespace
}  // namespace sinew::system
